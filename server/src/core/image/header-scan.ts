/** Reads the header of an image while it arrives, and refuses the image as early as possible. */
import type { ImageFormat } from '../catalog/catalog.ts'
import { FIRST_BYTES, kindOf } from './first-bytes-scan.ts'
import { jpegScan } from './jpeg-scan.ts'
import { pngScan } from './png-scan.ts'
import { MAX_LOOK_BYTES, Source, WORDS } from './scan.ts'
import type { PictureLimits, Scan, ScannedHeader, Wish } from './scan.ts'
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

interface RunningScan {
  readonly scan: Scan
  readonly cut: string
  wish: Wish
  /** Bytes of the wish that have arrived. */
  got: number
}

/**
 * Holds only the first kilobyte, and what one look at the rest needs: files may have any size. The outcome does not depend
 * on how the bytes are divided. Nothing throws. Bytes after the image are ignored.
 */
export class HeaderScan {
  readonly #limits: PictureLimits
  readonly #first = new Uint8Array(FIRST_BYTES)
  #firstLength = 0
  readonly #looked = new Uint8Array(MAX_LOOK_BYTES)
  #running: RunningScan | undefined
  #outcome: ScannedHeader | string | undefined

  constructor(limits: PictureLimits) {
    this.#limits = limits
  }

  /** Takes the next bytes. Returns the reason for the caller as soon as the image is refused. */
  push(chunk: Uint8Array): string | undefined {
    if (this.#outcome === undefined) {
      const start = this.#running === undefined ? this.#recognise(chunk) : 0
      if (this.#running !== undefined) this.#feed(this.#running, chunk.subarray(start))
    }
    return typeof this.#outcome === 'string' ? this.#outcome : undefined
  }

  /** All bytes have been pushed. Returns the reason when they hold no valid header. */
  end(): ScannedHeader | string {
    if (this.#outcome === undefined && this.#running === undefined) this.#decide(true)
    this.#outcome ??= this.#running?.cut ?? WORDS.cut
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
    const { scan: begin, cut } = FORMATS[kind]
    const scan = begin(new Source(), this.#limits)
    const started = scan.next()
    // No scan ends before its first look.
    if (started.done === true) this.#outcome = started.value
    else {
      this.#running = { scan, cut, wish: started.value, got: 0 }
      this.#feed(this.#running, first)
    }
  }

  #feed(running: RunningScan, bytes: Uint8Array): void {
    let offset = 0
    while (this.#outcome === undefined) {
      const { wish, got } = running
      const part = Math.min(wish.bytes - got, bytes.length - offset)
      if (wish.kind === 'look') this.#looked.set(bytes.subarray(offset, offset + part), got)
      running.got += part
      offset += part
      if (running.got < wish.bytes) return
      const next = running.scan.next(this.#looked.subarray(0, wish.kind === 'look' ? wish.bytes : 0))
      if (next.done === true) this.#outcome = next.value
      else Object.assign(running, { wish: next.value, got: 0 })
    }
  }
}
