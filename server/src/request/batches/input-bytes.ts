/** Reads the bytes of chunks from the files that batches run. */
import { BoundedMap } from '#core/structure/bounded-map.ts'
import type { LineRange } from '#core/batch/chunk.ts'
import type { BlobStore } from '#ports/blobs.ts'
import type { Files, FileSegment } from '#ports/files.ts'
import { StoreUnreachable } from '#ports/store.ts'
import { bytesOf, segmentsWithin } from '../files/content.ts'

/**
 * Files whose segments are remembered. A file of 8 GB has two thousand segments and as many chunks, and each
 * chunk would read the whole list.
 */
const REMEMBERED = 64

export class InputBytes {
  readonly #files: Pick<Files, 'segments'>
  readonly #blobs: Pick<BlobStore, 'open'>
  /** The segments of an arrived file never move. */
  readonly #segments = new BoundedMap<string, readonly FileSegment[]>(REMEMBERED)

  constructor(files: Pick<Files, 'segments'>, blobs: Pick<BlobStore, 'open'>) {
    this.#files = files
    this.#blobs = blobs
  }

  /** Undefined when the file is gone. */
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
      // The file may be gone together with its blobs: the next read looks it up again.
      if (error instanceof StoreUnreachable) this.#segments.delete(fileId)
      throw error
    }
    return whole
  }
}
