/** Free space on a disk of this node, of which a reserve stays free: files must run out of room before the ledger does. */
import { StoreAway } from './store.ts'

export interface DiskSpace {
  readonly freeBytes: number
  readonly sizeBytes: number
}

export interface DiskRoom {
  /** For what arrives, or is not bought yet. Rejects with `DiskLow` when these bytes would leave less free than the reserve. */
  admit(bytes: number): Promise<void>
  /**
   * For bytes that are written now, and may be paid for: they may use half of the reserve. The room is taken until it is disposed
   * of. Rejects with `DiskLow` when there is none.
   */
  take(bytes: number): Promise<Disposable>
}

/** The disk has too little space left. Nothing was written. */
export class DiskLow extends StoreAway {}

/** For what is not on a disk of this node. */
export const ENDLESS_ROOM: DiskRoom = {
  async admit() {},
  take: async () => ({ [Symbol.dispose]() {} }),
}
