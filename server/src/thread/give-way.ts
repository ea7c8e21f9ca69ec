/** Lowers the priority of a thread with heavy work below the threads that answer callers and talk to upstreams. */
import { constants, setPriority } from 'node:os'

/** Called inside a thread. Only Linux takes 0 for the calling thread; elsewhere it would mean the whole process. */
export function giveWay(): void {
  if (process.platform === 'linux') setPriority(0, constants.priority.PRIORITY_BELOW_NORMAL)
}
