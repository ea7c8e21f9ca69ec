/**
 * Stores the images of a batch in the batch's folder, so that they live as long as its results and are
 * deleted with them.
 */
import { batchPrefix } from '#core/batch/part.ts'
import type { BlobStore } from '#ports/blobs.ts'

/** The store as a job sees it. `batchId` is undefined for a job outside batches. */
export function blobsOfBatch(batchId: string | undefined, blobs: BlobStore): BlobStore {
  if (batchId === undefined) return blobs
  const folder = batchPrefix(batchId)
  return {
    put: (name, bytes) => blobs.put(folder + name, bytes),
    open: (name, range) => blobs.open(folder + name, range),
    delete: (name) => blobs.delete(folder + name),
    async list({ prefix, after, limit }) {
      const listed = await blobs.list({
        prefix: folder + prefix,
        after: after === undefined ? undefined : folder + after,
        limit,
      })
      return listed.map((blob) => ({ ...blob, name: blob.name.slice(folder.length) }))
    },
  }
}
