/** Deletes the bytes of files that were deleted, have expired or never arrived. Only rows of this install lead to them. */
import type { BlobStore } from '#ports/blobs.ts'
import type { Files } from '#ports/files.ts'
import { batchPrefix } from '#core/batch/part.ts'
import { fileFolder } from '#core/files/blob-names.ts'
import { deleteFolder } from '#request/files/delete-folder.ts'
import { every, type Repetition } from './every.ts'

export interface FileWorkerParts {
  readonly files: Files
  readonly fileBlobs: BlobStore
  /** Whether this node does what one node does for all. */
  readonly mustForget: () => Promise<boolean>
}

export interface FileWorkerEvents {
  deleted(files: number): void
  failed(error: unknown): void
}

/** A caller who deletes a file expects it to be gone soon. */
const FORGET_MS = 30_000
const AT_ONCE = 100

export function startFileWorker(parts: FileWorkerParts, events: FileWorkerEvents): Repetition {
  const work = async (): Promise<void> => {
    if (!(await parts.mustForget())) return
    const deleted = await deleteDueFiles(parts)
    if (deleted > 0) events.deleted(deleted)
  }
  return every(FORGET_MS, work, (error) => events.failed(error))
}

/** How many there were. The bytes of what a batch made stay as long as one of its files, or else for the time of its results. */
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
