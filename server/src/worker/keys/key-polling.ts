import type { KeySnapshot } from './key-snapshot.ts'
import { everyMs, type Repetition } from '../every.ts'
import type { Pulse } from '../pulse.ts'

/** Interval of reading where heartbeats do not say whether anything changed. */
const POLL_MS = 1000

/** Refreshes the snapshot until it is stopped. */
export function pollKeys(
  snapshot: KeySnapshot,
  onError: (error: unknown) => void,
  pulse?: Pick<Pulse, 'always' | 'said'>,
): Repetition {
  const repeat = pulse?.always ?? everyMs(POLL_MS)
  const polling = repeat(() => snapshot.refresh(pulse?.said('directory')), onError)
  return {
    async stop() {
      await polling.stop()
      await snapshot.end()
    },
  }
}
