/** What each file of the repository reads: other files that it imports or starts, and folders that it names. */
import { existsSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { ROOT } from './test-files.ts'

/** The rooms of the server are imported as `#core/…`. */
const { imports: ROOMS } = JSON.parse(readFileSync(join(ROOT, 'server/package.json'), 'utf8')) as {
  readonly imports: Readonly<Record<string, string>>
}
const SOURCE = /\.[jt]sx?$/
/** Texts in quotes: modules, threads that are started by their address, folders of pages and facts. */
const QUOTED = /['"`]((?:(?:\.{1,2}\/)+|#)?[\w@-][\w@./*{}-]*)/g
/** Folders that tests name to read all of them. `server/src` is there for rules about the code, which run on every change. */
const READ_WHOLE =
  /^(?:docs|deploy|contract|server\/catalog|server\/src\/stores\/postgres\/migrations|console\/src\/words)(?:\/|$)/

const read = new Map<string, readonly string[]>()

/** All that a file leads to, itself among it. Folders stand for all files in them. */
export function reachFrom(file: string): ReadonlySet<string> {
  const reached = new Set([file])
  for (const next of reached) for (const other of readsIn(next)) reached.add(other)
  return reached
}

function readsIn(file: string): readonly string[] {
  const known = read.get(file)
  if (known !== undefined) return known
  const reads = SOURCE.test(file) && existsSync(join(ROOT, file)) ? findReads(file) : []
  read.set(file, reads)
  return reads
}

function findReads(file: string): readonly string[] {
  const text = readFileSync(join(ROOT, file), 'utf8')
  const names = Array.from(text.matchAll(QUOTED), ([, name = '']) => name)
  return names.flatMap((name) => resolve(name, file) ?? [])
}

function resolve(name: string, from: string): string | undefined {
  if (name.startsWith('#')) {
    const room = Object.keys(ROOMS).find((one) => one === name || name.startsWith(one.replace('*', '')))
    return room && join('server', (ROOMS[room] ?? '').replace('*', name.slice(room.length - 1)))
  }
  if (name.startsWith('torana-bulk/')) return 'bulk/src'
  if (name.startsWith('torana-import')) return 'import-litellm/src/import-file.ts'
  if (name.startsWith('.') || SOURCE.test(name)) return existing(join(dirname(from), name))
  return READ_WHOLE.test(name) ? existing(name.replace(/[*{].*$/, '')) : undefined
}

/** A folder that is above the repository's own ones is named as the place to start from, not as something that is read. */
function existing(path: string): string | undefined {
  const clean = path.replace(/\/$/, '')
  if (clean.startsWith('..') || clean === '.' || !existsSync(join(ROOT, clean))) return undefined
  return statSync(join(ROOT, clean)).isFile() || READ_WHOLE.test(clean) ? clean : undefined
}
