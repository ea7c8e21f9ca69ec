import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { ConfiguredBudget, ConfiguredLimits } from '../catalog/catalog.ts'
import { termsOf } from './terms.ts'

const budget: ConfiguredBudget = { limitNanoUsd: 5n, per: 'month', hard: true }

test('a key is bound by its project first, then by its own terms', () => {
  const ofProject = { limits: { requestsPerMinute: 60, tokensPerMinute: 1000 }, budget }
  const ofKey = { limits: { imagesPerMinute: 3 }, budget: { ...budget, limitNanoUsd: 2n, hard: false } }
  assert.deepEqual(termsOf('search', ofProject, 'search/ci', ofKey), {
    limits: [
      { id: 'project:search:requests', project: 'search', unit: 'requests', perMinute: 60 },
      { id: 'project:search:tokens', project: 'search', unit: 'tokens', perMinute: 1000 },
      { id: 'key:search/ci:images', project: 'search', unit: 'images', perMinute: 3 },
    ],
    budgets: [
      { id: 'project:search', limitNanoUsd: 5n, per: 'month', hard: true },
      { id: 'key:search/ci', limitNanoUsd: 2n, per: 'month', hard: false },
    ],
  })
})

test('where nothing is configured nothing binds', () => {
  assert.deepEqual(termsOf('search', {}, 'search/ci', {}), { limits: [], budgets: [] })
  const absent = { limits: undefined, budget: undefined }
  assert.deepEqual(termsOf('search', absent, 'search/ci', absent), { limits: [], budgets: [] })
})

const perMinute = fc.option(fc.integer({ min: 1, max: 1_000_000 }), { nil: undefined })
const limits: fc.Arbitrary<ConfiguredLimits> = fc.record({
  requestsPerMinute: perMinute,
  tokensPerMinute: perMinute,
  imagesPerMinute: perMinute,
})

test('every configured limit is in the terms once, under an id of its own', () => {
  fc.assert(
    fc.property(limits, limits, fc.string(), fc.string(), (ofProject, ofKey, project, keyId) => {
      const terms = termsOf(project, { limits: ofProject }, keyId, { limits: ofKey })
      const configured = [...Object.values(ofProject), ...Object.values(ofKey)].filter(
        (value) => value !== undefined,
      )
      assert.deepEqual(
        terms.limits.map((limit) => limit.perMinute),
        configured,
      )
      assert.equal(new Set(terms.limits.map(({ id }) => id)).size, configured.length)
      assert.ok(terms.limits.every((limit) => limit.project === project))
    }),
  )
})
