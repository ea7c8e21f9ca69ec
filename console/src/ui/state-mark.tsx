/** A state has a shape, a word and a colour; the colour never stands alone. */
import { words } from '../words/words.ts'
import { classes } from './classes.ts'

export type Mark = 'good' | 'warn' | 'bad' | 'odd' | 'off' | 'wait'

/** The text colour that goes with a mark. Good is quiet. */
export const MARK_TEXT: Record<Mark, string> = {
  good: 'text-ink',
  warn: 'text-warn',
  bad: 'text-bad',
  odd: 'text-odd',
  off: 'text-ink-2',
  wait: 'text-accent',
}

const FILL: Record<Mark, string> = {
  good: 'text-good-fill',
  warn: 'text-warn-fill',
  bad: 'text-bad-fill',
  odd: 'text-odd-fill',
  off: 'text-line-strong',
  wait: 'text-accent',
}

interface StateMarkProps {
  readonly mark: Mark
  /** What it means here; the usual word of the mark unless given. Empty: the word stands beside it. */
  readonly word?: string
  /** 12 in tables, 9 in rows of shapes. */
  readonly size?: number
  readonly className?: string
}

export function StateMark({ mark, word = words.ui.states[mark], size = 12, className }: StateMarkProps) {
  const named = word === '' ? { 'aria-hidden': true } : { role: 'img', 'aria-label': word }
  return (
    <svg
      {...named}
      width={size}
      height={size}
      viewBox="0 0 12 12"
      className={classes('inline-block shrink-0', FILL[mark], mark === 'wait' && 'turning', className)}
    >
      {MARK_SHAPES[mark]}
    </svg>
  )
}

/** In a box of 12 by 12, in the current colour. */
const MARK_SHAPES: Record<Mark, React.ReactNode> = {
  good: <circle cx="6" cy="6" r="4.6" fill="currentColor" />,
  warn: <path d="M6 1.2 11.2 10.8H.8Z" fill="currentColor" />,
  bad: (
    <>
      <rect x="0.9" y="0.9" width="10.2" height="10.2" rx="1.8" fill="currentColor" />
      <path d="M4 4 8 8M8 4 4 8" stroke="var(--surface)" strokeWidth="1.5" strokeLinecap="round" />
    </>
  ),
  odd: <path d="M6 .4 11.6 6 6 11.6 .4 6Z" fill="currentColor" />,
  off: <circle cx="6" cy="6" r="4.1" fill="none" stroke="currentColor" strokeWidth="1.4" />,
  wait: (
    <circle
      cx="6"
      cy="6"
      r="4.4"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.6"
      strokeDasharray="2.3 2.3"
    />
  ),
}

interface StateProps {
  readonly mark: Mark
  readonly children: React.ReactNode
  readonly className?: string
}

/** A mark with its word beside it. */
export function State({ mark, children, className }: StateProps) {
  return (
    <span className={classes('inline-flex items-center gap-1.5', MARK_TEXT[mark], className)}>
      <StateMark mark={mark} word="" />
      {children}
    </span>
  )
}
