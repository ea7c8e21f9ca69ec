import { statSync, type Stats } from 'node:fs'

/**
 * Throws unless this open file is the one at its path. What is written to a file that was removed, or that another folder was
 * mounted over, no later process finds.
 */
export function checkInPlace(file: Stats, path: string): void {
  const there = statSync(path, { throwIfNoEntry: false })
  if (there?.ino === file.ino && there.dev === file.dev) return
  throw new Error(
    `${path} is not the file that this node has open: its folder was removed, exchanged or mounted over. Put it back, or restart the node`,
  )
}
