/**
 * The socket through which commands on the same machine reach their node. Any user of a machine can listen on a port before
 * the node does, and would be sent the admin token. A socket in the data folder has an owner.
 */
import { lstatSync, readdirSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'

/** Nodes that share a data folder have a port each. */
export function controlSocketOf(dataDir: string, controlPort: number | string): string {
  return join(dataDir, `control-${controlPort}.sock`)
}

/** Longest path that the system can dial: 108 bytes with the final zero on Linux, 104 elsewhere. */
const LONGEST_PATH_BYTES = process.platform === 'linux' ? 107 : 103

/** Why there can be no socket at this path, if so. */
export function pathProblem(path: string): string | undefined {
  const bytes = Buffer.byteLength(path)
  if (bytes <= LONGEST_PATH_BYTES) return undefined
  return `its path has ${bytes} bytes, and a socket can have ${LONGEST_PATH_BYTES}: use a data folder with a shorter path`
}

/** Removes the socket of a killed node. Call it only while holding the control port: then no other node has the socket. */
export function removeLeftSocket(path: string): void {
  if (lstatSync(path, { throwIfNoEntry: false })?.isSocket()) unlinkSync(path)
}

/**
 * Whether the socket belongs to a node of ours: of this user, or of the owner of the data folder if this is
 * root. Undefined when there is none.
 */
export function isOwnSocket(path: string, dataDir: string): boolean | undefined {
  const socket = lstatSync(path, { throwIfNoEntry: false })
  if (socket === undefined) return undefined
  const user = process.getuid?.()
  if (!socket.isSocket() || user === undefined) return false
  return socket.uid === user || (user === 0 && socket.uid === lstatSync(dataDir).uid)
}

/** Sockets of nodes of ours in a data folder, whatever their ports. Empty where there is no such folder. */
export function ownSocketsIn(dataDir: string): readonly string[] {
  let names: readonly string[]
  try {
    names = readdirSync(dataDir)
  } catch {
    return []
  }
  return names
    .filter((name) => /^control-\d+\.sock$/.test(name))
    .sort()
    .map((name) => join(dataDir, name))
    .filter((path) => isOwnSocket(path, dataDir) === true)
}
