/** What a caller gets when this node cannot write the files of a request. */
import { Fault } from '#core/fault/fault.ts'
import { DiskLow } from '#ports/disk-room.ts'
import { StoreUnreachable } from '#ports/store.ts'
import { diskFault } from '#request/files/disk-fault.ts'

/** Other errors are returned as they are. */
export function uploadFault(error: unknown): unknown {
  if (error instanceof DiskLow) return diskFault(error)
  if (!(error instanceof StoreUnreachable)) return error
  return new Fault(
    'uploads_unwritable',
    'This node cannot write the files of the request to its disk. Nothing was bought. Retry.',
    { cause: error },
  )
}
