/**
 * Whether the place of blobs belongs to Torana alone. Names of jobs are unmistakable, but others may name their images
 * `pictures/<sha256>` too: a marker in the store says whether all of them are ours.
 */
import { randomUUID } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { isJobBlobName } from '#core/image/blob-names.ts'
import type { BlobPlace, BlobStore } from '#ports/blobs.ts'

/** The first word of the file says who owns the place; the rest is for people. */
const MARKER = 'torana-place.txt'
const MARKERS: Readonly<Record<BlobPlace, string>> = {
  own: 'own\n\nTorana keeps images here, and deletes them when they are older than limits.assetRetentionMs.\n',
  shared:
    'shared\n\nThere were files of others in pictures/ when Torana first used this place. So Torana deletes nothing in it,\n' +
    'except records and inputs of its own jobs. If all of pictures/ is Torana’s, write "own" into the first line.\n',
}
/** Names that are searched for a record of a job. */
const LOOKED_THROUGH = 500

/**
 * The owner of the place. It is marked at first use: as our own if there are no images yet, or if records of jobs show that Torana
 * used it before there were markers.
 */
export async function placeOf(blobs: BlobStore): Promise<BlobPlace> {
  const marker = await blobs.open(MARKER)
  // A place counts as ours only if its marker says so, whatever else a person wrote there.
  if (marker !== undefined) return /^own\s/.test(await text(marker.bytes)) ? 'own' : 'shared'
  const pictures = await blobs.list({ prefix: 'pictures/', limit: 1 })
  const records = await blobs.list({ prefix: 'jobs/', limit: LOOKED_THROUGH })
  const isOwn = pictures.length === 0 || records.some(({ name }) => isJobBlobName(name))
  const place = isOwn ? 'own' : 'shared'
  await blobs.put(MARKER, Buffer.from(MARKERS[place]))
  return place
}

/** The owner of the place, asked until the store has answered once. `onShared` is called when others own a part of it. */
export function placeOnce(blobs: BlobStore, onShared: () => void): () => Promise<BlobPlace> {
  let known: BlobPlace | undefined
  return async () => {
    if (known !== undefined) return known
    known = await placeOf(blobs)
    if (known === 'shared') onShared()
    return known
  }
}

/** Nodes on several machines compare it to see whether they share a folder. */
const FOLDER_ID = 'torana-place-id.txt'

/** The id in a folder, created at first use. Undefined where it cannot be read or written. */
export async function folderId(folder: string): Promise<string | undefined> {
  const file = join(folder, FOLDER_ID)
  // If another node creates it at the same moment, that one counts.
  await writeFile(file, `${randomUUID()}\n`, { flag: 'wx', mode: 0o600 }).catch(() => {})
  const id = await readFile(file, 'utf8').catch(() => '')
  return id.trim() === '' ? undefined : `folder ${id.trim()}`
}
