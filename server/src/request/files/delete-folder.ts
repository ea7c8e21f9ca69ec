import type { BlobStore } from '#ports/blobs.ts'

/** Names listed before other work gets the event loop. */
const LISTED_AT_ONCE = 500

/** Deletes everything in a folder whose name only a row of this install records. */
export async function deleteFolder(folder: string, blobs: Pick<BlobStore, 'list' | 'delete'>): Promise<void> {
  for (;;) {
    const listed = await blobs.list({ prefix: folder, limit: LISTED_AT_ONCE })
    for (const { name } of listed) await blobs.delete(name)
    if (listed.length < LISTED_AT_ONCE) return
  }
}
