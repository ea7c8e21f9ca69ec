/** The bytes of a picture as they come in. */
import { BrokenAnswer } from '#core/fault/broken-answer.ts'

/** Most pictures are larger. */
const FIRST_BYTES = 256 * 1024
/** What an upstream says of itself may be wrong. */
const MOST_EXPECTED_BYTES = 16 * 1024 * 1024

/** In one piece of memory that doubles when it is full: many small ones would give the collector of garbage a lot to look at. */
export class PictureBytes {
  #bytes = new Uint8Array(0)
  #size = 0
  readonly #expectedBytes: number

  /** As many as are likely to come; 0: nobody knows. */
  constructor(expectedBytes = 0) {
    this.#expectedBytes = Math.min(expectedBytes, MOST_EXPECTED_BYTES)
  }

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
      const size = Math.max(this.#expectedBytes, FIRST_BYTES, 2 * this.#bytes.length, this.#size + bytes)
      // Not filled with zeros: only what was written is handed out.
      const larger = new Uint8Array(Buffer.allocUnsafeSlow(size).buffer)
      larger.set(this.#bytes.subarray(0, this.#size))
      this.discard()
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

  /** Gives the memory back at once. Until the collector of garbage finds it, it would be looked for again and again. */
  discard(): void {
    this.#bytes.buffer.transfer(0)
  }
}

/** A JSON escape that may go on in the next piece. .NET writes `+` as `\u002B`, PHP `/` as `\/`. */
const CUT_ESCAPE = /\\(u[\dA-Fa-f]{0,3})?$/

/** So many characters of base64 stand for three bytes. */
const GROUP = 4

/** Decodes base64 as it comes, and checks it to the last character. */
export class Base64Decoder {
  readonly picture: PictureBytes
  /** Characters of an escape, and of a group of four, that are not whole yet. */
  #cutEscape = ''
  #cutGroup = ''
  #isPadded = false

  constructor(expectedBytes?: number) {
    this.picture = new PictureBytes(expectedBytes)
  }

  /** Takes the text as it stands in a JSON string. */
  push(jsonText: string): void {
    let text = this.#cutEscape + jsonText
    this.#cutEscape = ''
    if (text.includes('\\')) {
      this.#cutEscape = CUT_ESCAPE.exec(text)?.[0] ?? ''
      text = unescaped(text.slice(0, text.length - this.#cutEscape.length))
    }
    // What a cut group lacks is joined to it, and not the group to the piece, which would copy all of that.
    const lacking = this.#cutGroup === '' ? 0 : GROUP - (this.#cutGroup.length % GROUP)
    this.#decode(this.#cutGroup + text.slice(0, lacking))
    this.#decode(this.#cutGroup + text.slice(lacking))
  }

  #decode(text: string): void {
    if (this.#isPadded && text.trim() !== '') throw new BrokenAnswer('a picture that goes on after its end')
    if (this.#isPadded || text === '') return
    const room = this.picture.room(Math.ceil(text.length / GROUP) * 3)
    const { read, written } = decoded(() =>
      room.setFromBase64(text, { lastChunkHandling: 'stop-before-partial' }),
    )
    this.picture.filled(written)
    this.#cutGroup = text.slice(read)
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
