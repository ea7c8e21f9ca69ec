/** Shared by the scans of all formats: how they ask for bytes, what they find, and their bounds. */
import type { GivenFile } from './given.ts'
import { MAX_PARTS } from './header.ts'

export interface PictureLimits {
  readonly maxPicturePixels: number
  readonly maxPictureEdge: number
}

export type ScannedHeader = Pick<GivenFile, 'format' | 'width' | 'height' | 'hasAlpha' | 'isTurned'>

/**
 * Bytes before the pixels: cameras put previews, depth maps, profiles and edits there, some megabytes. More is made to keep
 * us waiting.
 */
export const MAX_BYTES_BEFORE_PIXELS = 16 * 1024 * 1024

/** Bytes of one look: the first chunk of a PNG, an entry of EXIF and the start of a WebP are all shorter. */
export const MAX_LOOK_BYTES = 16

/** The next bytes that a scan wants of an arriving file: to look at, to pass, or up to the end of a sequence. */
export type Wish =
  /** At least one; for a look, at most `MAX_LOOK_BYTES`. */
  | { readonly kind: 'look' | 'pass'; readonly bytes: number }
  /** The first byte of a sequence does not occur in it again, so after a mismatch the search begins again. */
  | { readonly kind: 'find'; readonly sequence: Uint8Array }

/** Is resumed with the bytes of each look when they have arrived. Returns the reason when the image is refused. */
export type Scan<Result = ScannedHeader | string> = Generator<Wish, Result, Uint8Array>

export class Source {
  #position = 0
  /** The reason when the file ends here. */
  cut: string = WORDS.cut

  get position(): number {
    return this.#position
  }

  /** The bytes are valid only until the next wish. */
  *look(bytes: number): Scan<Uint8Array> {
    this.#position += bytes
    return yield { kind: 'look', bytes }
  }

  *passTo(position: number): Scan<void> {
    const bytes = position - this.#position
    if (bytes <= 0) return
    this.#position = position
    yield { kind: 'pass', bytes }
  }

  /** The last wish of a scan: where the sequence ends is not known. */
  *find(sequence: Uint8Array): Scan<void> {
    yield { kind: 'find', sequence }
  }
}

/** A scan with the bytes that have arrived. The outcome does not depend on how they are divided. */
export class RunningScan<Result> {
  readonly #scan: Scan<Result>
  readonly #looked = new Uint8Array(MAX_LOOK_BYTES)
  #wish: Wish | undefined
  /** Bytes of the wish that have arrived. */
  #got = 0
  #outcome: Result | undefined

  constructor(scan: Scan<Result>) {
    this.#scan = scan
    this.#go(scan.next())
  }

  /** Undefined while the scan wants more bytes. */
  get outcome(): Result | undefined {
    return this.#outcome
  }

  push(bytes: Uint8Array): void {
    let offset = 0
    while (this.#wish !== undefined) {
      const wish = this.#wish
      if (wish.kind === 'find') {
        offset = this.#find(bytes, offset, wish.sequence)
        if (this.#got < wish.sequence.length) return
        this.#go(this.#scan.next(this.#looked.subarray(0, 0)))
        continue
      }
      const part = Math.min(wish.bytes - this.#got, bytes.length - offset)
      if (wish.kind === 'look') this.#looked.set(bytes.subarray(offset, offset + part), this.#got)
      this.#got += part
      offset += part
      if (this.#got < wish.bytes) return
      this.#go(this.#scan.next(this.#looked.subarray(0, wish.kind === 'look' ? wish.bytes : 0)))
    }
  }

  /** The offset behind the sequence, or behind the bytes that hold only a part of it. */
  #find(bytes: Uint8Array, start: number, sequence: Uint8Array): number {
    const first = sequence[0] as number
    let offset = start
    while (offset < bytes.length && this.#got < sequence.length) {
      if (this.#got === 0) {
        offset = bytes.indexOf(first, offset)
        if (offset === -1) return bytes.length
      }
      const byte = bytes[offset]
      if (byte === sequence[this.#got]) this.#got += 1
      else this.#got = byte === first ? 1 : 0
      offset += 1
    }
    return offset
  }

  #go(next: IteratorResult<Wish, Result>): void {
    this.#got = 0
    this.#wish = next.done === true ? undefined : next.value
    if (next.done === true) this.#outcome = next.value
  }
}

/** The reason when an image of that size is refused. */
export function sizeWords(width: number, height: number, limits: PictureLimits): string | undefined {
  const size = `${width}x${height} pixels`
  if (width < 1 || height < 1) return `is ${size}; both sides must be at least 1`
  if (Math.max(width, height) > limits.maxPictureEdge)
    return `is ${size}; the longer edge may have at most ${limits.maxPictureEdge}`
  if (width * height > limits.maxPicturePixels)
    return `is ${size}, more than the allowed ${count(limits.maxPicturePixels)}`
  return undefined
}

function count(pixels: number): string {
  return pixels >= 1_000_000 && pixels % 100_000 === 0 ? `${pixels / 1_000_000} million` : String(pixels)
}

export const WORDS = {
  animated: 'is animated; only images with one frame are accepted',
  broken: 'is broken before its pixels begin',
  cut: 'ends before its pixels begin',
  cutShort: 'ends before its pixels do: it was cut short',
  noPixels: 'has a header but no pixels after it',
  tooManyParts: `has more than ${MAX_PARTS} parts before its pixels`,
  tooMuchBefore: `has more than ${MAX_BYTES_BEFORE_PIXELS / 1024 ** 2} MB before its pixels`,
} as const
