/**
 * The path of a blob below the store's folder: its own name, except that one that ends in a SHA-256 lies in a folder of the digest's
 * first two digits, as in `pictures/ab/ab12…`. A folder of a million files is slow to read, and some file systems refuse it.
 */
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { isSegment } from './names.ts'

const DIGEST = /^[0-9a-f]{64}$/
const FAN = /^[0-9a-f]{2}$/

/** For a name that has been checked. */
export function fileOf(root: string, name: string): string {
  const segments = name.split('/')
  const last = segments.at(-1) ?? ''
  return DIGEST.test(last)
    ? join(root, ...segments.slice(0, -1), last.slice(0, 2), last)
    : join(root, ...segments)
}

export interface Entry {
  readonly name: string
  readonly isFolder: boolean
}

/** Other entries of a folder are ignored. */
export async function entriesIn(folder: string): Promise<readonly Entry[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true })
    return entries
      .filter((entry) => isSegment(entry.name) && (entry.isFile() || entry.isDirectory()))
      .map((entry) => ({ name: entry.name, isFolder: entry.isDirectory() }))
  } catch (error) {
    // A deletion removed it because it was empty.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}

interface Item {
  /** A name, or the common beginning of all names of a folder. */
  readonly key: string
  /** Path of a folder that is still to be read. */
  readonly folder: string | undefined
}

/** Names in byte order. A folder is read when its turn comes, and only if it may contain a requested name. */
export async function* walk(
  { prefix, after = '' }: { readonly prefix: string; readonly after?: string | undefined },
  entriesOf: (folder: string) => Promise<readonly Entry[]>,
): AsyncIterable<string> {
  const isWanted = ({ key, folder }: Item): boolean =>
    folder === undefined
      ? key.startsWith(prefix) && key > after
      : (key.startsWith(prefix) || prefix.startsWith(key)) && (key > after || after.startsWith(key))

  // The next one is the last.
  const ahead: Item[] = [{ key: '', folder: '' }]
  for (let item = ahead.pop(); item; item = ahead.pop()) {
    const { key, folder } = item
    if (folder === undefined) {
      yield key
      continue
    }
    const items = (await entriesOf(folder)).flatMap((entry) => itemOf(folder, entry) ?? [])
    // Next to a folder `ab` of digests there may be a name `ab5`: entries with a common beginning are sorted together.
    const alike = ahead.splice(ahead.findLastIndex((other) => !other.key.startsWith(key)) + 1)
    const next = [...items.filter(isWanted), ...alike]
    // One by one: a folder may have more entries than a call takes arguments.
    for (const one of next.toSorted((left, right) => (left.key < right.key ? 1 : -1))) ahead.push(one)
  }
}

function itemOf(folder: string, { name, isFolder }: Entry): Item | undefined {
  const path = folder === '' ? name : `${folder}/${name}`
  if (isFolder) return { key: FAN.test(name) ? path : `${path}/`, folder: path }
  if (!DIGEST.test(name)) return { key: path, folder: undefined }
  const segments = folder.split('/')
  // A foreign file: no name leads to it.
  if (segments.pop() !== name.slice(0, 2)) return undefined
  return { key: [...segments, name].join('/'), folder: undefined }
}
