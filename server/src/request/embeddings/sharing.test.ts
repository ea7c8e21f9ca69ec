import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock, wait } from '#runtime/clock.ts'
import { vectorDigests } from '#runtime/vector-digests.ts'
import { MemoryVectorCache } from '#stores/memory/vector-cache.ts'
import { aModel, aRequest } from '#test/support/models.ts'
import { MicroBatches } from './micro-batch.ts'
import { sharingBy } from './sharing.ts'

const sharingOf = sharingBy({
  cache: new MemoryVectorCache({ maxBytes: 1000, clock: systemClock }),
  batches: new MicroBatches(wait),
  digestsFor: vectorDigests('a secret of this test, long enough'),
  isTrusted: () => false,
  isConfirmed: () => false,
})
const terms = { project: 'p', space: 's', cacheUse: 'usual' } as const
const cached = { cache: { ttlMs: 1000 } }
const microBatch = { maxWaitMs: 1, maxItems: 2, acrossProjects: false }

test('a request shares only what its model allows', () => {
  const of = (model: Parameters<typeof aModel>[0]) => sharingOf(aModel(model), aRequest(), terms)
  assert.equal(of({ cache: undefined, microBatch: undefined }), undefined)
  assert.equal(of({ ...cached, microBatch: undefined })?.cache?.ttlMs, 1000)
  const batched = of({ cache: undefined, microBatch })
  assert.deepEqual([batched?.cache, batched?.microBatch], [undefined, microBatch])
})

test('directives of the caller say whether cached vectors may be read and kept', () => {
  for (const [cacheUse, mayRead, mayKeep] of [
    ['usual', true, true],
    ['fresh', false, true],
    ['none', false, false],
  ] as const) {
    const rules = sharingOf(aModel(cached), aRequest(), { ...terms, cacheUse })
    assert.deepEqual([rules?.mayRead, rules?.mayKeep], [mayRead, mayKeep])
  }
})

test('only vectors of guarded models must be trusted by the guard', () => {
  for (const isGuarded of [true, false]) {
    const rules = sharingOf(aModel({ ...cached, isGuarded }), aRequest(), terms)
    assert.equal(rules?.isTrusted('m/one', 0), !isGuarded)
  }
})
