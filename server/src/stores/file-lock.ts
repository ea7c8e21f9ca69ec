/**
 * A lock that one process at a time can hold, and that its death gives back: the operating system keeps it, so it can't be
 * stale as a file with a process id in it can, and it counts between containers that share a volume.
 */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

export interface FileLock {
  release(): void
}

/** A handle that nobody refers to any more is closed, and its lock with it: they are kept until they are released. */
const held = new Set<DatabaseSync>()

/** SQLite's code for a lock that somebody else holds. */
const SQLITE_BUSY = 5

/** Locks `path`, which belongs to the lock alone. Undefined when somebody holds it: `holderOf` says who. */
export function lockFile(path: string): FileLock | undefined {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  // Node has no call for file locks, but its SQLite takes one for an exclusive transaction.
  const file = new DatabaseSync(path, { timeout: 0 })
  try {
    file.exec('begin exclusive')
  } catch (error) {
    file.close()
    if (error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY) return undefined
    throw error
  }
  leaveNote(path)
  held.add(file)
  return {
    release() {
      if (held.delete(file)) file.close()
    },
  }
}

/** Who holds the lock, for a person to read: `process 123 on host, since 2026-01-01T00:00:00.000Z`. */
export function holderOf(path: string): string {
  try {
    return readFileSync(notePath(path), 'utf8')
  } catch {
    // The note comes a moment after the lock.
    return 'another process'
  }
}

/** Beside the lock, not in it: a process that closes any handle of a locked file loses the lock. */
function notePath(path: string): string {
  return `${path}-holder`
}

function leaveNote(path: string): void {
  const unfinished = `${notePath(path)}.new`
  writeFileSync(unfinished, `process ${process.pid} on ${hostname()}, since ${new Date().toISOString()}`)
  renameSync(unfinished, notePath(path))
}
