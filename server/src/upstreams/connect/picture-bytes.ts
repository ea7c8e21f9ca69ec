/** The bytes of an image as they arrive. */
import { BrokenAnswer } from '#core/fault/broken-answer.ts'

/** Initial size: most images are larger. */
const FIRST_BYTES = 256 * 1024
/** Bound on the announced size, which may be wrong. */
const MAX_EXPECTED_BYTES = 16 * 1024 * 1024

/** Uses one buffer that doubles when it is full: many small ones would burden the garbage collector. */
export class PictureBytes {
  #bytes = new Uint8Array(0)
  #size = 0
  readonly #expectedBytes: number

  /** `expectedBytes`: the likely size; 0 when it is unknown. */
  constructor(expectedBytes = 0) {
    this.#expectedBytes = Math.min(expectedBytes, MAX_EXPECTED_BYTES)
  }

  get size(): number {
    return this.#size
  }

  add(piece: Uint8Array): void {
    this.room(piece.length).set(piece)
    this.#size += piece.length
  }

  /** Where the next bytes may be written, at least `bytes` of them; `filled` says how many were. */
  room(bytes: number): Uint8Array<ArrayBuffer> {
    if (this.#size + bytes > this.#bytes.length) {
      const size = Math.max(this.#expectedBytes, FIRST_BYTES, 2 * this.#bytes.length, this.#size + bytes)
      // Not filled with zeros: only written bytes are handed out.
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

  /** All received bytes. */
  whole(): Uint8Array<ArrayBuffer> {
    return this.#bytes.subarray(0, this.#size)
  }

  /** Frees the memory immediately, rather than when the garbage collector finds it. */
  discard(): void {
    this.#bytes.buffer.transfer(0)
  }
}

/** A JSON escape that may continue in the next chunk. .NET writes `+` as `\u002B`, PHP `/` as `\/`. */
const CUT_ESCAPE = /\\(u[\dA-Fa-f]{0,3})?$/

/** Characters of base64 that encode three bytes. */
const GROUP = 4

/** Decodes base64 as it comes, and checks it to the last character. */
export class Base64Decoder {
  readonly picture: PictureBytes
  /** Incomplete characters of an escape, and of a group of four. */
  #cutEscape = ''
  #cutGroup = ''
  #isPadded = false

  constructor(expectedBytes?: number) {
    this.picture = new PictureBytes(expectedBytes)
  }

  /** Takes the text as it is written in a JSON string. */
  push(jsonText: string): void {
    let text = this.#cutEscape + jsonText
    this.#cutEscape = ''
    if (text.includes('\\')) {
      this.#cutEscape = CUT_ESCAPE.exec(text)?.[0] ?? ''
      text = unescaped(text.slice(0, text.length - this.#cutEscape.length))
    }
    // The missing characters are appended to the cut group, and not the group to the chunk, which would copy all of it.
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
    // In `AA==` the second sign may come later.
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
