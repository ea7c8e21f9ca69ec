/**
 * A mask at the resolution of its image: one bit a pixel, set where it is painted. Rows begin at a word of their own, so
 * that a span is a few whole words and two borders: painting costs the same at 24 megapixels as at one.
 */

/** Half open: `left` and `top` belong to it, `right` and `bottom` do not. */
export interface Box {
  readonly left: number
  readonly top: number
  readonly right: number
  readonly bottom: number
}

export const NO_BOX: Box = { left: 0, top: 0, right: 0, bottom: 0 }

export function isEmpty({ left, top, right, bottom }: Box): boolean {
  return right <= left || bottom <= top
}

export function union(one: Box, other: Box): Box {
  if (isEmpty(one)) return other
  if (isEmpty(other)) return one
  return {
    left: Math.min(one.left, other.left),
    top: Math.min(one.top, other.top),
    right: Math.max(one.right, other.right),
    bottom: Math.max(one.bottom, other.bottom),
  }
}

const WORD_BITS = 32
const ALL = 0xffff_ffff

export class Mask {
  readonly width: number
  readonly height: number
  /** Words of one row. */
  readonly stride: number
  readonly words: Uint32Array<ArrayBuffer>

  constructor(width: number, height: number, words?: Uint32Array<ArrayBuffer>) {
    this.width = width
    this.height = height
    this.stride = Math.ceil(width / WORD_BITS)
    this.words = words ?? new Uint32Array(this.stride * height)
  }

  /** Whole image. */
  get box(): Box {
    return { left: 0, top: 0, right: this.width, bottom: this.height }
  }

  isPainted(x: number, y: number): boolean {
    return (((this.words[y * this.stride + (x >> 5)] ?? 0) >>> (x & 31)) & 1) === 1
  }

  /** Sets or clears the pixels from `left` up to `right` of a row; what lies outside of the image is left out. */
  span(y: number, left: number, right: number, isPainted: boolean): void {
    const from = Math.max(0, left)
    const to = Math.min(this.width, right)
    if (y < 0 || y >= this.height || from >= to) return
    const row = y * this.stride
    const first = row + (from >> 5)
    const last = row + ((to - 1) >> 5)
    const head = (ALL << (from & 31)) >>> 0
    const tail = ALL >>> (31 - ((to - 1) & 31))
    if (first === last) {
      this.#put(first, head & tail, isPainted)
      return
    }
    this.#put(first, head, isPainted)
    this.words.fill(isPainted ? ALL : 0, first + 1, last)
    this.#put(last, tail, isPainted)
  }

  #put(at: number, bits: number, isPainted: boolean): void {
    const before = this.words[at] ?? 0
    this.words[at] = isPainted ? before | bits : before & ~bits
  }

  /** What was painted is not, and the other way round. */
  invert(): void {
    const { words, stride, width, height } = this
    const tail = width % WORD_BITS === 0 ? ALL : ALL >>> (WORD_BITS - (width % WORD_BITS))
    for (let at = 0; at < words.length; at += 1) words[at] = ~(words[at] ?? 0)
    for (let y = 0; y < height; y += 1) {
      const last = (y + 1) * stride - 1
      words[last] = (words[last] ?? 0) & tail
    }
  }

  /** How many pixels are painted. */
  count(): number {
    let sum = 0
    for (const word of this.words) if (word !== 0) sum += bitsIn(word)
    return sum
  }
}

function bitsIn(word: number): number {
  const pairs = word - ((word >>> 1) & 0x5555_5555)
  const fours = (pairs & 0x3333_3333) + ((pairs >>> 2) & 0x3333_3333)
  return Math.imul((fours + (fours >>> 4)) & 0x0f0f_0f0f, 0x0101_0101) >>> 24
}

/** Paints the pixels with an alpha of 0, of rows from `top` on. A half-transparent pixel means "keep". True if there is one to paint. */
export function paintTransparent(mask: Mask, pixels: Uint8ClampedArray, top = 0): boolean {
  let hasTransparent = false
  for (let at = 3, pixel = 0; at < pixels.length; at += 4, pixel += 1) {
    if (pixels[at] !== 0) continue
    hasTransparent = true
    const x = pixel % mask.width
    mask.span(top + Math.floor(pixel / mask.width), x, x + 1, true)
  }
  return hasTransparent
}
