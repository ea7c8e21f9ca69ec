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
  const most = Math.max(...values, 1)
  const x = (index: number): number => (values.length < 2 ? 0 : (index / (values.length - 1)) * width)
  const y = (value: number): number => height - 1 - (value / most) * (height - 3)
  const points = values.map((value, index) => `${x(index).toFixed(2)},${y(value).toFixed(2)}`)
  const stroke = `M${points.join('L')}`
  const fill = `${stroke}L${x(values.length - 1)},${height}L0,${height}Z`
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
