/** The mark of a group beside its name. */
import { paint } from '../colours.ts'
import { markOf, shapePath, type Shape } from './marks.ts'

export function Mark({ group, size = 9 }: { readonly group: number; readonly size?: number }) {
  const { colour, shape } = markOf(group)
  return <ShapeMark shape={shape} fill={paint(colour)} size={size} />
}

interface ShapeMarkProps {
  readonly shape: Shape
  readonly fill: string
  readonly size?: number
}

export function ShapeMark({ shape, fill, size = 9 }: ShapeMarkProps) {
  const box = size + 3
  return (
    <svg
      width={box}
      height={box}
      viewBox={`${-box / 2} ${-box / 2} ${box} ${box}`}
      aria-hidden
      className="shrink-0"
    >
      <path d={shapePath(shape, size)} fill={fill} />
    </svg>
  )
}
