/**
 * Extracts images from JSON text as it arrives. The base64 of each `b64_json`, and of each `url` that is a
 * data URI, is decoded chunk by chunk and replaced by its ordinal; the rest, the skeleton, is small. An
 * answer of 100 MB is therefore read in steps no longer than one chunk, and no string of megabytes is ever
 * built. Strings are recognised by their quotes alone. JSON has no raw line break within a string, so a line
 * break ends a string that was none: this makes it safe on event streams too, whose comments may contain a
 * single quote.
 */
import { BrokenAnswer } from '#core/fault/broken-answer.ts'
import { Base64Decoder, type PictureBytes } from '../connect/picture-bytes.ts'

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COLON = 0x3a
const SPACE = 0x20
const LINE_FEED = 0x0a
const OPENING = Uint8Array.of(QUOTE)

/** Longer than any name that is searched for. */
const NAME_LENGTH = 16
/** `data:image/svg+xml;charset=utf-8;base64,` with room: a data URI without `base64` by then is not base64. */
const HEAD_LENGTH = 256

/** What lies between the last string and here, except white space. */
type Gap = 'nothing' | 'colon' | 'other'

export class PictureScanner {
  readonly #keep: (bytes: Uint8Array) => void
  readonly #pictures = new Map<number, PictureBytes>()
  readonly #expectedBytes: number
  #current = new Base64Decoder()
  #count = 0
  #state: 'outside' | 'string' | 'head' | 'picture' = 'outside'
  /** The beginning of the current or last string. */
  #name = ''
  #gap: Gap = 'nothing'
  #isEscaped = false
  /** The beginning of a string that may be an image. */
  #head = ''

  /** `keep` receives the skeleton chunk by chunk. `expectedBytes` is the likely size of an image; 0 when it is unknown. */
  constructor(keep: (bytes: Uint8Array) => void, expectedBytes = 0) {
    this.#keep = keep
    this.#expectedBytes = expectedBytes
  }

  push(chunk: Uint8Array): void {
    let at = 0
    while (at < chunk.length) {
      if (this.#state === 'outside') at = this.#readOutside(chunk, at)
      else if (this.#state === 'string') at = this.#readString(chunk, at)
      else if (this.#state === 'head') at = this.#readHead(chunk, at)
      else at = this.#readPicture(chunk, at)
    }
  }

  /** The image of this ordinal of the skeleton; each is handed out once. */
  take(ordinal: unknown): PictureBytes {
    const picture = this.#pictures.get(ordinal as number)
    if (picture === undefined) throw new BrokenAnswer('a picture that is not a string')
    this.#pictures.delete(ordinal as number)
    return picture
  }

  #readOutside(chunk: Uint8Array, from: number): number {
    const quote = chunk.indexOf(QUOTE, from)
    const end = quote === -1 ? chunk.length : quote
    for (let at = from; at < end; at += 1) {
      const byte = chunk[at] as number
      if (byte > SPACE) this.#gap = this.#gap === 'nothing' && byte === COLON ? 'colon' : 'other'
    }
    this.#keep(chunk.subarray(from, end))
    if (quote === -1) return end
    if (this.#gap === 'colon' && (this.#name === 'b64_json' || this.#name === 'url')) {
      this.#state = 'head'
      this.#head = ''
    } else this.#openString()
    return quote + 1
  }

  #openString(): void {
    this.#keep(OPENING)
    this.#state = 'string'
    this.#name = ''
  }

  #close(name: string): void {
    this.#state = 'outside'
    this.#name = name
    this.#gap = 'nothing'
    this.#isEscaped = false
  }

  #readString(chunk: Uint8Array, from: number): number {
    for (let at = from; at < chunk.length; at += 1) {
      const byte = chunk[at] as number
      const isEnd = byte === QUOTE && !this.#isEscaped
      if (isEnd || byte === LINE_FEED) {
        this.#keep(chunk.subarray(from, at + 1))
        this.#close(isEnd ? this.#name : '')
        return at + 1
      }
      this.#isEscaped = byte === BACKSLASH && !this.#isEscaped
      if (this.#name.length < NAME_LENGTH) this.#name += String.fromCharCode(byte)
    }
    this.#keep(chunk.subarray(from))
    return chunk.length
  }

  #readHead(chunk: Uint8Array, from: number): number {
    const quote = chunk.indexOf(QUOTE, from)
    const end = Math.min(quote === -1 ? chunk.length : quote, from + HEAD_LENGTH - this.#head.length)
    this.#head += latin1(chunk, from, end)
    const isWhole = end === quote || this.#head.length === HEAD_LENGTH
    const found = base64StartIn(this.#head, this.#name, isWhole)
    if (found === 'unknown yet') return end
    if (found === 'no picture') {
      const head = Buffer.from(this.#head, 'latin1')
      this.#openString()
      this.#readString(head, 0)
      // A closing quote is left to the string, which knows whether it is escaped.
      return end
    }
    this.#current = new Base64Decoder(this.#expectedBytes)
    this.#current.push(this.#head.slice(found))
    this.#state = 'picture'
    return end
  }

  #readPicture(chunk: Uint8Array, from: number): number {
    const quote = chunk.indexOf(QUOTE, from)
    const end = quote === -1 ? chunk.length : quote
    this.#current.push(latin1(chunk, from, end))
    if (quote === -1) return end
    this.#current.end()
    this.#pictures.set(this.#count, this.#current.picture)
    this.#keep(Buffer.from(String(this.#count)))
    this.#count += 1
    this.#close('')
    return quote + 1
  }
}

/**
 * Where the base64 begins in the value of a field that may contain some. An empty one is left to the readers
 * of the skeleton.
 */
function base64StartIn(head: string, name: string, isWhole: boolean): number | 'no picture' | 'unknown yet' {
  if (head.startsWith('data:')) {
    const comma = head.indexOf(',')
    if (comma !== -1 && head.slice(0, comma).endsWith(';base64')) return comma + 1
    if (comma !== -1 || isWhole) throw new BrokenAnswer('a data URI that is not base64')
    return 'unknown yet'
  }
  if (!isWhole && head.length < 'data:'.length) return 'unknown yet'
  return name === 'b64_json' && head !== '' ? 0 : 'no picture'
}

function latin1(bytes: Uint8Array, start: number, end: number): string {
  return Buffer.prototype.latin1Slice.call(bytes, start, end)
}
