/** What a node stores on its disk while it lives: `<data>/nodes/<node id>/`, locked by its process. */
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { Spool } from '#ports/ledger.ts'
import { lockFile } from '../file-lock.ts'
import { FileJournal, readOpenCalls, type OpenCalls } from './journal.ts'
import { FileSpool, isForPeople } from './spool.ts'

const SUFFIX = '.lock'
/** The lock of a node, whose id is a UUIDv7: nothing else is locked, read or removed. */
const LOCK = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}\.lock$/
/** A lock file without a folder is a node that is just starting, or one that died while starting. */
const STARTING_MS = 60_000

export interface NodeFolder {
  readonly journal: FileJournal
  readonly spool: FileSpool
  /** Removes the folder if nothing in it is needed any more; else leaves it for the next start. */
  leave(isEmpty: boolean): void
}

/** Undefined when another process took this very folder first. */
export function makeNodeFolder(dataDir: string, nodeId: string): NodeFolder | undefined {
  const folder = join(dataDir, 'nodes', nodeId)
  const lock = lockFile(`${folder}${SUFFIX}`)
  if (lock === undefined) return undefined
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const journal = new FileJournal(folder)
  const spool = new FileSpool(folder)
  return {
    journal,
    spool,
    leave(isEmpty) {
      journal.end()
      if (isEmpty) remove(folder)
      lock.release()
    },
  }
}

/** The folder of a node whose process has died. Its lock is held until `discard` or `release`. */
export interface AbandonedFolder {
  readonly nodeId: string
  readonly spool: Spool
  readonly openCalls: OpenCalls
  discard(): void
  release(): void
}

/** The folders of dead nodes, one after another; only one process gets each. */
export function* abandonedFolders(dataDir: string): Generator<AbandonedFolder> {
  const parent = join(dataDir, 'nodes')
  if (!existsSync(parent)) return
  for (const file of readdirSync(parent)) {
    if (!LOCK.test(file)) continue
    const path = join(parent, file)
    const lock = lockFile(path)
    if (lock === undefined) continue
    const folder = path.slice(0, -SUFFIX.length)
    if (!existsSync(folder)) {
      const startedMs = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0
      if (Date.now() - startedMs > STARTING_MS) remove(folder)
      lock.release()
      continue
    }
    yield {
      nodeId: basename(folder),
      spool: new FileSpool(folder),
      openCalls: readOpenCalls(folder),
      discard() {
        remove(folder)
        lock.release()
      },
      release: () => lock.release(),
    }
  }
}

/** The folder first: a lock without a folder is harmless, a folder without a lock would never be found. */
function remove(folder: string): void {
  keepForPeople(folder)
  rmSync(folder, { recursive: true, force: true })
  for (const rest of ['', '-holder', '-journal']) rmSync(`${folder}${SUFFIX}${rest}`, { force: true })
}

/** What a person has to look at outlives the node: `<data>/damaged/<node id>-<file>`. */
function keepForPeople(folder: string): void {
  const files = existsSync(folder) ? readdirSync(folder).filter(isForPeople) : []
  if (files.length === 0) return
  const kept = join(folder, '../../damaged')
  mkdirSync(kept, { recursive: true, mode: 0o700 })
  for (const file of files) renameSync(join(folder, file), join(kept, `${basename(folder)}-${file}`))
}
