/** Faults of dispatch: which calls are made, shared and read. */
import type { Mutant } from './mutant.ts'

export const DISPATCH: readonly Mutant[] = [
  {
    id: 'M11',
    says: 'vectors of another width are shared',
    file: 'request/embeddings/shared-vectors.ts',
    old: `  if (offer.upstreamWidth !== request.offers[0]?.upstreamWidth) return
`,
    new: '',
    tests: ['src/request/embeddings/shared-vectors.test.ts'],
  },
  {
    id: 'M12',
    says: 'a vector is served beyond a time to live that was shortened since',
    file: 'request/embeddings/shared-vectors.ts',
    old: 'entry !== undefined && entry.madeAtMs > oldestMs && isTrusted',
    new: 'entry !== undefined && isTrusted',
    tests: ['src/request/embeddings/shared-vectors.test.ts'],
  },
  {
    id: 'M13',
    says: 'a request waits for one that ends after its own deadline',
    file: 'request/embeddings/shared-vectors.ts',
    old: 'flight !== undefined && flight.deadlineMs <= deadlineMs ? flight.arrival',
    new: 'flight !== undefined ? flight.arrival',
    tests: ['src/request/embeddings/shared-vectors.test.ts'],
  },
  {
    id: 'M17',
    says: 'a call that has no credit to be made again keeps its turn',
    file: 'request/traffic/dispatch.ts',
    old: `      turn?.giveBack()
      return undefined`,
    new: '      return undefined',
    tests: ['src/request/traffic/dispatch.test.ts'],
  },
  {
    id: 'M18',
    says: "a caller's short deadline counts against the deployment",
    file: 'request/traffic/dispatch.ts',
    old: 'return isTimeOut(error) && leftMs <= TIMER_ERROR_MS ? ABANDONED',
    new: 'return isTimeOut(error) && leftMs < -1e9 ? ABANDONED',
    tests: ['src/request/traffic/dispatch.test.ts'],
  },
  {
    id: 'M19',
    says: 'calls are made again though the queue is full',
    file: 'request/traffic/dispatch.ts',
    old: 'if (!hasRoom || !state.budget.mayRetry(nowMs))',
    new: 'if (!state.budget.mayRetry(nowMs))',
    tests: ['src/request/traffic/dispatch.test.ts'],
  },
  {
    id: 'M20',
    says: 'bytes of an answer wait without a bound',
    file: 'core/embedding/answer-scan.ts',
    old: `    if (this.#bytes.length - this.#from > MAX_PENDING_BYTES)
      throw new BrokenAnswer('a value of more than 1 MB')
`,
    new: '',
    tests: ['src/core/embedding/answer-scan.test.ts'],
  },
  {
    id: 'M21',
    says: 'an embedding is read at any depth of an answer',
    file: 'core/embedding/answer-scan.ts',
    old: 'this.#depth !== ITEM_FIELD_DEPTH || ',
    new: '',
    tests: ['src/core/embedding/answer-scan.test.ts'],
  },
  {
    id: 'M53',
    says: 'a call that failed elsewhere is sent as a probe',
    file: 'core/schedule/scheduler.ts',
    old: 'request.isRetry ? undefined : tier.find',
    new: 'tier.find',
    tests: ['src/core/schedule/scheduler.test.ts'],
  },
  {
    id: 'M54',
    says: 'what may have been charged is bought again elsewhere',
    file: 'request/traffic/next-deployment.ts',
    old: `  if (buysOnce && error.mayBeCharged) return []
`,
    new: '',
    tests: ['src/request/traffic/next-deployment.test.ts'],
  },
  {
    id: 'M55',
    says: 'a call waits for a deployment that is ready only after its deadline',
    file: 'request/traffic/dispatch.ts',
    old: 'isWorthIt && untilMs < asked.deadlineMs',
    new: 'isWorthIt',
    tests: ['src/request/traffic/dispatch.test.ts'],
  },
  {
    id: 'M56',
    says: 'a full queue refuses those of a project that has no entries in it',
    file: 'core/schedule/fair-queue.ts',
    old: 'isFull && own + 1 >= this.#longest',
    new: 'isFull',
    tests: ['src/core/schedule/fair-queue.test.ts'],
  },
]
