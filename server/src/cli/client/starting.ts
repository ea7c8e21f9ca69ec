/** A node that is starting answers so at its ports before anything else. */
import { setTimeout as sleep } from 'node:timers/promises'

/** Limit for an answer about health, which a node gives at once. */
const ANSWER_MS = 2000
/** Wait of a command for a node: a first start on a slow machine takes about as long. */
const MAX_WAIT_MS = 30_000
/** Pause between two looks. */
const LOOK_MS = 250

/** True while a node is starting at this address, which has no path. */
export async function isStarting(url: string): Promise<boolean> {
  try {
    const answer = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(ANSWER_MS), redirect: 'error' })
    return answer.status === 503 && (await answer.text()) === 'starting\n'
  } catch {
    // Nothing answers there: the request of the command says why.
    return false
  }
}

/** Returns when the node at this address has started, there is none, or it has taken too long. */
export async function waitForStart(url: string): Promise<void> {
  const endMs = performance.now() + MAX_WAIT_MS
  while ((await isStarting(url)) && performance.now() < endMs) await sleep(LOOK_MS)
}
