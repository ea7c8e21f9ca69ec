/** Opens what files need: their rows, their bytes, the process that reads them, and their worker. */
import { join } from 'node:path'
import { FairShare } from '#core/schedule/fair-share.ts'
import type { FilesDependencies } from '#http/gateway/files/routes.ts'
import type { UploadsDependencies } from '#http/gateway/files/upload-routes.ts'
import type { ListenerDependencies } from '#http/gateway/caller/journey.ts'
import type { TermsInForce } from '#ports/keys.ts'
import { StoreUnreachable } from '#ports/store.ts'
import { segmentsIn } from '#request/batches/result-segments.ts'
import { wait } from '#runtime/clock.ts'
import { sharedYield } from '#runtime/event-loop.ts'
import { ProcessFileScanning } from '#runtime/file-scan.ts'
import { startFileWorker } from '#worker/files.ts'
import type { Basics } from './basics.ts'
import type { Blobs } from './blobs.ts'
import type { Stores } from './stores.ts'

export interface FileParts {
  readonly stores: Stores
  readonly blobs: Blobs
  readonly terms: TermsInForce
}

/** Files that arrive on this node at once. Each takes two pieces of 4 MB in memory. */
const ARRIVING_AT_ONCE = 16
/** A project gets at most three times the places that stay free: a file may arrive for minutes. */
const HEADROOM = 3

export async function openFiles(basics: Basics, { stores, blobs, terms }: FileParts) {
  const { settings, limits, log } = basics
  const { files } = stores
  const fileBlobs = blobs.kept
  const scanning = await ProcessFileScanning.open(join(settings.dataDir, 'scans'))
  const worker = startFileWorker(
    {
      files,
      fileBlobs,
      fileUploads: stores.fileUploads,
      terms,
      mustForget: stores.isEldest,
      pulse: stores.pulse,
    },
    {
      deleted: (count) => log.info({ files: count }, 'old files were deleted'),
      failed(error) {
        if (!(error instanceof StoreUnreachable)) log.error({ err: error }, 'old files could not be deleted')
      },
    },
  )
  return {
    forGateway: {
      files,
      fileUploads: stores.fileUploads,
      fileBlobs,
      diskRoom: blobs.room,
      segmentsOf: segmentsIn(files, stores.batches),
      scanning,
      fileRoom: new FairShare({
        capacity: ARRIVING_AT_ONCE,
        headroom: HEADROOM,
        maxWaiting: ARRIVING_AT_ONCE,
      }),
      limits,
      wait,
      yieldOnArrival: sharedYield(4),
    } satisfies Omit<FilesDependencies & UploadsDependencies, keyof ListenerDependencies | 'bodyRoom'>,
    async [Symbol.asyncDispose]() {
      await worker.stop()
      await scanning.close()
    },
  }
}
