/** Which part of a picture is seen, and how large: one affine matrix between its pixels and those of the screen. */
import type { View } from '../../../workers/pixels/overlay.ts'
import type { Point } from '../../../workers/pixels/shapes.ts'
import type { Size } from '../sizes.ts'

export const LEAST_SCALE = 0.05
export const MOST_SCALE = 16

/** Small pictures are shown at twice their size at most. */
const MOST_FITTED = 2

/** The whole picture in the middle. */
export function fitted(picture: Size, screen: Size): View {
  const scale = Math.min(MOST_FITTED, screen.width / picture.width, screen.height / picture.height)
  return {
    scale,
    left: Math.round((screen.width - picture.width * scale) / 2),
    top: Math.round((screen.height - picture.height * scale) / 2),
  }
}

/** The point of the picture under `at` stays there. */
export function zoomed(view: View, factor: number, at: Point, least = LEAST_SCALE): View {
  const scale = Math.min(MOST_SCALE, Math.max(Math.min(least, LEAST_SCALE), view.scale * factor))
  const ratio = scale / view.scale
  return { scale, left: at.x - (at.x - view.left) * ratio, top: at.y - (at.y - view.top) * ratio }
}

export function moved(view: View, dx: number, dy: number): View {
  return { ...view, left: view.left + dx, top: view.top + dy }
}

export function toPicture({ scale, left, top }: View, { x, y }: Point): Point {
  return { x: (x - left) / scale, y: (y - top) / scale }
}

export function toScreen({ scale, left, top }: View, { x, y }: Point): Point {
  return { x: x * scale + left, y: y * scale + top }
}
