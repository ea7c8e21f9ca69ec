import { accessSync, constants, existsSync, mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

/** Makes the data folder, private to its user, or throws the system's error with the path that is at fault. */
export function makeDataFolder(dataDir: string): void {
  const missing: string[] = []
  for (let folder = dataDir; !existsSync(folder); folder = dirname(folder)) missing.unshift(folder)
  // One by one: below folders such as /proc, where nothing can be made, Node's own recursion never ends.
  for (const folder of missing) makeOne(folder)
  if (!statSync(dataDir).isDirectory())
    throw Object.assign(new Error('is no folder'), { code: 'ENOTDIR', path: dataDir })
  accessSync(dataDir, constants.W_OK | constants.X_OK)
}

function makeOne(folder: string): void {
  try {
    mkdirSync(folder, { mode: 0o700 })
  } catch (error) {
    // Another process started at the same moment.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}
