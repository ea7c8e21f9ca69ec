/** The bytes of a part while it grows: each result is written into them once, and keeps nothing else alive. */
import { MAX_HEAD_BYTES, type Piece } from '#core/batch/part.ts'

/** What it begins with: most batches of people who try them are small. */
const FIRST_BYTES = 64 * 1024
/** Bytes of parts that are kept are used again: every hundred megabytes anew would cost a look at all that the process holds. */
const MAX_SPARE = 8
const SPARE_BYTES = { least: 1024 * 1024, most: 8 * 1024 * 1024 }
const spare: Uint8Array<ArrayBuffer>[] = []
const encoder = new TextEncoder()
const NOTHING = new Uint8Array(0)

export class PartBytes {
  /** The head comes last and stands first: room for it is left at the beginning. */
  #bytes = new Uint8Array(MAX_HEAD_BYTES + FIRST_BYTES)
  #end = MAX_HEAD_BYTES

  /** Of what was written so far. */
  get size(): number {
    return this.#end - MAX_HEAD_BYTES
  }

  /** More is about to come: so much that it need not grow several times. */
  expect(bytes: number): void {
    const wanted = this.#end + bytes
    if (wanted > this.#bytes.length) this.#grow(wanted)
  }

  write(piece: Piece): void {
    const end = this.#end + piece.length
    if (end > this.#bytes.length) this.#grow(Math.max(end, this.#bytes.length * 2))
    if (typeof piece === 'string') encoder.encodeInto(piece, this.#bytes.subarray(this.#end))
    else this.#bytes.set(piece, this.#end)
    this.#end = end
  }

  /** The whole part. Nothing is written afterwards. */
  behind(head: string): Uint8Array<ArrayBuffer> {
    const start = MAX_HEAD_BYTES - head.length
    if (start < 0) throw new Error('the head of a part is too long to be found again')
    encoder.encodeInto(head, this.#bytes.subarray(start))
    return this.#bytes.subarray(start, this.#end)
  }

  /** The part is kept elsewhere, or nobody needs it. What `behind` gave must not be used any more. */
  release(): void {
    const { length } = this.#bytes
    if (length >= SPARE_BYTES.least && length <= SPARE_BYTES.most && spare.length < MAX_SPARE)
      spare.push(this.#bytes)
    this.#bytes = NOTHING
  }

  #grow(length: number): void {
    const place = spare.findIndex((bytes) => bytes.length >= length)
    const larger = place === -1 ? new Uint8Array(length) : (spare.splice(place, 1)[0] as typeof NOTHING)
    larger.set(this.#bytes.subarray(0, this.#end))
    this.#bytes = larger
  }
}
