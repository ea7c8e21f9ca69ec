/** A small word on a ground of its own. */
import { Lock } from 'lucide-react'
import type { ReactNode } from 'react'
import { classes } from './classes.ts'
import { StateMark, type Mark } from './state-mark.tsx'

export type TagTone = 'plain' | 'accent' | 'good' | 'warn' | 'bad' | 'odd'

const TONES: Record<TagTone, string> = {
  plain: 'bg-tag text-ink-2',
  accent: 'bg-accent-tint text-accent',
  good: 'bg-good-tint text-good',
  warn: 'bg-warn-tint text-warn',
  bad: 'bg-bad-tint text-bad',
  odd: 'bg-odd-tint text-odd',
}

interface TagProps {
  readonly tone?: TagTone
  readonly mark?: Mark
  readonly icon?: ReactNode
  readonly className?: string
  readonly children: ReactNode
}

export function Tag({ tone = 'plain', mark, icon, className, children }: TagProps) {
  return (
    <span
      className={classes(
        'inline-flex h-[18px] items-center gap-1 rounded-chip px-1.5 text-11 font-medium whitespace-nowrap',
        TONES[tone],
        className,
      )}
    >
      {mark && <StateMark mark={mark} word="" size={9} />}
      {icon}
      {children}
    </span>
  )
}

/** Where something is managed that can't be changed here: `torana.yaml:88`. */
export function LockTag({ at }: { readonly at: string }) {
  return <Tag icon={<Lock size={10} strokeWidth={2.25} aria-hidden />}>{at}</Tag>
}
