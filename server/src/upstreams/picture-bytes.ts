/** The bytes of a picture as they come in. */
import { BrokenAnswer } from '#core/embedding/answer-scan.ts'

/** A copy of so many bytes takes a millisecond or two. */
const BYTES_PER_STEP = 2 * 1024 * 1024

export class PictureBytes {
  readonly #pieces: Uint8Array[] = []
  #size = 0

  get size(): number {
    return this.#size
  }

  add(piece: Uint8Array): void {
    this.#pieces.push(piece)
    this.#size += piece.length
  }

  /** All of it in one piece. `nextTurn` lets others have the event loop between two steps. */
  async joined(nextTurn: () => Promise<unknown>): Promise<Uint8Array<ArrayBuffer>> {
    const bytes = new Uint8Array(this.#size)
    let at = 0
    let restedAt = 0
    for (const piece of this.#pieces) {
      bytes.set(piece, at)
      at += piece.length
      if (at - restedAt > BYTES_PER_STEP) {
        restedAt = at
        await nextTurn()
      }
    }
    return bytes
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
    const piece = new Uint8Array(Math.ceil(whole.length / 4) * 3)
    const { read, written } = decoded(() =>
      piece.setFromBase64(whole, { lastChunkHandling: 'stop-before-partial' }),
    )
    this.#cutGroup = whole.slice(read)
    // Of `AA==` the second sign may come later.
    this.#isPadded = this.#cutGroup === '' && text.includes('=')
    if (written > 0) this.picture.add(piece.subarray(0, written))
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
