/** Reads what media say of themselves while their bytes pass: format, pixels, seconds, pages. */
import { MEDIA_FORMATS, type Media, type MediaFormat } from '../content/content.ts'
import { HeaderScan, type PictureLimits } from '../image/header-scan.ts'
import { RunningScan, Source } from '../image/scan.ts'
import { FIRST_BYTES, formatOf } from './first-bytes.ts'
import { flacScan, wavScan } from './wave-scan.ts'
import { gifScan } from './gif-scan.ts'
import { mp3Scan } from './mp3-scan.ts'
import { mp4Scan } from './mp4-scan.ts'
import { OggReader } from './ogg-reader.ts'
import { PdfReader } from './pdf-reader.ts'
import type { LengthScan, MediaReader } from './reader.ts'
import { webmScan } from './webm-scan.ts'

export type ScannedMedia = Pick<Media, 'kind' | 'format' | 'width' | 'height' | 'seconds' | 'pages'>

/** The limits of images are checked afterwards, with those of all media. */
const NO_LIMITS: PictureLimits = { maxPicturePixels: Infinity, maxPictureEdge: Infinity }

const READERS: Readonly<Record<MediaFormat, () => MediaReader>> = {
  png: imageReader,
  jpeg: imageReader,
  webp: imageReader,
  gif: () => headerReader(gifScan(new Source())),
  mp3: () => headerReader(mp3Scan(new Source())),
  wav: () => headerReader(wavScan(new Source())),
  ogg: () => new OggReader(),
  flac: () => headerReader(flacScan(new Source())),
  m4a: () => headerReader(mp4Scan(new Source())),
  mp4: () => headerReader(mp4Scan(new Source())),
  mov: () => headerReader(mp4Scan(new Source())),
  webm: () => headerReader(webmScan(new Source())),
  pdf: () => new PdfReader(),
}

/**
 * Takes any number of bytes, and keeps the first kilobyte and what one look at the rest needs, or the last pages of an Ogg. The
 * outcome does not depend on how the bytes are divided. Nothing throws.
 */
export class MediaScan {
  readonly #first = new Uint8Array(FIRST_BYTES)
  #firstLength = 0
  #size = 0
  #format: MediaFormat | undefined
  #reader: MediaReader | undefined
  #refused: string | undefined

  /** Takes the next bytes. Returns the reason for the caller once the file is refused. */
  push(chunk: Uint8Array): string | undefined {
    this.#size += chunk.length
    if (this.#refused !== undefined) return this.#refused
    let start = 0
    if (this.#reader === undefined) {
      start = Math.min(chunk.length, FIRST_BYTES - this.#firstLength)
      this.#first.set(chunk.subarray(0, start), this.#firstLength)
      this.#firstLength += start
      if (this.#firstLength < FIRST_BYTES) return undefined
      this.#begin()
    }
    if (start < chunk.length) this.#refused ??= this.#reader?.push(chunk.subarray(start))
    return this.#refused
  }

  /** All bytes have been pushed. Returns the reason when the file is refused. */
  end(): ScannedMedia | string {
    if (this.#reader === undefined) this.#begin()
    if (this.#refused !== undefined) return this.#refused
    const [format, facts] = [this.#format as MediaFormat, (this.#reader as MediaReader).end(this.#size)]
    return typeof facts === 'string' ? facts : { kind: MEDIA_FORMATS[format], format, ...facts }
  }

  #begin(): void {
    const first = this.#first.subarray(0, this.#firstLength)
    const format = formatOf(first)
    if (typeof format === 'object') {
      this.#refused = format.words
      return
    }
    this.#format = format
    this.#reader = READERS[format]()
    this.#refused = this.#reader.push(first)
  }
}

function imageReader(): MediaReader {
  const scan = new HeaderScan(NO_LIMITS)
  return {
    push: (bytes) => scan.push(bytes),
    end() {
      const header = scan.end()
      return typeof header === 'string' ? header : { width: header.width, height: header.height }
    },
  }
}

function headerReader(scan: LengthScan): MediaReader {
  const running = new RunningScan(scan)
  const refused = (): string | undefined =>
    typeof running.outcome === 'string' ? running.outcome : undefined
  return {
    push(bytes) {
      running.push(bytes)
      return refused()
    },
    end(size) {
      const { outcome } = running
      return typeof outcome === 'function' ? outcome(size) : (outcome ?? 'ends before its header does')
    },
  }
}
