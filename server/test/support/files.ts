/** The dependencies of the gateway for files and their batches, in memory. */
import { FairShare } from '#core/schedule/fair-share.ts'
import type { BatchesDependencies } from '#http/gateway/batches/batches.ts'
import type { FilesDependencies } from '#http/gateway/files/routes.ts'
import type { UploadsDependencies } from '#http/gateway/files/upload-routes.ts'
import type { FileScanning } from '#ports/file-scan.ts'
import { ENDLESS_ROOM } from '#ports/disk-room.ts'
import { systemClock } from '#runtime/clock.ts'
import { hashing } from '#runtime/hashing.ts'
import { uuidv7Identifiers } from '#runtime/identifiers.ts'
import { MemoryBlobs } from '#stores/blobs/memory.ts'
import { MemoryBatches } from '#test/support/stores/batches.ts'
import { MemoryFileUploads } from '#test/support/stores/file-uploads.ts'
import { MemoryFiles } from '#test/support/stores/files.ts'

type FileParts = Pick<
  FilesDependencies & UploadsDependencies,
  'files' | 'fileUploads' | 'fileBlobs' | 'diskRoom' | 'fileRoom' | 'scanning' | 'segmentsOf'
> &
  Pick<BatchesDependencies, 'forBatches'>

export function memoryFileParts(scanning: FileScanning): FileParts {
  const files = new MemoryFiles(systemClock)
  const blobs = new MemoryBlobs(systemClock)
  return {
    forBatches: {
      batches: new MemoryBatches(systemClock, undefined, files),
      files,
      blobs,
      catalog: () => ({ models: new Map(), retired: new Map(), projects: [] }),
      clock: systemClock,
      identifiers: uuidv7Identifiers(systemClock),
      hashing,
    },
    files,
    fileUploads: new MemoryFileUploads(),
    fileBlobs: blobs,
    diskRoom: ENDLESS_ROOM,
    fileRoom: new FairShare({ capacity: 4, headroom: 3, maxWaiting: 4 }),
    scanning,
    segmentsOf: ({ id }) => files.segments(id),
  }
}
