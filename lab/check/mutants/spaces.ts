/** Faults of spaces: which vectors may be mixed. */
import type { Mutant } from './mutant.ts'

export const SPACES: readonly Mutant[] = [
  {
    id: 'M10',
    says: 'a vector of another’s call is used though its deployment was quarantined meanwhile',
    file: 'request/embeddings/shared-vectors.ts',
    old: `else if (!sharing.isTrusted(arrived.deployment, arrived.madeAtMs)) wanted.push(slot)
`,
    new: '',
    tests: ['src/request/embeddings/shared-vectors.test.ts'],
  },
  {
    id: 'M14',
    says: 'a probe in use that was sent before a space was accepted is judged by it',
    file: 'worker/spaces/in-use.ts',
    old: 'reference === undefined || seen.sentAtMs < reference.acceptedAtMs',
    new: 'reference === undefined',
    tests: ['src/worker/spaces/in-use.test.ts'],
  },
  {
    id: 'M15',
    says: 'deployments are probed before the store was read',
    file: 'worker/spaces/guard.ts',
    old: `    if (!this.#known.hasRead) return
    for`,
    new: '    for',
    tests: ['src/worker/spaces/schedule.test.ts'],
  },
  {
    id: 'M16',
    says: 'a deployment returns at the limit at which it left',
    file: 'core/embedding/space-check.ts',
    old: 'furthest * (isReturning ? RETURN_SHARE : 1)',
    new: 'furthest',
    tests: ['src/core/embedding/space-noise.test.ts'],
  },
  {
    id: 'M49',
    says: 'vectors of another length are of the same space',
    file: 'core/embedding/space-check.ts',
    old: '  if (normDrift > MAX_NORM_DRIFT) {',
    new: '  if (normDrift > 1e9) {',
    tests: ['src/core/embedding/space-check.test.ts'],
  },
  {
    id: 'M50',
    says: 'clocks of nodes are taken to agree to the millisecond',
    file: 'worker/spaces/knowledge.ts',
    old: 'made.untilMs > fromMs - CLOCK_SKEW_MS',
    new: 'made.untilMs > fromMs',
    tests: ['src/worker/spaces/in-use.test.ts'],
  },
  {
    id: 'M51',
    says: 'images of a deployment whose texts disagree complete the reference',
    file: 'worker/spaces/references.ts',
    old: "verdict === 'quarantined' ? known : store.addImages",
    new: 'store.addImages',
    tests: ['src/worker/spaces/images.test.ts', 'src/worker/spaces/guard.test.ts'],
  },
  {
    id: 'M52',
    says: 'no deployment is probed until a wall clock that was set back has caught up',
    file: 'worker/spaces/schedule.ts',
    old: 'Math.abs(this.#clock.nowMs() - last.atMs)',
    new: 'this.#clock.nowMs() - last.atMs',
    tests: ['src/worker/spaces/schedule.test.ts'],
  },
]
