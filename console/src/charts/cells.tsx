/** Health over time, one cell a slot: the worst state in it. Height is a second code beside the colour. */
import { classes } from '../ui/classes.ts'

interface CellsProps {
  /** `g`ood, `w`arned or limited, `b`ad, `q`uarantined, `.` nothing; the oldest first. */
  readonly cells: string
  /** What is read out: `7 days, one bad cell`. */
  readonly label: string
  /** 2 for 28 cells, 3 for 48. */
  readonly cellWidth?: number
  readonly height?: number
  readonly className?: string
}

const LOOK: Record<string, readonly [colour: string, share: number]> = {
  g: ['var(--good-fill)', 0.62],
  w: ['var(--warn-fill)', 1],
  b: ['var(--bad-fill)', 1],
  q: ['var(--odd-fill)', 1],
  '.': ['var(--line-strong)', 0.3],
}
const NOTHING = ['var(--line-strong)', 0.3] as const

export function Cells({ cells, label, cellWidth = 2, height = 16, className }: CellsProps) {
  const pitch = cellWidth + 1
  const width = cells.length * pitch - 1
  return (
    <svg
      role="img"
      aria-label={label}
      width={width}
      height={height}
      viewBox={`0 0 ${width} ${height}`}
      preserveAspectRatio="none"
      className={classes('inline-block max-w-full shrink-0 align-middle', className)}
    >
      {Array.from(cells, (cell, index) => {
        const [colour, share] = LOOK[cell] ?? NOTHING
        const tall = Math.round(height * share)
        return (
          <rect
            key={index}
            x={index * pitch}
            y={height - tall}
            width={cellWidth}
            height={tall}
            rx="0.5"
            fill={colour}
            opacity={cell === '.' ? 0.5 : 1}
          />
        )
      })}
    </svg>
  )
}
