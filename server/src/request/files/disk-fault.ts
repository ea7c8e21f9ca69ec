/** The fault of a request when a disk of this node has too little space. */
import { Fault } from '#core/fault/fault.ts'
import { DiskLow, type DiskRoom } from '#ports/disk-room.ts'

/** Retry time: space is freed when files expire or an operator adds some, which takes longer than seconds. */
const DISK_RETRY_MS = 60_000

export function diskFault(cause: DiskLow): Fault {
  const words =
    'The disk of this node has too little free space. Nothing was kept, and nothing was bought. Retry later.'
  return new Fault('disk_full', words, { retryAfterMs: DISK_RETRY_MS, cause })
}

/** Throws a fault when the disk has no space for these bytes, before they are bought. */
export async function admitOnDisk(disk: DiskRoom, bytes: number): Promise<void> {
  try {
    await disk.admit(bytes)
  } catch (error) {
    throw error instanceof DiskLow ? diskFault(error) : error
  }
}
