/** What an edit was made from, by the id of its job. Torana keeps neither images nor masks: only the browser that sent them has them. */
import type { EditFiles } from '../../api/image-calls.ts'
import { inBrowserStore } from '../../app/browser-store.ts'
import { Mask } from '../../workers/pixels/mask.ts'
import { keptJobs } from './typed-settings.ts'

export interface KeptEdit {
  readonly files: EditFiles
  readonly mask: Mask | undefined
}

/** A class does not survive the storage; its fields do. */
interface StoredEdit {
  readonly files: EditFiles
  readonly mask: Pick<Mask, 'width' | 'height' | 'words'> | undefined
}

/** Of 16 images with 25 MB each, this many are what a browser lets one address store. */
export const MAX_EDITS = 12
/** More than this is a collection, not an edit one tries out. */
const MAX_BYTES = 64_000_000

export async function keepEdit(job: string, { files, mask }: KeptEdit): Promise<void> {
  const bytes = files.images.reduce((sum, { size }) => sum + size, 0)
  if (bytes > MAX_BYTES) return
  const stored: StoredEdit = {
    files,
    mask: mask && { width: mask.width, height: mask.height, words: mask.words },
  }
  await inBrowserStore('edits', 'readwrite', (store) => store.put(stored, job))
  const newest = new Set(keptJobs('edit').slice(0, MAX_EDITS))
  const all = await inBrowserStore('edits', 'readonly', (store) => store.getAllKeys())
  for (const key of all ?? [])
    if (typeof key !== 'string' || !newest.has(key))
      await inBrowserStore('edits', 'readwrite', (store) => store.delete(key))
}

export async function keptEdit(job: string): Promise<KeptEdit | undefined> {
  const stored = await inBrowserStore(
    'edits',
    'readonly',
    (store) => store.get(job) as IDBRequest<StoredEdit | undefined>,
  )
  if (stored === undefined) return undefined
  const { files, mask } = stored
  return {
    files,
    mask: mask && new Mask(mask.width, mask.height, mask.words),
  }
}
