import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ChangedObject } from '#ports/stored-configuration.ts'
import { summaryOf } from './configuration-summary.ts'

const model = (before: object | null, after: object | null): ChangedObject => ({
  object: 'model',
  name: 'bge',
  before: before as ChangedObject['before'],
  after: after as ChangedObject['after'],
})
const upstream = (more: Partial<ChangedObject>): ChangedObject => ({
  object: 'upstream',
  name: 'gpu',
  before: { baseUrl: 'http://a' },
  after: { baseUrl: 'http://a' },
  ...more,
})
const on = (...deployments: readonly object[]) => ({ deployments })

for (const [changes, summary] of [
  [[upstream({ before: null })], 'Added upstream gpu'],
  [[upstream({ after: null })], 'Deleted upstream gpu'],
  [[upstream({ renamedFrom: 'old' })], 'Renamed upstream old to gpu'],
  [[upstream({ after: { baseUrl: 'http://b' } })], 'gpu: baseUrl http://a → http://b'],
  [[model(null, on({ upstream: 'a' }, { upstream: 'b' }))], 'Added model bge on a, b'],
  [[model(on({ upstream: 'a' }), null)], 'Deleted model bge'],
  [
    [
      model(
        on({ upstream: 'a', limits: { concurrency: 4 } }),
        on({ upstream: 'a', limits: { concurrency: 8 } }),
      ),
    ],
    'bge: a concurrency 4 → 8',
  ],
  [
    [model(on({ upstream: 'a' }), on({ upstream: 'a' }, { upstream: 'b', priority: 1 }))],
    'bge: added b to tier 2, weight 1',
  ],
  [
    [model(on({ upstream: 'a', priority: 1 }, { upstream: 'b' }), on({ upstream: 'a' }))],
    'bge: removed b; bge: a tier 2 → tier 1',
  ],
  [
    [model(on({ upstream: 'a' }, { upstream: 'b' }), on({ upstream: 'b' }, { upstream: 'a' }))],
    'bge: changed the order of its deployments',
  ],
  [[model({ cache: { ttl: '12h' } }, { cache: { ttl: '30d' } })], 'bge: cache ttl 12h → 30d'],
  [
    [
      model(
        on({ upstream: 'a' }),
        on({ upstream: 'a', weight: 7, price: 'free', limits: { concurrency: 8 } }),
      ),
    ],
    'bge: a weight 1 → 7; bge: a price list price → free; bge: a concurrency learned → 8',
  ],
  [[model({}, { cache: { ttl: '30d' } })], 'bge: cache off → 30d'],
  [
    [model({ a: 1, b: 1, c: 1, d: 1, e: 1, f: 1 }, { a: 2, b: 2, c: 2, d: 2, e: 2, f: 2 })],
    'bge: a 1 → 2; bge: b 1 → 2; bge: c 1 → 2; bge: d 1 → 2; 2 more',
  ],
] as const)
  test(`a change is summed up as: ${summary}`, () => assert.equal(summaryOf(changes), summary))
