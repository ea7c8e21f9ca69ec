/** The bytes of chunks, out of the files that batches run. */
import { BoundedMap } from '#core/bounded-map.ts'
import type { LineRange } from '#core/batch/chunk.ts'
import type { BlobStore } from '#ports/blobs.ts'
import type { Files, FileSegment } from '#ports/files.ts'
import { StoreAway } from '#ports/store.ts'
import { bytesOf, segmentsWithin } from '../files/content.ts'

/** Files whose places are remembered. A file of 8 GB has two thousand pieces, and as many chunks: each would ask for all of them. */
const REMEMBERED = 64

export class InputBytes {
  readonly #files: Pick<Files, 'segments'>
  readonly #blobs: Pick<BlobStore, 'open'>
  /** A file that has arrived stays where it is. */
  readonly #segments = new BoundedMap<string, readonly FileSegment[]>(REMEMBERED)

  constructor(files: Pick<Files, 'segments'>, blobs: Pick<BlobStore, 'open'>) {
    this.#files = files
    this.#blobs = blobs
  }

  /** Undefined: the file is gone. */
  async read(
    fileId: string,
    { firstByte, bytes }: Pick<LineRange, 'firstByte' | 'bytes'>,
  ): Promise<Uint8Array | undefined> {
    const segments = this.#segments.get(fileId) ?? (await this.#files.segments(fileId))
    if (segments.length === 0) return undefined
    this.#segments.set(fileId, segments)
    const range = { first: firstByte, last: firstByte + bytes - 1 }
    const whole = new Uint8Array(bytes)
    let at = 0
    try {
      for await (const piece of bytesOf(segmentsWithin(segments, range), this.#blobs)) {
        whole.set(piece, at)
        at += piece.length
      }
    } catch (error) {
      // Perhaps the file is gone with its blobs: the next look asks for it.
      if (error instanceof StoreAway) this.#segments.delete(fileId)
      throw error
    }
    return whole
  }
}
