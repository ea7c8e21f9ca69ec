/**
 * What an edit changed: of two images of one size, band by band. A pixel counts as changed when one of its channels
 * differs by more than the threshold.
 */
import type { Mask } from './mask.ts'

/** Pixels of one kind, and those of them that changed. */
interface Part {
  readonly pixels: number
  readonly changed: number
}

export interface Comparison {
  readonly width: number
  readonly height: number
  /** Unpainted. */
  readonly outside: Part
  /** Painted. */
  readonly inside: Part
  readonly threshold: number
  /** The original had another size. */
  readonly isScaled: boolean
}

/** A difference of 8 of 255 is invisible. */
export const THRESHOLD = 8
/** JPEG and WebP don't give back what they were given. */
export const LOSSY_THRESHOLD = 16

export function thresholdFor(type: string): number {
  return type === 'image/png' ? THRESHOLD : LOSSY_THRESHOLD
}

/** The share of unpainted pixels that came back as they were. Undefined: there are none. */
export function adherenceOf({ outside }: Comparison): number | undefined {
  return outside.pixels === 0 ? undefined : 1 - outside.changed / outside.pixels
}

/** Whether a pixel of the result counts as painted, or as too near to the edge to say. */
export type Region = (x: number, y: number) => 'inside' | 'outside' | 'edge'

/** How far a scaled edge may be off. */
const EDGE = 2

/** A mask over a result. Of another size, it is scaled, and its edge belongs to neither side. */
export function regionOf(mask: Mask | undefined, width: number, height: number): Region {
  if (mask === undefined) return () => 'inside'
  const [across, down] = [mask.width / width, mask.height / height]
  const at = (x: number, y: number): boolean =>
    mask.isPainted(
      Math.min(mask.width - 1, Math.floor((x + 0.5) * across)),
      Math.min(mask.height - 1, Math.floor((y + 0.5) * down)),
    )
  if (mask.width === width && mask.height === height)
    return (x, y) => (mask.isPainted(x, y) ? 'inside' : 'outside')
  return (x, y) => {
    const isPainted = at(x, y)
    for (let dy = -EDGE; dy <= EDGE; dy += 1)
      for (let dx = -EDGE; dx <= EDGE; dx += 1) {
        const [nearX, nearY] = [x + dx, y + dy]
        if (nearX < 0 || nearY < 0 || nearX >= width || nearY >= height) continue
        if (at(nearX, nearY) !== isPainted) return 'edge'
      }
    return isPainted ? 'inside' : 'outside'
  }
}

export interface Counts {
  outside: { pixels: number; changed: number }
  inside: { pixels: number; changed: number }
}

export function noCounts(): Counts {
  return { outside: { pixels: 0, changed: 0 }, inside: { pixels: 0, changed: 0 } }
}

type Pixels = Uint8Array | Uint8ClampedArray

interface Band {
  readonly before: Pixels
  readonly after: Pixels
  readonly width: number
  /** The first row of it in the whole image. */
  readonly top: number
}

/** Adds a band to the counts, and turns `map`, if there is one, into a grey copy of the result with the changes in red. */
export function countBand(
  counts: Counts,
  { before, after, width, top }: Band,
  { region, threshold, map }: { readonly region: Region; readonly threshold: number; readonly map?: Pixels },
): void {
  for (let at = 0, pixel = 0; at < after.length; at += 4, pixel += 1) {
    const place = region(pixel % width, top + Math.floor(pixel / width))
    const isChanged = differs(before, after, at, threshold)
    if (place !== 'edge') {
      counts[place].pixels += 1
      if (isChanged) counts[place].changed += 1
    }
    if (map !== undefined) shade(map, after, at, isChanged ? place : 'edge')
  }
}

function differs(before: Pixels, after: Pixels, at: number, threshold: number): boolean {
  for (let channel = 0; channel < 4; channel += 1)
    if (Math.abs((before[at + channel] ?? 0) - (after[at + channel] ?? 0)) > threshold) return true
  return false
}

const RED = [255, 102, 92] as const
const VIOLET = [139, 110, 214] as const

/** Red: changed and should not have. Violet: changed, as it was meant to. */
function shade(map: Pixels, after: Pixels, at: number, place: ReturnType<Region>): void {
  const [red = 0, green = 0, blue = 0] = after.subarray(at, at + 3)
  const grey = (red * 0.3 + green * 0.59 + blue * 0.11) * 0.62 + 22
  const colour = place === 'outside' ? RED : place === 'inside' ? VIOLET : undefined
  map[at] = colour?.[0] ?? grey
  map[at + 1] = colour?.[1] ?? grey
  map[at + 2] = colour?.[2] ?? grey
  map[at + 3] = 255
}

/** Puts the original back, pixel by pixel, where nothing was painted. `after` is changed in its place. */
export function keepUnpainted(
  before: Pixels,
  after: Pixels,
  { mask, width, top }: { readonly mask: Mask; readonly width: number; readonly top: number },
): void {
  for (let at = 0, pixel = 0; at < after.length; at += 4, pixel += 1) {
    if (mask.isPainted(pixel % width, top + Math.floor(pixel / width))) continue
    after[at] = before[at] ?? 0
    after[at + 1] = before[at + 1] ?? 0
    after[at + 2] = before[at + 2] ?? 0
    after[at + 3] = before[at + 3] ?? 0
  }
}
