/**
 * A lock that one process at a time can hold, and that its death releases. The operating system keeps it, so it cannot be stale like
 * a file with a process id, and it works between containers that share a volume.
 */
import { chmodSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

export interface FileLock {
  release(): void
}

/** Handles of held locks. A handle without a reference would be closed, and its lock released with it. */
const held = new Set<DatabaseSync>()

/** SQLite's code for a lock that another process holds. */
const SQLITE_BUSY = 5

/** Locks `path`, a file only for this lock. Undefined if another process holds it: `holderOf` names it. */
export function lockFile(path: string): FileLock | undefined {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  makePrivate(path)
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

/** Mode 0600: any reader could hold the lock. */
function makePrivate(path: string): void {
  try {
    writeFileSync(path, '', { mode: 0o600, flag: 'wx' })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    // By path: closing a handle would release the lock that this process may hold.
    tryChmod(path, 0o600)
  }
}

/** The mode of another user's file cannot be changed: then it stays as it is. */
export function tryChmod(path: string, mode: number): void {
  try {
    chmodSync(path, mode)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') throw error
  }
}

/** The holder of the lock, for people: `process 123 on host, since 2026-01-01T00:00:00.000Z`. */
export function holderOf(path: string): string {
  try {
    return readFileSync(notePath(path), 'utf8')
  } catch {
    // The note is written a moment after the lock.
    return 'another process'
  }
}

/** A file of its own: a process that closes any handle of a locked file loses the lock. */
function notePath(path: string): string {
  return `${path}-holder`
}

function leaveNote(path: string): void {
  const unfinished = `${notePath(path)}.new`
  const note = `process ${process.pid} on ${hostname()}, since ${new Date().toISOString()}`
  writeFileSync(unfinished, note, { mode: 0o600 })
  renameSync(unfinished, notePath(path))
}
