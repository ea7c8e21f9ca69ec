import type { KeySnapshot } from './key-snapshot.ts'
import { every, type Repetition } from '../every.ts'

/** A revocation takes effect on every node within two seconds: one for this pause, one for the query itself. */
const POLL_MS = 1000

/** Refreshes the snapshot until it is stopped. */
export function pollKeys(snapshot: KeySnapshot, onError: (error: unknown) => void): Repetition {
  const polling = every(POLL_MS, () => snapshot.refresh(), onError)
  return {
    async stop() {
      await polling.stop()
      await snapshot.end()
    },
  }
}
