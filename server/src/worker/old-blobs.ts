/** Deletes blobs that have expired, and nothing that others stored. */
import { isJobBlobName, isPictureName } from '#core/image/blob-names.ts'
import type { BlobPlace, BlobStore } from '#ports/blobs.ts'

/** Names listed before other work gets the event loop. */
const LISTED_AT_ONCE = 500

/** By age alone: an image that was made again counts as new. */
export async function deleteOldBlobs(blobs: BlobStore, place: BlobPlace, beforeMs: number): Promise<number> {
  let deleted = 0
  for (const prefix of ['pictures/', 'jobs/', 'inputs/']) {
    let after: string | undefined
    for (;;) {
      const listed = await blobs.list({ prefix, after, limit: LISTED_AT_ONCE })
      for (const { name, modifiedMs } of listed) {
        const isOurs = isJobBlobName(name) || (place === 'own' && isPictureName(name))
        if (!isOurs || modifiedMs >= beforeMs) continue
        await blobs.delete(name)
        deleted += 1
      }
      if (listed.length < LISTED_AT_ONCE) break
      after = listed.at(-1)?.name
    }
  }
  return deleted
}
