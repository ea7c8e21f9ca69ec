import type { ChaosOptions } from './rounds.ts'

/** Short enough for every change: each kind of fault once or twice. */
export const SMOKE: ChaosOptions = {
  rounds: 1,
  seconds: 10,
  // A shared machine has to keep up with this.
  requestsPerSecond: 150,
  seed: 1,
  faults: { gateway: 2, postgres: 1, redis: 1 },
  folderPlan: 'mixed',
  // Slow is no violation; a cluster that never comes to rest is.
  restMs: 60_000,
  keep: false,
}
