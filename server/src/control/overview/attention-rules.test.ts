import assert from 'node:assert/strict'
import { test } from 'node:test'
import { modelEnd } from '#core/catalog/model-end.ts'
import type { NodeSummary } from '#core/traffic/node-summary.ts'
import type { Catalog } from '#core/catalog/catalog.ts'
import {
  attentionFor,
  attentionOf,
  endingDeployments,
  FirstSeen,
  watchedDeployments,
  type AttentionParts,
  type EndingDeployment,
} from './attention-rules.ts'

const NOW_MS = Date.UTC(2026, 10, 15, 16)
const NOW = new Date(NOW_MS).toISOString()

const SUMMARY: NodeSummary = {
  node: 'n1',
  atMs: NOW_MS,
  loopBusy: 0,
  spoolWaiting: 3,
  callsUnderWay: 0,
  isStoreAway: false,
  ledgerDifferences: 2,
  deployments: [
    {
      id: 'm/one',
      state: 'ejected',
      sinceMs: NOW_MS - 60_000,
      untilMs: null,
      reason: 'connection refused',
      inFlight: 0,
      limit: 8,
      learnsLimit: true,
      rate: { requests: 0, tokens: 0, images: 0 },
      calls: 10,
      failed: 9,
      failures: { unreachable: 9 },
      latency: { classes: [], counts: [] },
    },
  ],
  flows: [],
}

const PARTS: AttentionParts = {
  summaries: [SUMMARY],
  deployments: [
    { id: 'm/one', model: 'm', siblings: ['m/two'], skippingKeys: 0 },
    { id: 'm/two', model: 'm', siblings: ['m/one'], skippingKeys: 0 },
  ],
  ends: [],
  users: new Map(),
  spaceGuard: { standingOf: () => undefined },
  ledger: {
    unknowns: { open: 2, amountNanoUsd: 160_000_000n, oldestAtMs: NOW_MS - 1000 },
    nodes: { alive: 1, silent: 0 },
    lostLeases: [],
    restRows: { ledger: 0, requests: 0 },
    budgets: [
      { budgetId: 'project:ads', limitNanoUsd: 100n, spentNanoUsd: 83n, leasedNanoUsd: 0n },
      { budgetId: 'key:search/ci', limitNanoUsd: 100n, spentNanoUsd: 100n, leasedNanoUsd: 0n },
      { budgetId: 'project:calm', limitNanoUsd: 100n, spentNanoUsd: 79n, leasedNanoUsd: 0n },
    ],
    deletedProjects: 0,
    refused: { entries: 0, amountNanoUsd: 0n },
    overflows: [],
    differences: 0,
    seal: {
      sealedThroughMs: 7_200_000,
      comparedThroughMs: 0,
      sealWaitsMs: 0,
      aheadUntilMs: undefined,
      compareWaitsMs: 90_000,
      earlierNodes: 0,
    },
  },
  figures: {
    refusals: [
      {
        kind: 'unpriced_refused',
        model: 'flux',
        requests: 14,
        first_request_id: '01900000-0000-7000-8000-000000000000',
        projects: 'ads',
      },
    ],
    keys: [
      { key: 'research/old', kind: 'key_idle', since: NOW, ends_at: null },
      { key: 'ads/website', kind: 'key_ends', since: NOW, ends_at: NOW },
    ],
    webhooks: [{ project: 'ads', events: 3, since: NOW }],
    silentNodes: [{ id: 'n9', host: 'far', since: NOW, leased_usd: '1.500000000' }],
  },
  nowMs: NOW_MS,
}

test('what is worst comes first, with the number and who stands in', () => {
  const all = attentionOf(PARTS)
  assert.deepEqual(all.map(({ kind }) => kind).sort(), [
    'budget_mark',
    'budget_used_up',
    'deployment_ejected',
    'doctor_wrong',
    'key_ends',
    'key_idle',
    'node_silent',
    'spool_waiting',
    'unknowns_open',
    'unpriced_refused',
    'webhook_given_up',
  ])
  const severities = all.map(({ severity }) => ['bad', 'odd', 'warn', 'off'].indexOf(severity))
  assert.deepEqual(
    severities,
    severities.toSorted((a, b) => a - b),
  )
  const ejected = all.find(({ kind }) => kind === 'deployment_ejected')
  assert.deepEqual(ejected?.figures, {
    model: 'm',
    upstream: 'one',
    calls: 10,
    failed: 9,
    reason: 'connection refused',
    stands_in: 'two',
  })
})

const ENDING: EndingDeployment = {
  model: 'gpt-image-1.5',
  deployment: 'gpt-image-1.5/openai',
  ...modelEnd({ on: '2026-12-01', successor: 'gpt-image-2.5-sunburst' }),
  isBuiltIn: false,
  outlastedBy: [],
}
const KEYS = ['ads/web', 'ads/ci', 'search/ci', 'search/night'].map((key) => ({ key, requests_30d: 9 }))

test('a model that ends is listed from 90 days before on, with its successor and the keys that used it', () => {
  const on = (day: string, end: Partial<EndingDeployment> = {}, keys = KEYS) => {
    const all = attentionOf({
      ...PARTS,
      ends: [{ ...ENDING, ...end }],
      users: new Map(
        keys.length === 0 ? [] : [[ENDING.model, { keys, count: keys.length, requests_30d: 36 }]],
      ),
      nowMs: Date.parse(day),
    })
    return all.find(({ kind }) => kind === 'model_ends')
  }
  assert.equal(on('2026-09-01T12:00:00Z'), undefined)
  assert.deepEqual(on('2026-09-02T12:00:00Z'), {
    id: 'model_ends:gpt-image-1.5/openai',
    kind: 'model_ends',
    severity: 'warn',
    since: '2026-09-02T00:00:00.000Z',
    subject: { type: 'deployment', id: 'gpt-image-1.5/openai' },
    figures: {
      model: 'gpt-image-1.5',
      upstream: 'openai',
      on: '2026-12-01',
      days: 90,
      successor: 'gpt-image-2.5-sunburst',
      goes_on: '',
      keys: 'ads/web, ads/ci, search/ci',
      more_keys: 1,
    },
  })
  const severityOn = (...given: Parameters<typeof on>) => on(...given)?.severity
  assert.equal(severityOn('2026-11-23'), 'warn')
  assert.equal(severityOn('2026-11-24'), 'bad')
  const after = on('2026-12-02T12:00:00Z')
  assert.deepEqual(
    [after?.severity, after?.since, after?.figures['days']],
    ['bad', '2026-12-01T00:00:00.000Z', -1],
  )
  // Another deployment of the model continues; no key uses it; no configuration declares it.
  const outlasted = on('2026-12-02', { outlastedBy: ['gpt-image-1.5/azure'] })
  assert.deepEqual([outlasted?.severity, outlasted?.figures['goes_on']], ['warn', 'azure'])
  assert.equal(severityOn('2026-12-02', {}, []), 'off')
  assert.equal(severityOn('2026-12-02', { isBuiltIn: true }, []), undefined)
  assert.equal(severityOn('2026-12-02', { isBuiltIn: true }), 'bad')
})

test('a developer sees the keys and budgets of its own projects, and nothing else', () => {
  const seen = attentionFor(attentionOf(PARTS), ['ads'])
  assert.deepEqual(seen.map(({ subject }) => subject.id).sort(), ['ads', 'ads/website', 'project:ads'])
  assert.deepEqual(attentionFor(attentionOf(PARTS), []), [])
})

test('an item without a beginning counts from when it was first seen, and starts over after it was gone', () => {
  const seen = new FirstSeen()
  const item = (since: string) =>
    ({
      id: 'budget_mark:x',
      kind: 'budget_mark',
      severity: 'warn',
      since,
      subject: { type: 'budget', id: 'x' },
      figures: {},
    }) as const
  assert.equal(seen.dated([item('1')])[0]?.since, '1')
  assert.equal(seen.dated([item('2')])[0]?.since, '1')
  seen.dated([])
  assert.equal(seen.dated([item('3')])[0]?.since, '3')
})

test('an upstream that counts more than is expected is said, and is bad where its count was cut', () => {
  const overcount = { deployment: 'm/two', calls: 3, cutCalls: 0, sinceMs: NOW_MS - 2000, lastMs: NOW_MS }
  for (const [cutCalls, severity] of [
    [0, 'warn'],
    [1, 'bad'],
  ] as const) {
    const summaries = [
      { ...SUMMARY, overcounts: [{ ...overcount, cutCalls }] },
      { ...SUMMARY, node: 'n2', overcounts: [{ ...overcount, sinceMs: NOW_MS - 5000 }] },
      // Of an earlier version.
      { ...SUMMARY, node: 'n3' },
    ]
    const item = attentionOf({ ...PARTS, summaries }).find(({ kind }) => kind === 'usage_above_expected')
    assert.partialDeepStrictEqual(item, {
      severity,
      since: new Date(NOW_MS - 5000).toISOString(),
      subject: { type: 'deployment', id: 'm/two' },
      figures: { model: 'm', upstream: 'two', calls: 6, cut: cutCalls },
    })
  }
})

test('drained deployments are not watched, and an end names the deployments that outlast it', () => {
  const end = modelEnd({ on: '2026-12-01', successor: 'later' })
  const later = modelEnd({ on: '2027-12-01', successor: 'later' })
  const on = { upstream: { name: 'x' } }
  const deployments = [{ id: 'm/one', ...on, end }, { id: 'm/two', ...on, end: later }, { id: 'm/three' }]
  const model = { id: 'm', kind: 'embedding', aliases: [], managedBy: 'built-in', deployments }
  const catalog = { models: new Map([['m', model]]), retired: new Map() } as unknown as Catalog
  assert.deepEqual(
    watchedDeployments(
      catalog,
      (id) => id === 'm/two',
      (_model, { id }) => (id === 'm/three' ? { keys: 2, reason: 'unpriced' } : null),
    ),
    [
      { id: 'm/one', model: 'm', siblings: ['m/two', 'm/three'], skippingKeys: 0 },
      { id: 'm/three', model: 'm', siblings: ['m/one', 'm/two'], skippingKeys: 2 },
    ],
  )
  assert.deepEqual(
    endingDeployments(catalog).map((one) => [one.deployment, one.isBuiltIn, one.outlastedBy]),
    [
      ['m/one', true, ['m/two', 'm/three']],
      ['m/two', true, ['m/three']],
    ],
  )
})

test('the deployment that takes over is named with the keys that it is skipped for', () => {
  const [one, two] = PARTS.deployments
  assert.ok(one !== undefined && two !== undefined)
  const skipped = (skippingKeys: number) =>
    attentionOf({ ...PARTS, deployments: [one, { ...two, skippingKeys }] }).find(
      ({ kind }) => kind === 'deployment_ejected',
    )?.figures
  assert.deepEqual(skipped(3), { ...skipped(0), skipping_keys: 3 })
  assert.equal(skipped(0)?.['stands_in'], 'two')
})

test('a node whose store is unreachable is in the list with what waits on its disk, before its spool', () => {
  const store = attentionOf({
    ...PARTS,
    summaries: [{ ...SUMMARY, isStoreAway: true, deployments: [] }],
  }).find(({ subject }) => subject.type === 'store')
  assert.deepEqual(
    [store?.id, store?.severity, store?.since, store?.figures],
    ['store_away:n1', 'bad', NOW, { waiting: 3 }],
  )
})
