/** How a mask is shown over its image: violet hatching with a dashed edge in black and white, visible on any image. */
import type { Box, Mask } from './mask.ts'

/** From pixels of the image to pixels of the screen: `x * scale + left`. */
export interface View {
  readonly scale: number
  readonly left: number
  readonly top: number
}

const HATCH = 8
const DASH = 5
/** How wide the edge is, in pixels of the screen. */
const EDGE = 2

/** As little endian machines read red, green, blue, alpha. */
const colour = (red: number, green: number, blue: number, alpha: number): number =>
  ((alpha << 24) | (blue << 16) | (green << 8) | red) >>> 0
const LINE = colour(92, 46, 190, 190)
const GROUND = colour(136, 100, 232, 104)
const WHITE = colour(255, 255, 255, 255)
const BLACK = colour(52, 20, 120, 255)

/** RGBA of a part of the screen, row by row. Without hatching only the edge is drawn, and what is inside stays in sight. */
export function overlayOf(
  mask: Mask,
  { scale, left, top }: View,
  area: Box,
  isHatched = true,
): Uint8ClampedArray<ArrayBuffer> {
  const [across, down] = [area.right - area.left, area.bottom - area.top]
  const pixels = new Uint32Array(across * down)
  // One sample a pixel of the screen, and a border of as many as the edge is wide.
  const wide = across + EDGE * 2
  const columns = Int32Array.from({ length: wide }, (_, at) =>
    inside(Math.floor((area.left + at - EDGE + 0.5 - left) / scale), mask.width),
  )
  const samples = new Uint8Array(wide * (down + EDGE * 2))
  for (let row = 0; row < down + EDGE * 2; row += 1) {
    const y = inside(Math.floor((area.top + row - EDGE + 0.5 - top) / scale), mask.height)
    if (y < 0) continue
    for (let at = 0; at < wide; at += 1) {
      const x = columns[at] ?? -1
      if (x >= 0 && mask.isPainted(x, y)) samples[row * wide + at] = 1
    }
  }
  for (let row = 0; row < down; row += 1)
    for (let at = 0; at < across; at += 1) {
      const sample = (row + EDGE) * wide + at + EDGE
      if (samples[sample] === 0) continue
      const isEdge =
        samples[sample - EDGE] === 0 ||
        samples[sample + EDGE] === 0 ||
        samples[sample - EDGE * wide] === 0 ||
        samples[sample + EDGE * wide] === 0
      const diagonal = area.left + at + area.top + row
      pixels[row * across + at] = isEdge
        ? diagonal % (DASH * 2) < DASH
          ? WHITE
          : BLACK
        : !isHatched
          ? 0
          : diagonal % HATCH < 2
            ? LINE
            : GROUND
    }
  return new Uint8ClampedArray(pixels.buffer)
}

/** −1: outside of the image, where nothing is painted. */
function inside(at: number, length: number): number {
  return at < 0 || at >= length ? -1 : at
}

/** The part of the screen that shows a part of the image, with the edge around it. */
export function screenBox(box: Box, { scale, left, top }: View, width: number, height: number): Box {
  const fromX = Math.max(0, Math.floor(box.left * scale + left) - EDGE)
  const fromY = Math.max(0, Math.floor(box.top * scale + top) - EDGE)
  return {
    left: fromX,
    top: fromY,
    right: Math.max(fromX, Math.min(width, Math.ceil(box.right * scale + left) + EDGE)),
    bottom: Math.max(fromY, Math.min(height, Math.ceil(box.bottom * scale + top) + EDGE)),
  }
}
