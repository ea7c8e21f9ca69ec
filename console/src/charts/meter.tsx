/** A share as a bar. */
import { classes } from '../ui/classes.ts'
import { paint, type Colour } from './colours.ts'

interface MeterProps {
  /** From 0 to 1; more is drawn as full. */
  readonly share: number
  /** Undefined: a number beside it says the same. */
  readonly label?: string
  readonly colour?: Colour
  readonly width?: number | undefined
  readonly height?: number
  readonly className?: string
}

export function Meter({ share, label, colour = 's1', width, height = 4, className }: MeterProps) {
  const full = Math.min(1, Math.max(0, Number.isFinite(share) ? share : 0))
  const named = label === undefined ? { 'aria-hidden': true } : { role: 'img', 'aria-label': label }
  return (
    <span
      {...named}
      className={classes(
        'block shrink-0 overflow-hidden rounded-full bg-line',
        width === undefined && 'w-full',
        className,
      )}
      style={{ width, height }}
    >
      <span
        className="block h-full rounded-full"
        // Something is never nothing.
        style={{ width: full === 0 ? 0 : `max(2px, ${full * 100}%)`, background: paint(colour) }}
      />
    </span>
  )
}
