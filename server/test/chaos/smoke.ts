import type { ChaosOptions } from './rounds.ts'

/** Short enough for every change: each kind of fault a few times. */
export const SMOKE: ChaosOptions = {
  rounds: 2,
  seconds: 12,
  // A shared machine has to keep up with this.
  requestsPerSecond: 150,
  seed: 1,
  faults: { gateway: 3, postgres: 1, redis: 1 },
  folderPlan: 'mixed',
  // Slow is no violation; a house that never comes to rest is.
  restMs: 60_000,
  keep: false,
}
