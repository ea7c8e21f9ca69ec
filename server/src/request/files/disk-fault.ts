/** What a caller hears when a disk of this node has too little space left. */
import { Fault } from '#core/fault/fault.ts'
import { DiskLow, type DiskRoom } from '#ports/disk-room.ts'

/** Space comes back when files expire, or when an operator makes some: not within seconds. */
const DISK_RETRY_MS = 60_000

export function diskFault(cause: DiskLow): Fault {
  const words =
    'The disk of this node has too little free space. Nothing was kept, and nothing was bought. Retry later.'
  return new Fault('disk_full', words, { retryAfterMs: DISK_RETRY_MS, cause })
}

/** Throws a fault when the disk has no room for these bytes, which are not bought yet. */
export async function admitOnDisk(disk: DiskRoom, bytes: number): Promise<void> {
  try {
    await disk.admit(bytes)
  } catch (error) {
    throw error instanceof DiskLow ? diskFault(error) : error
  }
}
