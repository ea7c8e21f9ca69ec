/** Values at the cursor of a picture. It never takes the pointer. */
import type { ReactNode } from 'react'
import { classes } from '../ui/classes.ts'
import type { Colour } from './colours.ts'
import { Swatch } from './legend.tsx'

interface TipLine {
  readonly label: ReactNode
  readonly colour: Colour
  readonly value: ReactNode
}

interface TipProps {
  /** Where the cursor is. */
  readonly x: number
  /** Of the picture: the tip stands on the side that has room. */
  readonly width: number
  readonly title: ReactNode
  readonly lines: readonly TipLine[]
}

export function Tip({ x, width, title, lines }: TipProps) {
  const isRight = x > width / 2
  return (
    <div
      aria-hidden
      className={classes(
        'pointer-events-none absolute top-4 min-w-40 rounded-control border border-line bg-raised px-2.5 py-2 text-12 text-ink shadow-menu',
      )}
      style={isRight ? { right: `calc(100% - ${x - 12}px)` } : { left: x + 12 }}
    >
      <p className="pb-1 text-ink-2">{title}</p>
      {lines.map(({ label, colour, value }, index) => (
        <p key={index} className="flex items-center gap-2">
          <Swatch colour={colour} />
          <span className="flex-1">{label}</span>
          <span className="pl-3 tabular-nums">{value}</span>
        </p>
      ))}
    </div>
  )
}
