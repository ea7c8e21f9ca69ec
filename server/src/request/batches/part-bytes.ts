/** The bytes of a part while it grows. Each result is written into them once and keeps nothing else alive. */
import { MAX_HEAD_BYTES, type Piece } from '#core/batch/part.ts'

/** Growth step. Only written bytes take memory: a chunk may wait for minutes between two of its calls. */
const STEP_BYTES = 256 * 1024
/** Address space reserved so that the buffer grows in place. A larger part moves once more. */
const USUAL_BYTES = 16 * 1024 * 1024
const encoder = new TextEncoder()
const NOTHING = new Uint8Array(0)

export class PartBytes {
  /** The head is written last but comes first in the part, so its space is reserved at the beginning. */
  #bytes = growing(MAX_HEAD_BYTES, USUAL_BYTES)
  #end = MAX_HEAD_BYTES

  /** Size of the written bytes. */
  get size(): number {
    return this.#end - MAX_HEAD_BYTES
  }

  write(piece: Piece): void {
    const end = this.#end + piece.length
    if (end > this.#bytes.length) this.#grow(end)
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

  /** Frees the buffer once the part is stored or discarded. The result of `behind` must not be used afterwards. */
  release(): void {
    // The garbage collector may take long to free it.
    this.#bytes.buffer.transferToFixedLength(0)
    this.#bytes = NOTHING
  }

  #grow(length: number): void {
    const wanted = Math.ceil(length / STEP_BYTES) * STEP_BYTES
    const { buffer } = this.#bytes
    if (wanted <= buffer.maxByteLength) return buffer.resize(wanted)
    const larger = growing(wanted, 2 * wanted)
    larger.set(this.#bytes)
    buffer.transferToFixedLength(0)
    this.#bytes = larger
  }
}

/** Follows the size of its buffer. */
function growing(length: number, maxByteLength: number): Uint8Array<ArrayBuffer> {
  return new Uint8Array(new ArrayBuffer(length, { maxByteLength }))
}
