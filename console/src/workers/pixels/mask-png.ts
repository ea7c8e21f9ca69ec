/** A mask as upstreams want it: a PNG of the image's size, transparent where painted and black elsewhere, without half tones. */
import type { Mask } from './mask.ts'
import { pngOf } from './png.ts'

const ROWS_AT_ONCE = 64

export function maskPng(mask: Mask): Promise<Blob> {
  return pngOf(mask.width, mask.height, rowsOf(mask))
}

function* rowsOf(mask: Mask): Generator<Uint8Array> {
  const { width, height } = mask
  for (let top = 0; top < height; top += ROWS_AT_ONCE) {
    const many = Math.min(ROWS_AT_ONCE, height - top)
    const pixels = new Uint8Array(width * many * 4)
    for (let row = 0; row < many; row += 1)
      for (let x = 0; x < width; x += 1)
        if (!mask.isPainted(x, top + row)) pixels[(row * width + x) * 4 + 3] = 255
    yield pixels
  }
}
