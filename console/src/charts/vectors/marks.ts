/** Groups of texts have a colour and a shape each: colour never says anything alone. */
import type { Colour } from '../colours.ts'

const SHAPES = ['circle', 'square', 'triangle', 'diamond', 'wedge', 'cross'] as const
export type Shape = (typeof SHAPES)[number] | 'star'

export interface GroupMark {
  readonly colour: Colour
  readonly shape: Shape
}

/** In an order in which neighbours differ in lightness too. */
const COLOURS: readonly Colour[] = ['s1', 's6', 's3', 's4', 's5', 's2']

/** −1: in no group. After six of each the shapes go on over one colour. */
export function markOf(group: number): GroupMark {
  if (group < 0) return { colour: 's1', shape: 'circle' }
  return { colour: COLOURS[group] ?? 'rest', shape: SHAPES[group % SHAPES.length] ?? 'circle' }
}

/** As the `d` of a path around zero, so that SVG and canvas draw the same. */
export function shapePath(shape: Shape, size: number): string {
  const half = size / 2
  switch (shape) {
    case 'circle':
      return `M${-half} 0a${half} ${half} 0 1 0 ${size} 0a${half} ${half} 0 1 0 ${-size} 0Z`
    case 'square':
      return `M${-half * 0.88} ${-half * 0.88}h${size * 0.88}v${size * 0.88}h${-size * 0.88}Z`
    case 'triangle':
      return `M0 ${-half}L${half} ${half * 0.8}H${-half}Z`
    case 'wedge':
      return `M0 ${half}L${half} ${-half * 0.8}H${-half}Z`
    case 'diamond':
      return `M0 ${-half * 1.15}L${half * 1.15} 0L0 ${half * 1.15}L${-half * 1.15} 0Z`
    case 'cross': {
      const arm = size / 5
      return `M${-arm} ${-half}h${2 * arm}v${half - arm}h${half - arm}v${2 * arm}h${arm - half}v${half - arm}h${-2 * arm}v${arm - half}h${arm - half}v${-2 * arm}h${half - arm}Z`
    }
    case 'star': {
      const corners = Array.from({ length: 10 }, (_, corner) => {
        const radius = corner % 2 === 0 ? half : half * 0.42
        const angle = (corner * Math.PI) / 5 - Math.PI / 2
        return `${(radius * Math.cos(angle)).toFixed(2)} ${(radius * Math.sin(angle)).toFixed(2)}`
      })
      return `M${corners.join('L')}Z`
    }
  }
}
