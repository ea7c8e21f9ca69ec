/** One row for each kind of item. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { DeploymentSummary, NodeSummary } from '#core/traffic/node-summary.ts'
import { UNKNOWN_POSTED_AFTER_MS } from '#ports/upkeep.ts'
import { attentionOf, type AttentionParts } from './attention-rules.ts'

const NOW_MS = Date.UTC(2026, 10, 15, 16)
const NOW = new Date(NOW_MS).toISOString()

const DEPLOYMENT: DeploymentSummary = {
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
}
const SUMMARY: NodeSummary = {
  node: 'n1',
  atMs: NOW_MS,
  loopBusy: 0,
  spoolWaiting: 0,
  callsUnderWay: 0,
  isStoreAway: false,
  ledgerDifferences: 0,
  deployments: [],
  flows: [],
}
const QUIET: AttentionParts = {
  summaries: [],
  deployments: [
    { id: 'm/one', model: 'm', siblings: ['m/two'], skippingKeys: 0 },
    { id: 'm/two', model: 'm', siblings: ['m/one'], skippingKeys: 0 },
  ],
  ends: [],
  users: new Map(),
  spaceGuard: { standingOf: () => undefined },
  ledger: {
    unknowns: { open: 0, amountNanoUsd: 0n, oldestAtMs: undefined },
    nodes: { alive: 1, silent: 0 },
    lostLeases: [],
    restRows: { ledger: 0, requests: 0 },
    budgets: [],
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
  figures: { refusals: [], keys: [], webhooks: [], silentNodes: [] },
  nowMs: NOW_MS,
}
const ZERO_ID = '01900000-0000-7000-8000-000000000000'
const IN_2024 = new Date(0x0190_0000_0000).toISOString()
type Standing = ReturnType<AttentionParts['spaceGuard']['standingOf']>
const guarded = (standing: object): Partial<AttentionParts> => ({
  spaceGuard: { standingOf: (id) => (id === 'm/two' ? (standing as Standing) : undefined) },
})
const seen = (change: Partial<NodeSummary>): Partial<AttentionParts> => ({
  summaries: [{ ...SUMMARY, ...change }],
})
const budgeted = (limitNanoUsd: bigint, spentNanoUsd: bigint): Partial<AttentionParts> => ({
  ledger: {
    ...QUIET.ledger,
    budgets: [{ budgetId: 'project:b', limitNanoUsd, spentNanoUsd, leasedNanoUsd: 0n }],
  },
})
const ledger = (change: Partial<AttentionParts['ledger']>): Partial<AttentionParts> => ({
  ledger: { ...QUIET.ledger, ...change },
})
const figures = (change: Partial<AttentionParts['figures']>): Partial<AttentionParts> => ({
  figures: { ...QUIET.figures, ...change },
})

/** Each kind: what makes it, and its severity, subject, beginning and figures. Undefined: nothing is said. */
const KINDS: readonly (readonly [
  kind: string,
  parts: Partial<AttentionParts>,
  item: readonly [severity: string, type: string, id: string, since: string, figures: object] | undefined,
])[] = [
  ['spool_waiting', seen({ spoolWaiting: 3 }), ['warn', 'node', 'n1', NOW, { waiting: 3 }]],
  ['spool_waiting', seen({ spoolWaiting: 1 }), ['warn', 'node', 'n1', NOW, { waiting: 1 }]],
  ['spool_waiting', seen({}), undefined],
  ['store_away', seen({ isStoreAway: true }), ['bad', 'store', 'n1', NOW, { waiting: 0 }]],
  ['doctor_wrong', seen({ ledgerDifferences: 1 }), ['bad', 'store', 'ledger', NOW, { differences: 1 }]],
  ['doctor_wrong', seen({}), undefined],
  [
    'doctor_wrong',
    ledger({ refused: { entries: 2, amountNanoUsd: 5n } }),
    ['bad', 'store', 'refused', NOW, { refused: 2 }],
  ],
  [
    'doctor_wrong',
    {
      summaries: [
        { ...SUMMARY, ledgerDifferences: 1 },
        { ...SUMMARY, ledgerDifferences: 4, atMs: NOW_MS - 9 },
      ],
    },
    ['bad', 'store', 'ledger', NOW, { differences: 4 }],
  ],
  [
    'deployment_ejected',
    seen({ deployments: [{ ...DEPLOYMENT, state: 'probing', reason: null, failures: {} }] }),
    [
      'bad',
      'deployment',
      'm/one',
      '2026-11-15T15:59:00.000Z',
      { model: 'm', upstream: 'one', calls: 10, failed: 9, reason: '', stands_in: 'two' },
    ],
  ],
  [
    'deployment_rejected_us',
    seen({
      deployments: [
        { ...DEPLOYMENT, failures: { rejectedUs: 1 } },
        { ...DEPLOYMENT, id: 'm/two', state: 'limited' },
      ],
    }),
    [
      'bad',
      'deployment',
      'm/one',
      '2026-11-15T15:59:00.000Z',
      { model: 'm', upstream: 'one', calls: 10, failed: 9, reason: 'connection refused', stands_in: '' },
    ],
  ],
  ['deployment_ejected', seen({ deployments: [{ ...DEPLOYMENT, state: 'limited' }] }), undefined],
  [
    'space_left',
    guarded({ state: 'quarantined', last: { leastCosine: 0.4, atMs: NOW_MS } }),
    ['odd', 'deployment', 'm/two', NOW, { model: 'm', upstream: 'two', least_cosine: 0.4 }],
  ],
  [
    'space_left',
    guarded({ state: 'quarantined' }),
    ['odd', 'deployment', 'm/two', '1970-01-01T00:00:00.000Z', { model: 'm', upstream: 'two' }],
  ],
  [
    'space_left',
    guarded({
      state: 'quarantined',
      last: { leastCosine: 0.4, cosines: [1, 1, 1, 1, 1, 1, 1, 1, 1, 0.4, 1], atMs: NOW_MS },
    }),
    [
      'odd',
      'deployment',
      'm/two',
      NOW,
      { model: 'm', upstream: 'two', least_cosine: 0.4, least_of: 'images' },
    ],
  ],
  [
    // It is out of its space whatever else it is, since the nodes noticed.
    'space_left',
    {
      ...guarded({ state: 'quarantined', last: { leastCosine: 0.4, atMs: NOW_MS } }),
      ...seen({ deployments: [{ ...DEPLOYMENT, id: 'm/two' }] }),
    },
    [
      'odd',
      'deployment',
      'm/two',
      '2026-11-15T15:59:00.000Z',
      { model: 'm', upstream: 'two', least_cosine: 0.4 },
    ],
  ],
  [
    'space_warned',
    guarded({ state: 'warned', last: { leastCosine: 0.9, atMs: NOW_MS } }),
    ['warn', 'deployment', 'm/two', NOW, { model: 'm', upstream: 'two', least_cosine: 0.9 }],
  ],
  [
    'space_warned',
    guarded({ state: 'warned' }),
    ['warn', 'deployment', 'm/two', '1970-01-01T00:00:00.000Z', { model: 'm', upstream: 'two' }],
  ],
  ['space_warned', guarded({ state: 'trusted' }), undefined],
  [
    'deployment_unpriced',
    { deployments: [{ id: 'm/two', model: 'm', siblings: ['m/one'], skippingKeys: 2 }] },
    ['warn', 'deployment', 'm/two', NOW, { model: 'm', upstream: 'two', keys: 2 }],
  ],
  [
    'unknowns_open',
    ledger({ unknowns: { open: 1, amountNanoUsd: 160n, oldestAtMs: NOW_MS - 1000 } }),
    [
      'odd',
      'unknowns',
      'open',
      '2026-11-15T15:59:59.000Z',
      {
        open: 1,
        usd: '0.000000160',
        posts_at: new Date(NOW_MS - 1000 + UNKNOWN_POSTED_AFTER_MS).toISOString(),
      },
    ],
  ],
  [
    'unknowns_open',
    ledger({ unknowns: { open: 1, amountNanoUsd: 0n, oldestAtMs: undefined } }),
    [
      'odd',
      'unknowns',
      'open',
      NOW,
      { open: 1, usd: '0.000000000', posts_at: new Date(NOW_MS + UNKNOWN_POSTED_AFTER_MS).toISOString() },
    ],
  ],
  [
    'budget_mark',
    budgeted(1000n, 800n),
    ['warn', 'budget', 'project:b', NOW, { percent: 80, spent_usd: '0.000000800', limit_usd: '0.000001000' }],
  ],
  [
    'budget_mark',
    budgeted(1000n, 999n),
    ['warn', 'budget', 'project:b', NOW, { percent: 99, spent_usd: '0.000000999', limit_usd: '0.000001000' }],
  ],
  [
    'budget_used_up',
    budgeted(1000n, 1000n),
    ['bad', 'budget', 'project:b', NOW, { percent: 100, spent_usd: '0.000001000', limit_usd: '0.000001000' }],
  ],
  ['budget_mark', budgeted(1000n, 799n), undefined],
  // Nothing may be spent of it, so nothing can be full.
  ['budget_mark', budgeted(0n, 0n), undefined],
  [
    'partition_missing',
    ledger({ restRows: { ledger: 2, requests: 3 } }),
    ['warn', 'store', 'rows', NOW, { rows: 5 }],
  ],
  [
    'partition_missing',
    ledger({ restRows: { ledger: 1, requests: 0 } }),
    ['warn', 'store', 'rows', NOW, { rows: 1 }],
  ],
  [
    'ledger_stalled',
    ledger({ seal: { ...QUIET.ledger.seal, sealWaitsMs: 2.5 * 3_600_000, earlierNodes: 1 } }),
    ['bad', 'store', 'ledger', '2026-11-15T13:30:00.000Z', { step: 'sealed', hours: 2, earlier_nodes: 1 }],
  ],
  [
    'ledger_stalled',
    ledger({ seal: { ...QUIET.ledger.seal, sealWaitsMs: 1, compareWaitsMs: 2 * 3_600_000 } }),
    ['bad', 'store', 'ledger', '2026-11-15T14:00:00.000Z', { step: 'compared', hours: 2, earlier_nodes: 0 }],
  ],
  ['ledger_stalled', ledger({ seal: { ...QUIET.ledger.seal, sealWaitsMs: 2 * 3_600_000 - 1 } }), undefined],
  [
    'labels_overflowed',
    ledger({
      overflows: [
        { project: 'ads', label: 'user', sinceMs: NOW_MS, amountNanoUsd: 5n },
        { project: 'ads', label: 'tag:team', sinceMs: NOW_MS - 1000, amountNanoUsd: 7n },
      ],
    }),
    ['warn', 'project', 'ads', '2026-11-15T15:59:59.000Z', { labels: 'user, tag:team', usd: '0.000000012' }],
  ],
  [
    'node_silent',
    figures({ silentNodes: [{ id: 'n9', host: 'far', since: NOW, leased_usd: '1.500000000' }] }),
    ['bad', 'node', 'n9', NOW, { host: 'far', leased_usd: '1.500000000' }],
  ],
  [
    'unpriced_refused',
    figures({
      refusals: [
        { kind: 'unpriced_refused', model: 'flux', requests: 14, first_request_id: ZERO_ID, projects: 'ads' },
      ],
    }),
    ['warn', 'model', 'flux', IN_2024, { requests: 14, projects: 'ads' }],
  ],
  [
    'key_idle',
    figures({ keys: [{ key: 'ads/old', kind: 'key_idle', since: NOW, ends_at: null }] }),
    ['off', 'key', 'ads/old', NOW, {}],
  ],
  [
    'key_ends',
    figures({ keys: [{ key: 'ads/web', kind: 'key_ends', since: NOW, ends_at: NOW }] }),
    ['warn', 'key', 'ads/web', NOW, { ends_at: NOW }],
  ],
  [
    'webhook_given_up',
    figures({ webhooks: [{ project: 'ads', events: 3, since: NOW }] }),
    ['warn', 'project', 'ads', NOW, { events: 3 }],
  ],
]

for (const [kind, parts, expected] of KINDS)
  test(`what needs a person: ${kind}${expected === undefined ? ' is left out' : ` ${expected[0]}`}`, () => {
    const items = attentionOf({ ...QUIET, ...parts }).map((one) => ({ ...one, figures: { ...one.figures } }))
    if (expected === undefined) return assert.deepEqual(items, [])
    const [severity, type, id, since, own] = expected
    assert.deepEqual(items, [
      { id: `${kind}:${id}`, kind, severity, since, subject: { type, id }, figures: own },
    ])
  })

test('of two items of one severity the newer comes first', () => {
  const keys = ['2026-11-01', '2026-11-03', '2026-11-02'].map((since) => ({
    key: `ads/${since}`,
    kind: 'key_idle' as const,
    since,
    ends_at: null,
  }))
  assert.deepEqual(
    attentionOf({ ...QUIET, ...figures({ keys }) }).map(({ since }) => since),
    ['2026-11-03', '2026-11-02', '2026-11-01'],
  )
})

test('nothing needs a person where all is well', () => {
  assert.deepEqual(attentionOf(QUIET), [])
})
