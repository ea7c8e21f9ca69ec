/** A small line without axes, from zero. */
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
  // One value is a level line.
  const drawn = values.length === 1 ? [...values, ...values] : values
  const most = Math.max(...drawn, 1)
  const x = (index: number): number => (index / Math.max(1, drawn.length - 1)) * width
  const y = (value: number): number => height - 1 - (value / most) * (height - 3)
  const points = drawn.map((value, index) => `${x(index).toFixed(2)},${y(value).toFixed(2)}`)
  const stroke = `M${points.join('L')}`
  const fill = `${stroke}L${x(drawn.length - 1)},${height}L0,${height}Z`
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
