/** Which part of an image is shown, and how large: one affine matrix between its pixels and those of the screen. */
import type { View } from '../../../workers/pixels/overlay.ts'
import type { Point } from '../../../workers/pixels/shapes.ts'
import type { Size } from '../sizes.ts'

export const MIN_SCALE = 0.05
export const MAX_SCALE = 16

/** Small images are shown at twice their size at most. */
const MAX_FITTED = 2

/** The whole image in the middle. */
export function fitted(image: Size, screen: Size): View {
  const scale = Math.min(MAX_FITTED, screen.width / image.width, screen.height / image.height)
  return {
    scale,
    left: Math.round((screen.width - image.width * scale) / 2),
    top: Math.round((screen.height - image.height * scale) / 2),
  }
}

/** The point of the image under `at` stays there. */
export function zoomed(view: View, factor: number, at: Point, least = MIN_SCALE): View {
  const scale = Math.min(MAX_SCALE, Math.max(Math.min(least, MIN_SCALE), view.scale * factor))
  const ratio = scale / view.scale
  return { scale, left: at.x - (at.x - view.left) * ratio, top: at.y - (at.y - view.top) * ratio }
}

export function moved(view: View, dx: number, dy: number): View {
  return { ...view, left: view.left + dx, top: view.top + dy }
}

export function toImage({ scale, left, top }: View, { x, y }: Point): Point {
  return { x: (x - left) / scale, y: (y - top) / scale }
}

export function toScreen({ scale, left, top }: View, { x, y }: Point): Point {
  return { x: x * scale + left, y: y * scale + top }
}
