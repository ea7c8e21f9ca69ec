/** A small line without axes, from zero. */
import { area, line } from 'd3-shape'
import { classes } from '../ui/classes.ts'
import { paint, type Colour } from './colours.ts'

interface SparklineProps {
  readonly values: readonly number[]
  readonly label: string
  readonly width?: number
  readonly height?: number
  readonly colour?: Colour
  readonly className?: string
}

export function Sparkline({
  values,
  label,
  width = 64,
  height = 20,
  colour = 's1',
  className,
}: SparklineProps) {
  const most = Math.max(...values, 1)
  const x = (_: number, index: number): number =>
    values.length < 2 ? 0 : (index / (values.length - 1)) * width
  const y = (value: number): number => height - 1 - (value / most) * (height - 3)
  const fill = area<number>().x(x).y0(height).y1(y)(values) ?? undefined
  const stroke = line<number>().x(x).y(y)(values) ?? undefined
  return (
    <svg
      role="img"
      aria-label={label}
      width={width}
      height={height}
      className={classes('inline-block shrink-0 align-middle', className)}
    >
      <path d={fill} fill={paint(colour)} opacity="0.14" />
      <path d={stroke} fill="none" stroke={paint(colour)} strokeWidth="1.25" strokeLinejoin="round" />
    </svg>
  )
}
