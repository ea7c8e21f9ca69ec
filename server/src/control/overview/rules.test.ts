import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ConfiguredBudget } from '#core/catalog/catalog.ts'
import { COARSE_SLOT_MS, FINE_SLOT_MS, type TrafficSlot } from '#ports/traffic-history.ts'
import { type NodeSummary } from '#core/traffic/node-summary.ts'
import { modelEnd } from '#core/catalog/model-end.ts'
import { aDeployment } from '#test/support/deployments.ts'
import { aModel } from '#test/support/models.ts'
import { briefsOf, budgetsOf, flowBody, nodesIn, paceOf, seriesOf, slotsOf } from './rules.ts'

const NOW_MS = Date.UTC(2026, 10, 17, 16, 30)
const HOUR_MS = 3_600_000
const EMPTY = { classes: [], counts: [] }

const budget = (per: ConfiguredBudget['per'], limitNanoUsd: bigint): ConfiguredBudget => ({
  limitNanoUsd,
  per,
  hard: false,
})

test('a chart has fine slots while they fit and are kept, and never more than 90 columns', () => {
  for (const [hours, endedHours, unitMs] of [
    [1, 0, FINE_SLOT_MS],
    [1, 24, FINE_SLOT_MS],
    [1, 26, COARSE_SLOT_MS],
    [24, 0, COARSE_SLOT_MS],
    [24 * 30, 0, COARSE_SLOT_MS],
    [24 * 29 + 1, 0, COARSE_SLOT_MS],
    [72, 96, COARSE_SLOT_MS],
  ] as const) {
    const asked = {
      fromMs: NOW_MS - (endedHours + hours) * HOUR_MS,
      toMs: NOW_MS - endedHours * HOUR_MS,
    }
    const { fromMs, toMs, slotMs } = slotsOf(asked, NOW_MS)
    assert.deepEqual([slotMs % unitMs, fromMs % slotMs, toMs], [0, 0, asked.toMs])
    assert.ok(fromMs >= asked.fromMs)
    assert.ok((toMs - fromMs) / slotMs <= 90)
    if (hours === 1) assert.equal(slotMs, unitMs)
  }
  for (const [spanMs, slotMs] of [
    [0, FINE_SLOT_MS],
    [HOUR_MS, FINE_SLOT_MS],
    [90 * FINE_SLOT_MS, FINE_SLOT_MS],
    [90 * FINE_SLOT_MS + 1, COARSE_SLOT_MS],
  ] as const)
    assert.equal(slotsOf({ fromMs: NOW_MS - spanMs, toMs: NOW_MS }, NOW_MS).slotMs, slotMs)
})

test('a span shorter than a slot has the slot that it lies in', () => {
  const span = { fromMs: NOW_MS + 1, toMs: NOW_MS + 2 }
  assert.deepEqual(slotsOf(span, NOW_MS + 2), { fromMs: NOW_MS, toMs: NOW_MS + 2, slotMs: FINE_SLOT_MS })
})

test('a slot without traffic is a column of zeros', () => {
  const slots = { fromMs: NOW_MS - 3 * FINE_SLOT_MS, toMs: NOW_MS, slotMs: FINE_SLOT_MS }
  const busy: TrafficSlot = {
    atMs: NOW_MS - 2 * FINE_SLOT_MS,
    outcomes: { answered: 1, refused: 2, limited: 3, failed: 4, unknown: 5 },
    inputs: 6,
    hits: 7,
    nanoUsd: 8n,
    p50Ms: 9,
    p95Ms: 10,
    p99Ms: 11,
    ownP95Ms: 12,
  }
  const { slot_seconds, data } = seriesOf([busy], slots)
  assert.equal(slot_seconds, FINE_SLOT_MS / 1000)
  const quiet = { answered: 0, refused: 0, limited: 0, failed: 0, unknown: 0, inputs: 0, hits: 0 }
  const unmeasured = { p50_ms: null, p95_ms: null, p99_ms: null, own_p95_ms: null, spent_usd: '0.000000000' }
  const at = (slot: number): string => new Date(NOW_MS - slot * FINE_SLOT_MS).toISOString()
  assert.deepEqual(data, [
    { at: at(3), ...quiet, ...unmeasured },
    {
      at: at(2),
      answered: 1,
      refused: 2,
      limited: 3,
      failed: 4,
      unknown: 5,
      p50_ms: 9,
      p95_ms: 10,
      p99_ms: 11,
      own_p95_ms: 12,
      inputs: 6,
      hits: 7,
      spent_usd: '0.000000008',
    },
    { at: at(1), ...quiet, ...unmeasured },
  ])
})

test('the configuration’s budget of a project counts, not the store’s', () => {
  const stored = [
    { name: 'ads', budget: budget('day', 1n) },
    { name: 'search', budget: budget('day', 2n) },
    { name: 'free', budget: undefined },
  ]
  const declared = [{ name: 'ads', budget: budget('day', 9n) }]
  assert.deepEqual(
    [...budgetsOf(stored, declared)].map(([name, { limitNanoUsd }]) => [name, limitNanoUsd]),
    [
      ['ads', 9n],
      ['search', 2n],
    ],
  )
})

test('the pace of a day is the sum of what each budget allows for a day', () => {
  for (const [per, day] of [
    ['day', 2100n],
    ['week', 300n],
    // November has 30 days.
    ['month', 70n],
    ['total', undefined],
  ] as const)
    assert.equal(paceOf([budget(per, 2100n)], NOW_MS), day, per)
  assert.equal(paceOf([budget('day', 5n), budget('week', 70n), budget('total', 1n)], NOW_MS), 15n)
  assert.equal(paceOf([], NOW_MS), undefined)
})

test('a flow has its money in dollars, and every node that reports counts as alive', () => {
  const flow = { key: 'ads/web', model: 'm', deployment: null, requests: 1, failed: 2, tokens: 3, images: 4 }
  assert.deepEqual(flowBody({ ...flow, project: 'ads', nanoUsd: '1500000000', p95Ms: 5 }), {
    ...flow,
    usd: '1.500000000',
    p95_ms: 5,
  })
  const summaries = [{}, {}] as unknown as readonly NodeSummary[]
  assert.deepEqual(nodesIn(summaries, 3), { reporting: 2, alive: 3 })
  assert.deepEqual(nodesIn(summaries, 1), { reporting: 2, alive: 2 })
})

test('a deployment of the overview is drained before all else, and healthy until a node says otherwise', () => {
  const end = modelEnd({ on: '2026-12-01' })
  const model = aModel({
    id: 'm',
    deployments: ['calm', 'ejected', 'drained'].map((name) =>
      aDeployment({ id: `m/${name}`, upstream: { name }, ...(name === 'ejected' && { end }) }),
    ),
  })
  const catalog = { models: new Map([['m', model]]), retired: new Map(), projects: [] }
  const seen = (id: string) => ({
    id,
    state: 'ejected',
    sinceMs: 1,
    untilMs: id === 'm/ejected' ? 2 : null,
    failures: {},
    latency: EMPTY,
    rate: {},
  })
  const summaries = [
    { node: 'n1', deployments: [seen('m/ejected'), seen('m/drained')] },
  ] as unknown as readonly NodeSummary[]
  const node = { catalog: () => catalog, isDrained: (id: string) => id === 'm/drained', startedAtMs: 9 }
  const same = { model: 'm', kind: 'embedding', ends_on: null }
  const found = { until: '1970-01-01T00:00:00.002Z', since: '1970-01-01T00:00:00.001Z' }
  assert.deepEqual(briefsOf(node, summaries), [
    {
      ...same,
      id: 'm/calm',
      upstream: 'calm',
      state: 'healthy',
      until: null,
      since: '1970-01-01T00:00:00.009Z',
    },
    { ...same, ...found, id: 'm/ejected', upstream: 'ejected', state: 'ejected', ends_on: '2026-12-01' },
    { ...same, ...found, until: null, id: 'm/drained', upstream: 'drained', state: 'drained' },
  ])
})
