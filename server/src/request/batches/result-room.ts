/**
 * Reserves space for the results of a chunk before its lines run, within the project's quota and the free
 * space of the disk.
 */
import { resultBytes } from '#core/batch/room.ts'
import type { BatchLine } from '#core/batch/line.ts'
import type { Catalog } from '#core/catalog/catalog.ts'
import type { Limits } from '#core/settings.ts'
import type { Batches, HeldChunk } from '#ports/batches.ts'
import type { DiskRoom } from '#ports/disk-room.ts'
import { noRoom } from '../files/arriving-file.ts'
import { admitOnDisk } from '../files/disk-fault.ts'

export interface RoomOutside {
  readonly batches: Pick<Batches, 'takeRoom'>
  readonly limits: Limits
  readonly catalog: () => Catalog
  /** The disk that holds the results. */
  readonly diskRoom: DiskRoom
}

/** Space reserved for lines of a chunk that run now. */
export interface RoomForLines extends Disposable {
  /** At least one. */
  readonly lines: number
}

export class ResultRoom {
  readonly #held: HeldChunk
  readonly #outside: RoomOutside
  #takenBytes = 0
  /** Bytes reserved for results of running lines. */
  #usedBytes = 0
  /** Groups of a chunk run concurrently; their reservations are made one after another. */
  #asking: Promise<unknown> = Promise.resolve()

  constructor(held: HeldChunk, outside: RoomOutside) {
    this.#held = held
    this.#outside = outside
  }

  /**
   * Reserves space for as many of the lines as fit, from the first on, until it is disposed of. `ofChunk`:
   * the results that the chunk has, and its remaining lines. Throws a fault when there is no space for the
   * first line.
   */
  linesFor(
    lines: readonly [BatchLine, ...BatchLine[]],
    ofChunk: () => { readonly resultBytes: number; readonly linesLeft: number },
  ): Promise<RoomForLines> {
    const asked = this.#asking.then(() => this.#linesFor(lines, ofChunk()))
    this.#asking = asked.catch(() => {})
    return asked
  }

  async #linesFor(
    lines: readonly [BatchLine, ...BatchLine[]],
    ofChunk: { readonly resultBytes: number; readonly linesLeft: number },
  ): Promise<RoomForLines> {
    const models = this.#outside.catalog().models
    const widthOf = (name: string): number | undefined => {
      const model = models.get(name)
      return model?.kind === 'embedding' ? model.facts.dimensions : undefined
    }
    const needs = lines.map((line) => resultBytes(line, widthOf))
    const allBytes = needs.reduce((sum, bytes) => sum + bytes, 0)
    const before = ofChunk.resultBytes + this.#usedBytes
    if (before + allBytes > this.#takenBytes) {
      // The rest of the chunk is likely to need as much per line, so one reservation covers all of it.
      const mostBytes = before + Math.ceil((allBytes / lines.length) * ofChunk.linesLeft)
      await this.take(before + (needs[0] ?? 0), Math.max(mostBytes, before + allBytes))
    }
    let [fitting, usedBytes] = [0, 0]
    for (; fitting < needs.length; fitting += 1) {
      const bytes = usedBytes + (needs[fitting] ?? 0)
      if (before + bytes > this.#takenBytes) break
      usedBytes = bytes
    }
    this.#usedBytes += usedBytes
    return { lines: fitting, [Symbol.dispose]: () => void (this.#usedBytes -= usedBytes) }
  }

  /** Throws a fault when fewer than `leastBytes` are free. */
  async take(leastBytes: number, mostBytes: number = leastBytes): Promise<void> {
    const { batches, limits, diskRoom } = this.#outside
    const { hold, batch } = this.#held
    await admitOnDisk(diskRoom, mostBytes)
    const taken = await batches.takeRoom(hold, { leastBytes, mostBytes }, limits.filesBytes)
    if (taken === 0) throw noRoom('nearly all it may', { project: batch.project, bytes: leastBytes }, limits)
    this.#takenBytes = taken
  }
}
