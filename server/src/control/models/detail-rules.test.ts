import assert from 'node:assert/strict'
import { test } from 'node:test'
import { modelEnd } from '#core/catalog/model-end.ts'
import { aDeployment } from '#test/support/deployments.ts'
import { anImageModel } from '#test/support/images.ts'
import { aModel } from '#test/support/models.ts'
import { detailBody, type ModelUse } from './detail-rules.ts'
import type { ModelView } from './row-rules.ts'

const VIEW = {
  health: {
    standingOf: () => ({ state: 'healthy', until: null, since: '2026-11-17T00:00:00.000Z' }),
    cellsOf: () => '',
  },
  figures: new Map(),
  nowMs: Date.UTC(2026, 10, 17, 12),
  nameSpace: () => undefined,
  averageItems: (id: string) => (id === 'm' ? 7.5 : undefined),
  limits: { maxInputs: 2048, maxEditPictures: 16 },
} as Pick<ModelView, 'health' | 'figures' | 'nowMs'> as ModelView
const CACHE = { hits_share: 0.25, saved_usd: '0.100000000' }
const UNUSED: ModelUse = { uses: new Map(), cache: CACHE, users: null }
const USED_AT = '2026-11-17T11:00:00.000Z'

const LAST = aDeployment({
  id: 'm/last',
  priority: 9,
  weight: 1,
  end: modelEnd({
    on: '2026-12-01',
    successor: 'm2',
    source: 'https://x',
    asOf: '2026-11-01',
    note: 'maybe',
  }),
})
const ONE = aDeployment({
  id: 'm/one',
  priority: 1,
  weight: 3,
  end: modelEnd({ on: '2026-11-17' }),
  limits: { requestsPerMinute: 60, tokensPerMinute: 70, imagesPerMinute: 80, concurrency: 9 },
})
const TWO = aDeployment({ id: 'm/two', priority: 1, weight: 2, price: { kind: 'free' } })
const MODEL = aModel({
  id: 'm',
  deployments: [LAST, ONE, TWO],
  cache: { ttlMs: 3_600_400 },
  microBatch: { maxWaitMs: 5, maxItems: 64, acrossProjects: false },
  isGuarded: true,
})

test('tiers are in the order in which they are asked, with each deployment’s share of the calls', () => {
  const uses = new Map([
    ['m/one', { calls: 30, last_used_at: USED_AT }],
    ['m/last', { calls: 10, last_used_at: null }],
  ])
  const limits = {
    requests_per_minute: 60,
    tokens_per_minute: 70,
    images_per_minute: 80,
    concurrency: 9,
  }
  assert.deepEqual(detailBody(MODEL, VIEW, { ...UNUSED, uses }).tiers, [
    [
      { deployment: 'm/one', weight: 3, share: 0.75, last_used_at: USED_AT, limits },
      { deployment: 'm/two', weight: 2, share: 0, last_used_at: null, limits: {} },
    ],
    [{ deployment: 'm/last', weight: 1, share: 0.25, last_used_at: null, limits: {} }],
  ])
  assert.deepEqual(
    detailBody(MODEL, VIEW, UNUSED).tiers.map((tier) => tier.map(({ share }) => share)),
    [[0, 0], [0]],
  )
})

test('a model has its cache, its micro-batches, and the end of each deployment that has one', () => {
  const users = { keys: [{ key: 'ads/web', requests_30d: 3 }], count: 1, requests_30d: 3 }
  const detail = detailBody(MODEL, VIEW, { ...UNUSED, users })
  assert.deepEqual(detail.cache, { ttl_seconds: 3600, ...CACHE })
  assert.deepEqual(detail.micro_batch, { max_wait_ms: 5, max_items: 64, average_items: 7.5 })
  assert.deepEqual([detail.guarded, detail.used_by], [true, users])
  assert.deepEqual(detail.ends_by_deployment, {
    'm/last': {
      on: '2026-12-01',
      days_left: 14,
      successor: 'm2',
      source: 'https://x',
      as_of: '2026-11-01',
      note: 'maybe',
    },
    'm/one': { on: '2026-11-17', days_left: 0, successor: null, source: null, as_of: null, note: null },
  })
  assert.deepEqual(Object.keys(detail.prices), ['m/last', 'm/one', 'm/two'])
  assert.deepEqual(detail.prices['m/two'], [{ amount: '0', unit: 'free', note: null }])
})

test('options are by deployment, in the words of their kind of model', () => {
  const { options } = detailBody(MODEL, VIEW, UNUSED)
  const limit = options.find(({ option }) => option === 'texts in a call')
  assert.equal(limit?.group, 'takes')
  assert.deepEqual(limit?.by_deployment['m/one'], { how: 'value', value: '2048' })
  assert.ok(detailBody(anImageModel(), VIEW, UNUSED).options.some(({ option }) => option === 'sizes'))
})

test('a model without a cache, micro-batches or a guard has none', () => {
  const plain = aModel({ id: 'plain', microBatch: { maxWaitMs: 5, maxItems: 64, acrossProjects: false } })
  const detail = detailBody(plain, VIEW, UNUSED)
  assert.deepEqual([detail.cache, detail.guarded, detail.used_by], [null, false, null])
  assert.equal(detail.micro_batch?.average_items, null)
  const image = detailBody(anImageModel(), VIEW, UNUSED)
  assert.deepEqual([image.cache, image.micro_batch, image.guarded], [null, null, false])
  assert.equal(detailBody(aModel(), VIEW, UNUSED).micro_batch, null)
})
