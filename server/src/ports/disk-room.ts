/** Free space on a disk of this node. A reserve stays free: files must run out of space before the ledger does. */
import { StoreUnreachable } from './store.ts'

export interface DiskSpace {
  readonly freeBytes: number
  readonly sizeBytes: number
}

export interface DiskRoom {
  /**
   * For bytes that arrive or are not bought yet. Rejects with `DiskLow` when they would leave less free than the reserve.
   */
  admit(bytes: number): Promise<void>
  /**
   * For bytes that are written now and may be paid for: they may use half of the reserve. The space is reserved until
   * disposal. Rejects with `DiskLow` when there is none.
   */
  take(bytes: number): Promise<Disposable>
}

/** The disk has too little space left. Nothing was written. */
export class DiskLow extends StoreUnreachable {}

/** For bytes that are not on a disk of this node. */
export const ENDLESS_ROOM: DiskRoom = {
  async admit() {},
  take: async () => ({ [Symbol.dispose]() {} }),
}
