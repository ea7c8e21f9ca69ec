/** Measures the free space of a disk, and keeps a reserve of it free. */
import { statfs } from 'node:fs/promises'
import { DiskLow, type DiskRoom, type DiskSpace } from '#ports/disk-room.ts'

/** Undefined when the system does not report it. */
export async function diskSpace(folder: string): Promise<DiskSpace | undefined> {
  const disk = await statfs(folder).catch(() => undefined)
  return disk && { freeBytes: disk.bavail * disk.bsize, sizeBytes: disk.blocks * disk.bsize }
}

/** Share of the reserve that paid results may use. The rest is the ledger's. */
const PAID_SHARE = 0.5

export class MeasuredDisk implements DiskRoom {
  readonly #folder: string
  readonly #reserveBytes: number
  /** Bytes of writes in progress, which the free space may not show yet. */
  #takenBytes = 0

  /** `folder`: on the disk in question. */
  constructor(folder: string, reserveBytes: number) {
    this.#folder = folder
    this.#reserveBytes = reserveBytes
  }

  admit(bytes: number): Promise<void> {
    return this.#check(bytes, this.#reserveBytes)
  }

  async take(bytes: number): Promise<Disposable> {
    this.#takenBytes += bytes
    try {
      await this.#check(0, this.#reserveBytes * PAID_SHARE)
    } catch (error) {
      this.#takenBytes -= bytes
      throw error
    }
    return { [Symbol.dispose]: () => void (this.#takenBytes -= bytes) }
  }

  async #check(bytes: number, reserveBytes: number): Promise<void> {
    if (this.#reserveBytes === 0) return
    // Without a report of the system, the write itself fails when the disk is full.
    const space = await diskSpace(this.#folder)
    if (space === undefined || space.freeBytes - this.#takenBytes - bytes >= reserveBytes) return
    throw new DiskLow(
      `${this.#folder}: ${space.freeBytes} bytes are free, of which limits.diskReserveBytes keeps ${this.#reserveBytes}`,
    )
  }
}
