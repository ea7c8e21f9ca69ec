/** Room for the results of a chunk, within what its project may keep and what the disk has: taken before its lines run. */
import { resultBytes } from '#core/batch/room.ts'
import type { BatchLine } from '#core/batch/line.ts'
import type { Catalog } from '#core/catalog.ts'
import type { Limits } from '#core/settings.ts'
import type { Batches, HeldChunk } from '#ports/batches.ts'
import type { DiskRoom } from '#ports/disk-room.ts'
import { noRoom } from '../files/arriving-file.ts'
import { admitOnDisk } from '../files/disk-fault.ts'

export interface RoomOutside {
  readonly batches: Pick<Batches, 'takeRoom'>
  readonly limits: Limits
  readonly catalog: () => Catalog
  /** Where results are kept. */
  readonly diskRoom: DiskRoom
}

/** Of a chunk, for lines that run now. */
export interface RoomForLines extends Disposable {
  /** At least one. */
  readonly lines: number
}

export class ResultRoom {
  readonly #held: HeldChunk
  readonly #outside: RoomOutside
  #takenBytes = 0
  /** For the results of lines that are running. */
  #usedBytes = 0
  /** Groups of a chunk run at the same time, and ask one after another. */
  #asking: Promise<unknown> = Promise.resolve()

  constructor(held: HeldChunk, outside: RoomOutside) {
    this.#held = held
    this.#outside = outside
  }

  /**
   * Room for as many of the lines as there is, from the first on, until it is disposed of. `ofChunk`: results that the chunk has, and
   * lines that it still has. Throws a fault when there is no room for the first.
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
      // The rest of the chunk is likely to need as much: one step for all of it.
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

  /** Throws a fault when there are not `leastBytes`. */
  async take(leastBytes: number, mostBytes: number = leastBytes): Promise<void> {
    const { batches, limits, diskRoom } = this.#outside
    const { hold, batch } = this.#held
    await admitOnDisk(diskRoom, mostBytes)
    const taken = await batches.takeRoom(hold, { leastBytes, mostBytes }, limits.filesBytes)
    if (taken === 0) throw noRoom('nearly all it may', { project: batch.project, bytes: leastBytes }, limits)
    this.#takenBytes = taken
  }
}
