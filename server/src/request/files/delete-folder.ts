import type { BlobStore } from '#ports/blobs.ts'

/** Names looked at between two turns of the event loop. */
const LISTED_AT_ONCE = 500

/** All that is kept in a folder which a row of this install leads to: nobody else knows its name. */
export async function deleteFolder(folder: string, blobs: Pick<BlobStore, 'list' | 'delete'>): Promise<void> {
  for (;;) {
    const listed = await blobs.list({ prefix: folder, limit: LISTED_AT_ONCE })
    for (const { name } of listed) await blobs.delete(name)
    if (listed.length < LISTED_AT_ONCE) return
  }
}
