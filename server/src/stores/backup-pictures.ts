/** Images, files, results of batches and inputs of image jobs, stored after the tables of a backup. */
import { isFileBlobName } from '#core/files/blob-names.ts'
import { isJobBlobName, isPictureName } from '#core/image/blob-names.ts'
import type { BlobStore } from '#ports/blobs.ts'
import type { WriteLine } from '#ports/backup.ts'
import { BackupProblem, type BlobLine } from './backup-format.ts'

const PAGE = 500
/** Bytes of a blob in one line, which is held in memory several times. A multiple of three: base64 needs no padding in the middle. */
const LINE_BYTES = 24 * 1024 * 1024

/** Torana's folders of blobs. The place may be shared with others. */
const FOLDERS = ['batches/', 'files/', 'inputs/', 'jobs/', 'pictures/']

/** Resolves to the number of blobs. Blobs with a name that Torana does not use belong to others and are left out. */
export async function writePictures(blobs: BlobStore, write: WriteLine): Promise<number> {
  let count = 0
  for (const prefix of FOLDERS) count += await writeFolder(prefix, blobs, write)
  return count
}

async function writeFolder(prefix: string, blobs: BlobStore, write: WriteLine): Promise<number> {
  let count = 0
  for (let after: string | undefined; ;) {
    const page = await blobs.list({ prefix, after, limit: PAGE })
    for (const { name } of page) {
      if (!isPictureName(name) && !isJobBlobName(name) && !isFileBlobName(name)) continue
      const opened = await blobs.open(name)
      // It expired in between.
      if (opened === undefined) continue
      let from = 0
      for await (const part of parts(opened.bytes)) {
        const line: BlobLine = {
          blob: name,
          size: opened.size,
          ...(from > 0 && { from }),
          data: part.toString('base64'),
        }
        await write(JSON.stringify(line))
        from += part.length
      }
      count += 1
    }
    after = page.at(-1)?.name
    if (page.length < PAGE) return count
  }
}

/** An empty blob has one part too. */
async function* parts(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  let held: Uint8Array[] = []
  let size = 0
  for await (const part of bytes) {
    held.push(part)
    size += part.length
    while (size > LINE_BYTES) {
      const whole = Buffer.concat(held)
      yield whole.subarray(0, LINE_BYTES)
      held = [whole.subarray(LINE_BYTES)]
      size -= LINE_BYTES
    }
  }
  yield Buffer.concat(held)
}

/** Restores blobs, whose lines come one after another. */
export class PictureWriter {
  readonly #blobs: BlobStore
  #held: Buffer[] = []
  #size = 0

  constructor(blobs: BlobStore) {
    this.#blobs = blobs
  }

  /** Whether the blob is complete now, and was restored. */
  async put({ blob, size, from = 0, data }: BlobLine): Promise<boolean> {
    if (from !== this.#size) throw new BackupProblem(`${blob} is cut`)
    const bytes = Buffer.from(data, 'base64')
    this.#held.push(bytes)
    this.#size += bytes.length
    if (this.#size > size) throw new BackupProblem(`${blob} is cut`)
    if (this.#size < size) return false
    await this.#blobs.put(blob, Buffer.concat(this.#held))
    this.#held = []
    this.#size = 0
    return true
  }
}
