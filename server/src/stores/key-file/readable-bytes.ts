import { closeSync, fstatSync, openSync, readSync, statSync, type Stats } from 'node:fs'
import type { ReadableBytes } from './sorted-rows.ts'

/** A file that stays readable after another one has taken its name. */
export function openFile(path: string): ReadableBytes {
  const file = openSync(path, 'r')
  const status = fstatSync(file)
  return {
    size: status.size,
    identity: identityIn(status),
    read(target, bytes, position) {
      // Not by a promise: the hot path does not wait for the event loop, and the system has the pages in memory.
      const read = readSync(file, target, 0, bytes, position)
      if (read !== bytes) throw new Error(`${path} ends after ${position + read} bytes`)
    },
    close: () => closeSync(file),
  }
}

/** What tells the file of this name from others that had it before. Undefined: there is none. */
export function identityOf(path: string): string | undefined {
  const status = statSync(path, { throwIfNoEntry: false })
  return status && identityIn(status)
}

function identityIn({ ino, size, mtimeMs }: Stats): string {
  return `${ino} ${size} ${mtimeMs}`
}

export function bytesInMemory(parts: readonly Buffer[]): ReadableBytes {
  const all = Buffer.concat(parts)
  return {
    size: all.length,
    identity: undefined,
    read(target, bytes, position) {
      if (all.copy(target, 0, position, position + bytes) !== bytes)
        throw new Error(`the packed keys end at ${all.length} bytes`)
    },
    close: () => {},
  }
}
