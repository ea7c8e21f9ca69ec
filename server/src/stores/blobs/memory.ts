import type { BlobStore, ListedBlob, OpenBlob } from '#ports/blobs.ts'
import type { Clock } from '#ports/clock.ts'
import { checkListOptions, checkName, checkRange, type ByteRange, type ListOptions } from './names.ts'

/** Gone with the process: for tests. */
export class MemoryBlobs implements BlobStore {
  readonly #clock: Clock
  readonly #blobs = new Map<string, { readonly bytes: Uint8Array; readonly modifiedMs: number }>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  async put(name: string, bytes: Uint8Array): Promise<void> {
    checkName(name)
    this.#blobs.set(name, { bytes: Uint8Array.from(bytes), modifiedMs: this.#clock.nowMs() })
  }

  async open(name: string, range?: ByteRange): Promise<OpenBlob | undefined> {
    checkName(name)
    const blob = this.#blobs.get(name)
    if (blob === undefined) return undefined
    const { bytes } = blob
    if (range) checkRange(range, bytes.length)
    return {
      size: bytes.length,
      bytes: partsOf(range ? bytes.subarray(range.first, range.last + 1) : bytes),
    }
  }

  async delete(name: string): Promise<void> {
    checkName(name)
    this.#blobs.delete(name)
  }

  async list(options: ListOptions): Promise<readonly ListedBlob[]> {
    checkListOptions(options)
    const { prefix, after = '', limit } = options
    return [...this.#blobs]
      .filter(([name]) => name.startsWith(prefix) && name > after)
      .toSorted(([left], [right]) => (left < right ? -1 : 1))
      .slice(0, limit)
      .map(([name, { bytes, modifiedMs }]) => ({ name, size: bytes.length, modifiedMs }))
  }
}

/** A copy: a reader may write into the bytes that it gets. */
async function* partsOf(bytes: Uint8Array): AsyncIterable<Uint8Array> {
  if (bytes.length > 0) yield Uint8Array.from(bytes)
}
