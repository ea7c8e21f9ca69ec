/** What is wrong with the thing on this page: what, since when, what it means, one button. */
import type { ReactNode } from 'react'
import { classes } from './classes.ts'
import type { TagTone } from './tag.tsx'

const TONES: Record<TagTone, string> = {
  plain: 'bg-sunken text-ink-2',
  accent: 'bg-accent-tint text-accent',
  good: 'bg-good-tint text-good',
  warn: 'bg-warn-tint text-warn',
  bad: 'bg-bad-tint text-bad',
  odd: 'bg-odd-tint text-odd',
}

interface BannerProps {
  readonly tone?: TagTone
  readonly icon?: ReactNode
  readonly title?: ReactNode
  readonly action?: ReactNode
  readonly className?: string
  readonly children?: ReactNode
}

export function Banner({ tone = 'plain', icon, title, action, className, children }: BannerProps) {
  return (
    <div
      role="status"
      className={classes(
        'flex items-center gap-3.5 rounded-control px-3.5 py-2.5 phone:flex-wrap',
        TONES[tone],
        className,
      )}
    >
      {icon !== undefined && <span className="shrink-0">{icon}</span>}
      {/* On a phone the button goes below the text, instead of making it narrow. */}
      <div className="min-w-0 flex-1 phone:basis-3/4">
        {title !== undefined && <p className="font-semibold text-ink">{title}</p>}
        {children !== undefined && <div className="text-12 text-ink-2">{children}</div>}
      </div>
      {action}
    </div>
  )
}
