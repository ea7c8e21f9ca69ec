/** Reads the header of an image while it arrives, and refuses the image as early as possible. */
import type { ImageFormat } from '../catalog/catalog.ts'
import { FIRST_BYTES, kindOf } from './first-bytes-scan.ts'
import { jpegScan } from './jpeg-scan.ts'
import { pngScan } from './png-scan.ts'
import { RunningScan, Source, WORDS } from './scan.ts'
import type { PictureLimits, Scan, ScannedHeader } from './scan.ts'
import { webpScan } from './webp-scan.ts'

export type { PictureLimits, ScannedHeader } from './scan.ts'

interface Format {
  readonly scan: (source: Source, limits: PictureLimits) => Scan
  /** Reason when the file ends before its scan does. */
  readonly cut: string
}

const FORMATS: Readonly<Record<ImageFormat, Format>> = {
  png: { scan: pngScan, cut: WORDS.cut },
  jpeg: { scan: jpegScan, cut: WORDS.cut },
  webp: { scan: webpScan, cut: 'is shorter than its header says' },
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
  /** Reason when the file ends before its scan does. */
  #cut: string = WORDS.cut
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
    this.#outcome ??= this.#cut
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
    const { scan, cut } = FORMATS[kind]
    this.#running = new RunningScan(scan(new Source(), this.#limits))
    this.#cut = cut
    this.#feed(first)
  }

  #feed(bytes: Uint8Array): void {
    this.#running?.push(bytes)
    this.#outcome ??= this.#running?.outcome
  }
}
