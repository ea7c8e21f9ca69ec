/** Pictures and what belongs to image jobs, beside the tables of a backup. */
import type { BlobStore } from '#ports/blobs.ts'
import type { WriteLine } from '#ports/backup.ts'
import { BackupProblem, type BlobLine } from './backup-format.ts'

const PAGE = 500
/** Of the largest picture that Torana keeps, several times over: it is held in memory once. */
const MAX_BLOB_BYTES = 40 * 1024 * 1024

/** How many there were. */
export async function writePictures(blobs: BlobStore, write: WriteLine): Promise<number> {
  let count = 0
  for (let after: string | undefined; ;) {
    const page = await blobs.list({ prefix: '', after, limit: PAGE })
    for (const { name } of page) {
      const opened = await blobs.open(name)
      // It expired in between.
      if (opened === undefined) continue
      if (opened.size > MAX_BLOB_BYTES)
        throw new BackupProblem(
          `${name} has ${opened.size} bytes, and a backup takes ${MAX_BLOB_BYTES} at most`,
        )
      const parts: Uint8Array[] = []
      for await (const part of opened.bytes) parts.push(part)
      const data = Buffer.concat(parts).toString('base64')
      await write(JSON.stringify({ blob: name, size: opened.size, data } satisfies BlobLine))
      count += 1
    }
    after = page.at(-1)?.name
    if (page.length < PAGE) return count
  }
}

export async function putPicture(blobs: BlobStore, { blob, size, data }: BlobLine): Promise<void> {
  const bytes = Buffer.from(data, 'base64')
  if (bytes.length !== size) throw new BackupProblem(`${blob} is cut`)
  await blobs.put(blob, bytes)
}
