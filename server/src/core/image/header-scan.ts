/** Reads the header of an image while it arrives, and refuses the image as early as possible, or at its end if it was cut short. */
import type { ImageFormat } from '../catalog/catalog.ts'
import { FIRST_BYTES, kindOf } from './first-bytes-scan.ts'
import { jpegScan } from './jpeg-scan.ts'
import { pngScan } from './png-scan.ts'
import { RunningScan, Source } from './scan.ts'
import type { PictureLimits, Scan, ScannedHeader } from './scan.ts'
import { webpScan } from './webp-scan.ts'

export type { PictureLimits, ScannedHeader } from './scan.ts'

const SCANS: Readonly<Record<ImageFormat, (source: Source, limits: PictureLimits) => Scan>> = {
  png: pngScan,
  jpeg: jpegScan,
  webp: webpScan,
}

/**
 * Holds only the first kilobyte, and what one look at the rest needs: files may have any size. The outcome does not depend
 * on how the bytes are divided. Nothing throws. Bytes after the image are ignored.
 */
export class HeaderScan {
  readonly #limits: PictureLimits
  readonly #first = new Uint8Array(FIRST_BYTES)
  #firstLength = 0
  #running: RunningScan<ScannedHeader | string> | undefined
  readonly #source = new Source()
  #outcome: ScannedHeader | string | undefined

  constructor(limits: PictureLimits) {
    this.#limits = limits
  }

  /** Takes the next bytes. Returns the reason for the caller as soon as the image is refused. */
  push(chunk: Uint8Array): string | undefined {
    if (this.#outcome === undefined) {
      const start = this.#running === undefined ? this.#recognise(chunk) : 0
      this.#feed(chunk.subarray(start))
    }
    return typeof this.#outcome === 'string' ? this.#outcome : undefined
  }

  /** All bytes have been pushed. Returns the reason when they hold no valid header. */
  end(): ScannedHeader | string {
    if (this.#outcome === undefined && this.#running === undefined) this.#decide(true)
    this.#outcome ??= this.#source.cut
    return this.#outcome
  }

  /** Number of bytes that were needed to recognise the kind; they have been fed. */
  #recognise(chunk: Uint8Array): number {
    const bytes = chunk.subarray(0, FIRST_BYTES - this.#firstLength)
    this.#first.set(bytes, this.#firstLength)
    this.#firstLength += bytes.length
    this.#decide(false)
    return bytes.length
  }

  #decide(isWhole: boolean): void {
    const first = this.#first.subarray(0, this.#firstLength)
    const kind = kindOf(first, isWhole)
    if (kind === undefined) return
    if (typeof kind === 'object') {
      this.#outcome = kind.words
      return
    }
    this.#running = new RunningScan(SCANS[kind](this.#source, this.#limits))
    this.#feed(first)
  }

  #feed(bytes: Uint8Array): void {
    this.#running?.push(bytes)
    this.#outcome ??= this.#running?.outcome
  }
}
