import { readdirSync, statSync, type Stats } from 'node:fs'
import { join } from 'node:path'

/** Files `<name>-<number>` of a folder, in the order of their numbers. */
export function segmentsIn(folder: string, name: string): string[] {
  return readdirSync(folder)
    .filter((file) => file.startsWith(`${name}-`) && Number.isInteger(segmentNumber(file)))
    .toSorted((left, right) => segmentNumber(left) - segmentNumber(right))
    .map((file) => join(folder, file))
}

export function segmentNumber(path: string): number {
  return Number(path.slice(path.lastIndexOf('-') + 1))
}

export function segmentPath(folder: string, name: string, number: number): string {
  return join(folder, `${name}-${number}`)
}

/**
 * Throws unless this open file is the one at its path. No later process finds what is written to a deleted file, or to one over which
 * another folder was mounted.
 */
export function checkInPlace(file: Stats, path: string): void {
  const there = statSync(path, { throwIfNoEntry: false })
  if (there?.ino === file.ino && there.dev === file.dev) return
  throw new Error(
    `${path} is not the file that this node has open: its folder was removed, exchanged or mounted over. Put it back, or restart the node`,
  )
}
