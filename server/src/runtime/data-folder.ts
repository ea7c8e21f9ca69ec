import { accessSync, constants, existsSync, mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

/** Makes the data folder, private to its user, or throws the system's error with the path that is at fault. */
export function makeDataFolder(dataDir: string): void {
  const missing: string[] = []
  for (let folder = dataDir; !existsSync(folder); folder = dirname(folder)) missing.unshift(folder)
  // One by one: below folders such as /proc, where nothing can be made, Node's own recursion never ends.
  for (const folder of missing) makeOne(folder)
  const folder = statSync(dataDir)
  if (!folder.isDirectory())
    throw Object.assign(new Error('is no folder'), { code: 'ENOTDIR', path: dataDir })
  accessSync(dataDir, constants.W_OK | constants.X_OK)
  const problem = safetyProblem(dataDir, folder, process.getuid?.())
  if (problem !== undefined) throw new UnsafeFolder(problem)
}

/** Another user could replace what is in the folder. PostgreSQL refuses such a folder too. */
export class UnsafeFolder extends Error {}

const WRITABLE_FOR_GROUP = 0o020
const WRITABLE_FOR_ALL = 0o002

/** Why the data folder is not private to this user; undefined when it is. Windows has neither user ids nor modes. */
export function safetyProblem(
  dataDir: string,
  { uid, mode }: { readonly uid: number; readonly mode: number },
  user: number | undefined,
): string | undefined {
  if (user === undefined) return undefined
  if (uid !== user && uid !== 0)
    return `${dataDir} belongs to another user (${uid}), who can exchange what is in it. Run as that user, or make it yours: chown -R ${user} ${dataDir}`
  // An orchestrator may give a volume of root to a group that contains only this process.
  const forbidden = uid === user ? WRITABLE_FOR_GROUP | WRITABLE_FOR_ALL : WRITABLE_FOR_ALL
  if ((mode & forbidden) === 0) return undefined
  return uid === user
    ? `${dataDir} can be written by other users. Take that away: chmod 700 ${dataDir}`
    : `${dataDir} can be written by everybody. Name a folder below it, which Torana makes private: ${dataDir}/torana`
}

function makeOne(folder: string): void {
  try {
    mkdirSync(folder, { mode: 0o700 })
  } catch (error) {
    // Another process started at the same moment.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}
