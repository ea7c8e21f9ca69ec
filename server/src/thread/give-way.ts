/** A thread of heavy work lets the threads go first that answer callers and talk to upstreams. */
import { constants, setPriority } from 'node:os'

/** Called inside of a thread. Linux alone takes 0 for the thread that asks; elsewhere it would mean the whole process. */
export function giveWay(): void {
  if (process.platform === 'linux') setPriority(0, constants.priority.PRIORITY_BELOW_NORMAL)
}
