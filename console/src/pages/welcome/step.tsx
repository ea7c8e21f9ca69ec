/** One of the first steps: done, open, or waiting. */
import { Check, ChevronDown } from 'lucide-react'
import type { ReactNode } from 'react'
import { classes } from '../../ui/classes.ts'

type StepState = 'done' | 'open' | 'waiting'

interface StepProps {
  readonly number: number
  readonly state: StepState
  /** It is done, though what it shows stays open. */
  readonly isDone?: boolean
  readonly title: ReactNode
  readonly note?: ReactNode
  /** At the right of its head. */
  readonly aside?: ReactNode
  /** Opens one that waits. */
  readonly onOpen?: () => void
  readonly children?: ReactNode
}

const BADGES: Record<StepState, string> = {
  done: 'bg-good-fill text-surface',
  open: 'bg-ink text-surface',
  waiting: 'bg-tag text-ink-2',
}

export function Step({
  number,
  state,
  isDone = state === 'done',
  title,
  note,
  aside,
  onOpen,
  children,
}: StepProps) {
  const head = (
    <>
      <span
        aria-hidden
        className={classes(
          'flex size-[22px] shrink-0 items-center justify-center rounded-full text-12 font-semibold',
          BADGES[isDone ? 'done' : state],
        )}
      >
        {isDone ? <Check size={13} strokeWidth={2.25} /> : number}
      </span>
      <span className="text-13 font-semibold">{title}</span>
      {note !== undefined && <span className="min-w-0 truncate text-ink-2">{note}</span>}
    </>
  )
  const isClosed = state === 'waiting' && onOpen !== undefined
  return (
    <section className="rounded-panel border border-line bg-surface">
      <h2>
        {isClosed ? (
          <button
            type="button"
            aria-expanded={false}
            className="flex h-12 w-full items-center gap-3 px-4 text-left font-normal hover:bg-hover"
            onClick={onOpen}
          >
            {head}
            <ChevronDown size={16} aria-hidden className="ml-auto shrink-0 text-ink-3" />
          </button>
        ) : (
          <span className="flex min-h-12 items-center gap-3 px-4 font-normal phone:flex-wrap phone:py-2.5">
            {head}
            {aside !== undefined && <span className="ml-auto text-12 text-ink-3">{aside}</span>}
          </span>
        )}
      </h2>
      {state === 'open' && children !== undefined && (
        <div className="border-t border-line px-4 py-4">{children}</div>
      )}
    </section>
  )
}
