/** The bytes of a picture as they come in. */
import { BrokenAnswer } from '#core/fault/broken-answer.ts'

/** Most pictures are larger. */
const FIRST_BYTES = 256 * 1024

/** In one piece of memory that doubles when it is full: many small ones would give the collector of garbage a lot to look at. */
export class PictureBytes {
  #bytes = new Uint8Array(0)
  #size = 0

  get size(): number {
    return this.#size
  }

  add(piece: Uint8Array): void {
    this.room(piece.length).set(piece)
    this.#size += piece.length
  }

  /** Where the next bytes may be written, at least so many; `filled` says how many were. */
  room(bytes: number): Uint8Array<ArrayBuffer> {
    if (this.#size + bytes > this.#bytes.length) {
      const larger = new Uint8Array(Math.max(FIRST_BYTES, 2 * this.#bytes.length, this.#size + bytes))
      larger.set(this.#bytes.subarray(0, this.#size))
      this.#bytes = larger
    }
    return this.#bytes.subarray(this.#size)
  }

  filled(bytes: number): void {
    this.#size += bytes
  }

  /** All that came. */
  whole(): Uint8Array<ArrayBuffer> {
    return this.#bytes.subarray(0, this.#size)
  }
}

/** A JSON escape that may go on in the next piece. .NET writes `+` as `\u002B`, PHP `/` as `\/`. */
const CUT_ESCAPE = /\\(u[\dA-Fa-f]{0,3})?$/

/** Decodes base64 as it comes, and checks it to the last character. */
export class Base64Decoder {
  readonly picture = new PictureBytes()
  /** Characters of an escape, and of a group of four, that are not whole yet. */
  #cutEscape = ''
  #cutGroup = ''
  #isPadded = false

  /** Takes the text as it stands in a JSON string. */
  push(jsonText: string): void {
    let text = this.#cutEscape + jsonText
    this.#cutEscape = ''
    if (text.includes('\\')) {
      this.#cutEscape = CUT_ESCAPE.exec(text)?.[0] ?? ''
      text = unescaped(text.slice(0, text.length - this.#cutEscape.length))
    }
    if (this.#isPadded && text.trim() !== '') throw new BrokenAnswer('a picture that goes on after its end')
    if (this.#isPadded || text === '') return
    const whole = this.#cutGroup + text
    const room = this.picture.room(Math.ceil(whole.length / 4) * 3)
    const { read, written } = decoded(() =>
      room.setFromBase64(whole, { lastChunkHandling: 'stop-before-partial' }),
    )
    this.picture.filled(written)
    this.#cutGroup = whole.slice(read)
    // Of `AA==` the second sign may come later.
    this.#isPadded = this.#cutGroup === '' && text.includes('=')
  }

  end(): void {
    if (this.#cutEscape !== '') throw new BrokenAnswer('a picture that is not base64')
    if (this.#cutGroup !== '') this.picture.add(decoded(() => Uint8Array.fromBase64(this.#cutGroup)))
  }
}

function unescaped(jsonText: string): string {
  return decoded(() => JSON.parse(`"${jsonText}"`) as string)
}

function decoded<Value>(decode: () => Value): Value {
  try {
    return decode()
  } catch (error) {
    if (error instanceof SyntaxError) throw new BrokenAnswer('a picture that is not base64')
    throw error
  }
}
