/** Writes arriving bytes into the store segment by segment, so that a file is never whole in memory. */
import type { BlobStore } from '#ports/blobs.ts'
import type { FileSegment } from '#ports/files.ts'

/**
 * Size of a segment. Two per arriving file are in memory: one fills while the other is stored. A file of 8 GB
 * has two thousand.
 */
const SEGMENT_BYTES = 4 * 1024 * 1024
/** Initial size of the buffer: most files are small. */
const FIRST_BYTES = 64 * 1024

export interface SegmentOutside {
  readonly blobs: BlobStore
  readonly nameOf: (segment: number) => string
  /** Reserves quota for bytes before they are stored. Rejects when there is none. */
  readonly takeRoom: (bytes: number) => Promise<void>
  /** Receives each segment in order once it is stored, and owns it. */
  readonly kept: (segment: Uint8Array<ArrayBuffer>) => Promise<void>
}

export class SegmentWriter {
  readonly #outside: SegmentOutside
  /** Segments that are stored or being stored. */
  readonly segments: FileSegment[] = []
  #segment = new Uint8Array(0)
  #filled = 0
  #keeping: Promise<void> = Promise.resolve()
  bytes = 0

  constructor(outside: SegmentOutside) {
    this.#outside = outside
  }

  /** Resolves when more may be written. */
  async write(chunk: Uint8Array): Promise<void> {
    for (let rest = chunk; rest.length > 0;) {
      if (this.#segment.length === this.#filled) await this.#grow(rest.length)
      const part = rest.subarray(0, this.#segment.length - this.#filled)
      this.#segment.set(part, this.#filled)
      this.#filled += part.length
      this.bytes += part.length
      rest = rest.subarray(part.length)
    }
  }

  /** Returns where the bytes are. */
  async finish(): Promise<readonly FileSegment[]> {
    if (this.#filled > 0) await this.#keep()
    await this.#keeping
    return this.segments
  }

  /** Resolves when no segment is being stored any more. The stored ones can then be deleted. */
  async stop(): Promise<void> {
    await this.#keeping.catch(() => {})
  }

  async #grow(bytes: number): Promise<void> {
    if (this.#filled === SEGMENT_BYTES) await this.#keep()
    const size = Math.min(SEGMENT_BYTES, Math.max(bytes, this.#filled * 2, FIRST_BYTES))
    const segment = new Uint8Array(size)
    segment.set(this.#segment.subarray(0, this.#filled))
    this.#segment = segment
  }

  async #keep(): Promise<void> {
    await this.#outside.takeRoom(this.#filled)
    const segment =
      this.#filled === this.#segment.length ? this.#segment : this.#segment.slice(0, this.#filled)
    const blob = this.#outside.nameOf(this.segments.length)
    this.segments.push({ blob, firstByte: 0, bytes: segment.length })
    this.#segment = new Uint8Array(0)
    this.#filled = 0
    await this.#keeping
    this.#keeping = this.#outside.blobs.put(blob, segment).then(() => this.#outside.kept(segment))
    // The next caller that awaits it gets the error; until then it must not count as unhandled.
    this.#keeping.catch(() => {})
  }
}
