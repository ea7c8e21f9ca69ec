import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MAX_LABEL_VALUES, MAX_TAG_KEYS } from '#core/money/labels.ts'
import type { LakeFindings } from '#ports/lake.ts'
import type { LedgerSums, NodeFigures } from '#ports/upkeep.ts'
import type { Verdict } from './check-rules.ts'
import { checksOf, worstOf, type AuditFigures, type Check, type Seen, type StoreFindings } from './rules.ts'

const FINDINGS: StoreFindings = {
  install: { nodes: [], server: undefined, missing: [], newest: { requests: 0, failures: [] } },
  audit: { entries: 2, broken: 0, unkeyed: 0, newest: 'keyed', brokenAt: undefined },
  figures: {
    unknowns: { open: 0, amountNanoUsd: 0n, oldestAtMs: undefined },
    nodes: { alive: 2, silent: 0 },
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
  reconciliation: { entries: 1, differences: [], budgetsCompared: 3, budgetsCorrected: [] },
  partitions: { made: [], missing: [] },
  lostLogDays: [],
  lake: {
    isExported: true,
    status: {
      sealedThroughMs: 0,
      exportedThrough: '2026-11-18',
      keptFrom: undefined,
      days: 10,
      entries: 1n,
      bytes: 1,
      waiting: 0,
      problem: undefined,
    },
    manifests: 3,
    bytes: 0,
    problems: [],
    isPartial: false,
  },
}
const NODE: NodeFigures = {
  isStoreUnreachable: false,
  spoolWaiting: 0,
  journalOpen: 0,
  diskFailure: undefined,
  clockSkewMs: 0,
  hasConfigFile: false,
  configRefusal: undefined,
  limiter: undefined,
}
const SEEN: Seen = {
  node: NODE,
  database: 'inside',
  findings: FINDINGS,
  around: {
    disk: undefined,
    images: { trouble: undefined, waiting: 0 },
    certificate: undefined,
    cache: undefined,
    isPoolerUnfit: undefined,
    limiterMemory: undefined,
    models: [],
  },
  nowMs: 0,
}
const figures = (change: Partial<StoreFindings['figures']>): Seen => ({
  ...SEEN,
  findings: { ...FINDINGS, figures: { ...FINDINGS.figures, ...change } },
})
const summed = (change: Partial<StoreFindings['reconciliation']>): Seen => ({
  ...SEEN,
  findings: { ...FINDINGS, reconciliation: { ...FINDINGS.reconciliation, ...change } },
})
const audited = (change: Partial<AuditFigures>): Seen => ({
  ...SEEN,
  findings: { ...FINDINGS, audit: { ...FINDINGS.audit, ...change } },
})
const node = (change: Partial<NodeFigures>, findings: Seen['findings'] = FINDINGS): Seen => ({
  ...SEEN,
  node: { ...NODE, ...change },
  findings,
})
const USD = 1_000_000_000n
const budget = (limitNanoUsd: bigint, spentNanoUsd: bigint) => ({
  budgetId: 'project:ads',
  limitNanoUsd,
  spentNanoUsd,
  leasedNanoUsd: 0n,
})
const sums = (posts: number, amountNanoUsd: bigint): LedgerSums => ({
  posts,
  tokens: 7,
  images: 0,
  amountNanoUsd,
  requests: 0,
  hits: 0,
  savedNanoUsd: 0n,
  unknownNanoUsd: 0n,
})
const difference = { project: 'ads', fromMs: undefined, ledger: sums(1, USD), rollup: sums(2, 2n * USD) }
const overflow = { project: 'ads', label: 'tag:', sinceMs: 0, amountNanoUsd: USD }
const corrected = {
  budgetId: 'project:ads',
  windowStartMs: 0,
  spentNanoUsd: { before: USD, after: 2n * USD },
  leasedNanoUsd: { before: 3n * USD, after: 4n * USD },
}
const COUNTS = { takes: 1, localDecisions: 2, scriptCalls: 3, timeouts: 4, errors: 5 }
const COUNTED = { takes: 1, local_decisions: 2, timeouts: 4, errors: 5 }
const OTHER = 'Send ids of tenants or teams, not of requests'
const LEDGER = 'project ads'
const SUMS = 'ledger 1 posts, 7 tokens, $1.00; hourly totals 2 posts, 7 tokens, $2.00'

const EVICTION = 'so it may evict and reset rate limits: set noeviction'

const MORE_MEMORY = 'Give it more memory, and let it hold nothing else'
const SHARED = { state: 'shared', counts: COUNTS } as const
/** A Redis that counts rate limits, with this memory. */
const withMemory = (usedBytes: number, maxBytes: number, evictionPolicy = 'noeviction'): Seen => ({
  ...node({ limiter: SHARED }),
  around: { ...SEEN.around, limiterMemory: { usedBytes, maxBytes, evictionPolicy } },
})

const LAKE_FIGURES = { days: 10, waiting: 0, manifests: 3, bytes: 0, problems: 0 }
const inLake = (change: Partial<LakeFindings>, status: Partial<LakeFindings['status']> = {}): Seen => ({
  ...SEEN,
  findings: {
    ...FINDINGS,
    lake: { ...FINDINGS.lake, ...change, status: { ...FINDINGS.lake.status, ...status } },
  },
})
const LAKE_CHECKS = [
  ['lake', SEEN, 'ok: 10 days exported, 3 manifests checked', LAKE_FIGURES],
  [
    'lake',
    inLake({}, { keptFrom: '2026-10-01' }),
    'ok: 10 days exported, 3 manifests checked; days before 2026-10-01 are in files only',
    LAKE_FIGURES,
  ],
  [
    'lake',
    inLake({ isExported: false }),
    'ok: the export is off; 10 days exported, 3 manifests checked',
    LAKE_FIGURES,
  ],
  [
    'lake',
    inLake({}, { waiting: 3 }),
    'warn: 10 days exported, 3 manifests checked; 3 days waiting',
    { ...LAKE_FIGURES, waiting: 3 },
  ],
  [
    'lake',
    inLake({}, { problem: { text: 'the bucket is full', atMs: 0 } }),
    'warn: the export waits: the bucket is full',
    LAKE_FIGURES,
  ],
  [
    'lake',
    inLake({ problems: ['a file is missing', 'another was changed'] }),
    'fail: a file is missing; another was changed',
    { ...LAKE_FIGURES, problems: 2 },
  ],
] as const

const CHECKS: readonly (readonly [name: string, seen: Seen, says: string, figures: object])[] = [
  ['store', SEEN, 'ok: the built-in database answers', {}],
  ['store', { ...SEEN, database: 'postgres' }, 'ok: PostgreSQL answers', {}],
  [
    'store',
    { ...SEEN, database: 'postgres', findings: undefined },
    'fail: PostgreSQL does not answer: the ledger could not be checked',
    {},
  ],
  [
    'store',
    { ...SEEN, findings: undefined },
    'fail: the built-in database does not answer: the ledger could not be checked. This machine is out of CPU, or its disk is slow',
    {},
  ],
  ...LAKE_CHECKS,
  ['unknowns', SEEN, 'ok: none open', { open: 0, usd: 0 }],
  [
    'unknowns',
    figures({ unknowns: { open: 1, amountNanoUsd: 2n * USD, oldestAtMs: 0 } }),
    'warn: 1 open, which count as $2.00 spent: see torana unknowns',
    { open: 1, usd: 2 },
  ],
  ['nodes', SEEN, 'ok: 2 alive', { alive: 2, silent: 0 }],
  [
    'nodes',
    figures({ nodes: { alive: 2, silent: 1 } }),
    'warn: 2 alive, 1 not reporting for more than a minute: see torana nodes',
    { alive: 2, silent: 1 },
  ],
  ['leases', SEEN, 'ok: no lost node has a budget lease', { lost_usd: 0 }],
  [
    'leases',
    figures({
      lostLeases: [
        { nodeId: 'n8', amountNanoUsd: USD },
        { nodeId: 'n9', amountNanoUsd: USD },
      ],
    }),
    'warn: lost nodes have leased $2.00 of budgets (n8, n9): if the machine is gone, run torana nodes end',
    { lost_usd: 2 },
  ],
  ['deletions', figures({ deletedProjects: 1 }), 'ok: 1 deleted project with data left', { projects: 1 }],
  ['deletions', SEEN, 'ok: 0 deleted projects with data left', { projects: 0 }],
  ['calls', node({ journalOpen: 2 }), 'ok: 2 calls in flight on this node', { open: 2 }],
  ['audit', SEEN, 'ok: 2 entries intact', { entries: 2, broken: 0, unkeyed: 0 }],
  ['audit', audited({ newest: undefined }), 'ok: no entries yet', { entries: 2, broken: 0, unkeyed: 0 }],
  [
    'audit',
    audited({ unkeyed: 1 }),
    'ok: 2 entries intact; 1 unkeyed, covered by the first signed entry after them',
    { entries: 2, broken: 0, unkeyed: 1 },
  ],
  [
    'audit',
    audited({ newest: 'unkeyed' }),
    'warn: 2 entries, the newest unkeyed: from before Torana signed them. The next change is signed, and covers them',
    { entries: 2, broken: 0, unkeyed: 0 },
  ],
  [
    'audit',
    audited({ newest: 'other_key', entries: 1 }),
    'warn: 1 entry, the newest signed with a TORANA_SECRET that this node does not have',
    { entries: 1, broken: 0, unkeyed: 0 },
  ],
  [
    'audit',
    audited({ broken: 1, newest: 'unkeyed' }),
    'fail: 1 of the newest 2 entries not intact: changed in the database, or a predecessor removed',
    { entries: 2, broken: 1, unkeyed: 0 },
  ],
  [
    'audit',
    audited({ brokenAt: 7n }),
    'fail: entry 7 not intact: it or one before it was changed in the database, or the end of the log cut off there',
    { entries: 2, broken: 0, unkeyed: 0 },
  ],
  ['ledger', SEEN, 'ok: 1 entry checked: the hourly totals agree', { entries: 1, differences: 0 }],
  [
    'ledger',
    summed({ differences: [difference, difference] }),
    `fail: 2 differences from the hourly totals; ${LEDGER} from the beginning: ${SUMS}; ${LEDGER} from the beginning: ${SUMS}`,
    { entries: 1, differences: 2 },
  ],
  [
    'ledger',
    summed({ differences: [{ ...difference, label: 'user', fromMs: 0 }] }),
    `fail: 1 difference from the hourly totals; ${LEDGER} by user from 1970-01-01T00:00:00.000Z: ${SUMS}`,
    { entries: 1, differences: 1 },
  ],
  ['refused', SEEN, 'ok: PostgreSQL has refused no usage records', { records: 0, usd: 0 }],
  [
    'refused',
    figures({ refused: { entries: 2, amountNanoUsd: 1_500_000_000n } }),
    'fail: PostgreSQL refused 2 usage records, not in the ledger yet, which count as $1.50 spent: see torana ledger refused',
    { records: 2, usd: 1.5 },
  ],
  [
    'sealing',
    figures({ seal: { ...FINDINGS.figures.seal, aheadUntilMs: 86_400_000 } }),
    'fail: the ledger is sealed until 1970-01-02T00:00:00.000Z, which is in the future: a clock was wrong. Until then every entry counts as a correction, and no hour is sealed. See docs/inside/background-jobs.md#a-clock-that-was-wrong',
    { waits_seconds: 90, earlier_nodes: 0 },
  ],
  ['labels', SEEN, 'ok: all users and tags of the last day are counted separately', { overflowed: 0 }],
  [
    'labels',
    figures({ overflows: [overflow] }),
    `warn: project ads sent more than ${MAX_TAG_KEYS} keys of tags in a day: $1.00 is counted together as other. ${OTHER}`,
    { overflowed: 1 },
  ],
  [
    'labels',
    figures({ overflows: [{ ...overflow, label: 'user' }, overflow] }),
    `warn: project ads sent more than ${MAX_LABEL_VALUES} values of user in a day: $1.00 is counted together as other, and 1 more. ${OTHER}`,
    { overflowed: 2 },
  ],
  ['budgets', SEEN, 'ok: 3 periods checked: all agree with the ledger', { compared: 3, corrected: 0 }],
  [
    'budgets',
    summed({ budgetsCorrected: [corrected] }),
    'warn: 1 corrected; project:ads: spent $1.00 → $2.00, leased $3.00 → $4.00',
    { compared: 3, corrected: 1 },
  ],
  ['spending', SEEN, 'ok: no hard budget is in use', { budgets: 0 }],
  [
    // 0.29 × 100 is less than 29 in floating point.
    'spending',
    figures({ budgets: [budget(100n * USD, 29n * USD), budget(USD, 0n)] }),
    'ok: 2 hard budgets; fullest project:ads: $29.00 of $100.00 (29%)',
    { budgets: 2, fullest_percent: 29 },
  ],
  [
    'spending',
    figures({ budgets: [budget(100n * USD, 100n * USD - 1n)] }),
    'ok: 1 hard budget; fullest project:ads: $99.999999999 of $100.00 (99%)',
    { budgets: 1, fullest_percent: 99 },
  ],
  [
    'spending',
    figures({ budgets: [budget(USD, USD)] }),
    'warn: 1 hard budget; fullest project:ads: $1.00 of $1.00 (100%)',
    { budgets: 1, fullest_percent: 100 },
  ],
  [
    'spending',
    figures({ budgets: [budget(0n, 0n)] }),
    'warn: 1 hard budget; fullest project:ads: $0.00 of $0.00 (100%)',
    { budgets: 1, fullest_percent: 100 },
  ],
  [
    'partitions',
    SEEN,
    'ok: created ahead; no row is outside of them',
    { missing: 0, ledger_rest_rows: 0, requests_rest_rows: 0, lost_log_days: 0 },
  ],
  [
    'partitions',
    { ...SEEN, findings: { ...FINDINGS, lostLogDays: ['2026-11-18', '2026-11-19'] } },
    'fail: the request log of 2026-11-18, 2026-11-19 is missing, though requests were served: it was dropped too early, or by hand. See docs/inside/background-jobs.md#a-clock-that-was-wrong',
    { missing: 0, ledger_rest_rows: 0, requests_rest_rows: 0, lost_log_days: 2 },
  ],
  [
    'partitions',
    {
      ...SEEN,
      findings: {
        ...FINDINGS,
        figures: { ...FINDINGS.figures, restRows: { ledger: 1, requests: 1 } },
        partitions: { made: [], missing: [{ partition: 'requests_1', reason: 'busy' }] },
      },
    },
    'warn: requests_1 could not be created (busy); 1 row of the ledger without a partition; 1 row of the request log without one',
    { missing: 1, ledger_rest_rows: 1, requests_rest_rows: 1, lost_log_days: 0 },
  ],
  ['spool', SEEN, 'ok: no usage records queued on the disk of this node', { waiting: 0 }],
  [
    'spool',
    node({ spoolWaiting: 1 }),
    'warn: 1 record on the disk of this node on the way to the built-in database',
    { waiting: 1 },
  ],
  [
    'spool',
    { ...node({ spoolWaiting: 2 }), findings: undefined, database: 'postgres' },
    'warn: 2 records on the disk of this node, safe until PostgreSQL answers again',
    { waiting: 2 },
  ],
  ['disk', SEEN, 'ok: the data folder of this node can be written', {}],
  [
    'disk',
    node({ diskFailure: 'ENOSPC' }),
    'fail: ENOSPC: this node takes no requests until it can be written again',
    {},
  ],
  ['configuration', SEEN, 'ok: there is no configuration file', { problems: 0 }],
  ['configuration', node({ hasConfigFile: true }), 'ok: the configuration file is in use', { problems: 0 }],
  [
    'configuration',
    node({ configRefusal: { sinceMs: 0, problems: ['bad line'] } }),
    'warn: the file has been invalid since 1970-01-01T00:00:00.000Z, an earlier one is in use: bad line',
    { problems: 1 },
  ],
  [
    'configuration',
    node({ configRefusal: { sinceMs: 0, problems: ['bad line', 'another'] } }),
    'warn: the file has been invalid since 1970-01-01T00:00:00.000Z, an earlier one is in use: bad line (and 1 more)',
    { problems: 2 },
  ],
  ['redis', SEEN, 'ok: not configured: each node applies its share of the rate limits', {}],
  [
    'redis',
    node({ limiter: { state: 'local', counts: COUNTS } }),
    'warn: unreachable: this node applies its share of the rate limits (it does not answer)',
    COUNTED,
  ],
  [
    'redis',
    node({ limiter: { state: 'local', lastError: 'connect ECONNREFUSED', counts: COUNTS } }),
    'warn: unreachable: this node applies its share of the rate limits (connect ECONNREFUSED)',
    COUNTED,
  ],
  [
    'redis',
    node({
      limiter: {
        state: 'local',
        lastError: "OOM command not allowed when used memory > 'maxmemory'.",
        counts: COUNTS,
      },
    }),
    `warn: out of memory: this node applies its share of the rate limits. ${MORE_MEMORY}`,
    COUNTED,
  ],
  ['redis', node({ limiter: SHARED }), 'ok: answers: Redis counts the rate limits', COUNTED],
  ['redis', withMemory(90, 100), 'ok: answers: Redis counts the rate limits', COUNTED],
  ['redis', withMemory(1000, 0), 'ok: answers: Redis counts the rate limits', COUNTED],
  [
    'redis',
    withMemory(91, 100),
    `warn: nearly out of memory: it uses 91 of 100 bytes (maxmemory). ${MORE_MEMORY}`,
    COUNTED,
  ],
  [
    'redis',
    withMemory(100, 100),
    `warn: out of memory: it uses 100 of 100 bytes (maxmemory), and this node applies its share of the rate limits. ${MORE_MEMORY}`,
    COUNTED,
  ],
  [
    'redis',
    withMemory(1, 100, 'allkeys-lru'),
    `warn: its maxmemory-policy is allkeys-lru, ${EVICTION}`,
    COUNTED,
  ],
]

test('the doctor says of each part of the ledger and of a node what is wrong, and how much', () => {
  for (const [name, seen, says, own] of CHECKS) {
    const check = checksOf(seen).find((one) => one.name === name)
    assert.deepEqual([name, `${check?.verdict}: ${check?.says}`, check?.figures], [name, says, own])
  }
})

const STORE =
  'durability schema ledger sealing budgets spending labels unknowns refused nodes agreement places leases partitions lake audit deletions requests'
const ON_NODE = 'models spool calls disk space images clock redis cache configuration'

test('a report has every check in its order; without PostgreSQL, those that need none', () => {
  const names = (seen: Seen): string =>
    checksOf(seen)
      .map(({ name }) => name)
      .join(' ')
  assert.equal(names(SEEN), `store ${STORE} ${ON_NODE}`)
  assert.equal(names({ ...SEEN, findings: undefined }), `store ${ON_NODE}`)
  const server = {
    fsync: true,
    full_page_writes: true,
    synchronous_commit: 'on',
    max_connections: 1,
    autovacuum: true,
    open: { transactions: [], hidden: 0 },
    slots: [],
    unvacuumed: [],
  }
  const full: Seen = {
    ...SEEN,
    findings: { ...FINDINGS, install: { ...FINDINGS.install, server } },
    around: { ...SEEN.around, certificate: { beginsAtMs: 0, endsAtMs: 1 }, isPoolerUnfit: false },
  }
  assert.equal(
    names(full),
    `store ${STORE.replace('schema', 'connections transactions slots autovacuum schema')} pooler ${ON_NODE.replace('redis', 'certificate redis')}`,
  )
})

test('a report is as bad as its worst check', () => {
  const checks = (...verdicts: Verdict[]) =>
    verdicts.map((verdict): Check => ({ name: '', verdict, says: '', figures: {} }))
  for (const [verdicts, worst] of [
    [[], 'ok'],
    [['ok', 'ok'], 'ok'],
    [['ok', 'warn'], 'warn'],
    [['warn', 'fail', 'ok'], 'fail'],
  ] as const)
    assert.equal(worstOf(checks(...verdicts)), worst)
})
