/** The line that a rectangle or a lasso follows while it is drawn. */
import type { Box } from '../../../workers/pixels/mask.ts'
import type { Point } from '../../../workers/pixels/shapes.ts'
import type { Tool } from './painting.ts'

/** The rectangle from the first point to the last, on whole pixels. */
export function cornersOf(points: readonly Point[]): Box {
  const [first, last] = [points[0], points.at(-1)]
  if (first === undefined || last === undefined) return { left: 0, top: 0, right: 0, bottom: 0 }
  return {
    left: Math.round(Math.min(first.x, last.x)),
    top: Math.round(Math.min(first.y, last.y)),
    right: Math.round(Math.max(first.x, last.x)),
    bottom: Math.round(Math.max(first.y, last.y)),
  }
}

export function outlineOf(tool: Tool, points: readonly Point[]): readonly Point[] {
  if (tool === 'lasso') return points
  const { left, top, right, bottom } = cornersOf(points)
  return [
    { x: left, y: top },
    { x: right, y: top },
    { x: right, y: bottom },
    { x: left, y: bottom },
  ]
}
