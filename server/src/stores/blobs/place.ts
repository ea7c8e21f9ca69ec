/**
 * Whose the place is that blobs are kept in. Names of jobs are unmistakable, but others may call their pictures
 * `pictures/<sha256>` as well: a marker in the store says whether all of them are ours.
 */
import { randomUUID } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { isJobBlobName } from '#core/image/blob-names.ts'
import type { BlobPlace, BlobStore } from '#ports/blobs.ts'

/** The first word of the file says whose the place is; the rest is for people. */
const MARKER = 'torana-place.txt'
const MARKERS: Readonly<Record<BlobPlace, string>> = {
  own: 'own\n\nTorana keeps images here, and deletes them when they are older than limits.assetRetentionMs.\n',
  shared:
    'shared\n\nThere were files of others in pictures/ when Torana first used this place. So Torana deletes nothing in it,\n' +
    'except records and inputs of its own jobs. If all of pictures/ is Torana’s, write "own" into the first line.\n',
}
/** Names among which a record of a job is looked for. */
const LOOKED_THROUGH = 500

/**
 * Whose the place is. At the first use it is marked: as our own where there are no pictures yet, or where records of jobs say
 * that Torana was here before there were markers.
 */
export async function placeOf(blobs: BlobStore): Promise<BlobPlace> {
  const marker = await blobs.open(MARKER)
  // Whatever else a person may have written there: what is not said to be ours is not ours.
  if (marker !== undefined) return /^own\s/.test(await text(marker.bytes)) ? 'own' : 'shared'
  const pictures = await blobs.list({ prefix: 'pictures/', limit: 1 })
  const records = await blobs.list({ prefix: 'jobs/', limit: LOOKED_THROUGH })
  const isOwn = pictures.length === 0 || records.some(({ name }) => isJobBlobName(name))
  const place = isOwn ? 'own' : 'shared'
  await blobs.put(MARKER, Buffer.from(MARKERS[place]))
  return place
}

/** Nodes on several machines know by it whether they share a folder. */
const FOLDER_ID = 'torana-place-id.txt'

/** The id in a folder, made at its first use. Undefined where it can't be read or written. */
export async function folderId(folder: string): Promise<string | undefined> {
  const file = join(folder, FOLDER_ID)
  // Another node may make it at the same moment; then that one counts.
  await writeFile(file, `${randomUUID()}\n`, { flag: 'wx', mode: 0o600 }).catch(() => {})
  const id = await readFile(file, 'utf8').catch(() => '')
  return id.trim() === '' ? undefined : `folder ${id.trim()}`
}
