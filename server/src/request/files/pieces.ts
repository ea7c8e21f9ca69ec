/** Bytes that arrive, put into the store in pieces: never whole in memory. */
import type { BlobStore } from '#ports/blobs.ts'
import type { FileSegment } from '#ports/files.ts'

/** Two are in memory for each file that arrives: one fills while the other is kept. A file of 8 GB has two thousand. */
const PIECE_BYTES = 4 * 1024 * 1024
/** What a file begins with: most are small. */
const FIRST_BYTES = 64 * 1024

export interface PieceOutside {
  readonly blobs: BlobStore
  readonly nameOf: (piece: number) => string
  /** Takes room for bytes before they are kept. Rejects when there is none. */
  readonly takeRoom: (bytes: number) => Promise<void>
  /** Gets each piece in order, once it is kept. The piece is its own. */
  readonly kept: (piece: Uint8Array<ArrayBuffer>) => Promise<void>
}

export class PieceWriter {
  readonly #outside: PieceOutside
  /** Of pieces that are kept, or being kept. */
  readonly segments: FileSegment[] = []
  #piece = new Uint8Array(0)
  #filled = 0
  #keeping: Promise<void> = Promise.resolve()
  bytes = 0

  constructor(outside: PieceOutside) {
    this.#outside = outside
  }

  /** Resolves when more may be written. */
  async write(chunk: Uint8Array): Promise<void> {
    for (let rest = chunk; rest.length > 0;) {
      if (this.#piece.length === this.#filled) await this.#grow(rest.length)
      const part = rest.subarray(0, this.#piece.length - this.#filled)
      this.#piece.set(part, this.#filled)
      this.#filled += part.length
      this.bytes += part.length
      rest = rest.subarray(part.length)
    }
  }

  /** Where the bytes lie. */
  async finish(): Promise<readonly FileSegment[]> {
    if (this.#filled > 0) await this.#keep()
    await this.#keeping
    return this.segments
  }

  /** Resolves when nothing is being kept any more: what was is there to be deleted. */
  async stop(): Promise<void> {
    await this.#keeping.catch(() => {})
  }

  async #grow(bytes: number): Promise<void> {
    if (this.#filled === PIECE_BYTES) await this.#keep()
    const size = Math.min(PIECE_BYTES, Math.max(bytes, this.#filled * 2, FIRST_BYTES))
    const piece = new Uint8Array(size)
    piece.set(this.#piece.subarray(0, this.#filled))
    this.#piece = piece
  }

  async #keep(): Promise<void> {
    await this.#outside.takeRoom(this.#filled)
    const piece = this.#filled === this.#piece.length ? this.#piece : this.#piece.slice(0, this.#filled)
    const blob = this.#outside.nameOf(this.segments.length)
    this.segments.push({ blob, firstByte: 0, bytes: piece.length })
    this.#piece = new Uint8Array(0)
    this.#filled = 0
    await this.#keeping
    this.#keeping = this.#outside.blobs.put(blob, piece).then(() => this.#outside.kept(piece))
    // Told when it is waited for next; until then nobody listens.
    this.#keeping.catch(() => {})
  }
}
