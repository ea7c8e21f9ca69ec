/**
 * Deletes the bytes of files that were deleted, have expired or never arrived; only rows of this install lead
 * to them. Drops uploads whose project was deleted or whose key was leaked.
 */
import type { BlobStore } from '#ports/blobs.ts'
import type { FileUploads } from '#ports/file-uploads.ts'
import type { Files } from '#ports/files.ts'
import { batchPrefix } from '#core/batch/part.ts'
import type { TermsInForce } from '#ports/keys.ts'
import { decided } from '#request/access/terms-now.ts'
import { fileFolder } from '#core/files/blob-names.ts'
import { deleteFolder } from '#request/files/delete-folder.ts'
import { every, type Repetition } from './every.ts'
import type { Pulse } from './pulse.ts'

export interface FileWorkerParts {
  readonly files: Files
  readonly fileBlobs: BlobStore
  readonly fileUploads: FileUploads
  readonly terms: TermsInForce
  /** Whether this node does the work that one node does for all. */
  readonly mustForget: () => Promise<boolean>
  readonly pulse?: Pick<Pulse, 'may'> | undefined
}

export interface FileWorkerEvents {
  deleted(files: number): void
  failed(error: unknown): void
}

/** Interval of deletion: a caller who deletes a file expects it to be gone soon. */
const FORGET_MS = 30_000
const AT_ONCE = 100
/** Uploads checked per round: the others wait for the next, and none lives longer than an hour. */
const UPLOADS_AT_ONCE = 1000

export function startFileWorker(parts: FileWorkerParts, events: FileWorkerEvents): Repetition {
  const work = async (): Promise<void> => {
    if (!(await parts.mustForget())) return
    await dropUploads(parts)
    if (parts.pulse?.may('files') === false) return
    const deleted = await deleteDueFiles(parts)
    if (deleted > 0) events.deleted(deleted)
  }
  return every(FORGET_MS, work, (error) => events.failed(error))
}

/** Drops uploads, so that no further part is accepted and their bytes are due. */
export async function dropUploads({
  files,
  fileUploads,
  terms,
}: Pick<FileWorkerParts, 'files' | 'fileUploads' | 'terms'>): Promise<void> {
  for (const upload of await fileUploads.pending(UPLOADS_AT_ONCE)) {
    if ((await decided(upload, false, terms)).does !== 'cancel') continue
    const ended = await fileUploads.end(upload.id, 'cancelled')
    if (ended?.state === 'cancelled') await files.giveUp(upload.fileId)
  }
}

/**
 * Returns how many there were. The bytes of a batch's results stay as long as one of its files, or for the
 * retention time of results.
 */
export async function deleteDueFiles({
  files,
  fileBlobs,
}: Pick<FileWorkerParts, 'files' | 'fileBlobs'>): Promise<number> {
  let deleted = 0
  for (;;) {
    const due = await files.due(AT_ONCE)
    for (const { id, batchId, endsResults } of due) {
      if (batchId === undefined) await deleteFolder(fileFolder(id), fileBlobs)
      else if (endsResults) await deleteFolder(batchPrefix(batchId), fileBlobs)
      await files.forgotten(id)
    }
    deleted += due.length
    if (due.length < AT_ONCE) return deleted
  }
}
