/** One look at each store on PGlite: the SQL is PostgreSQL's own, whose stores keep the whole of their contracts. */
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { windowOf, type Budget } from '#core/money/budget.ts'
import { JobLost } from '#ports/image-jobs.ts'
import { sealingKeysOf } from '#runtime/secret.ts'
import { PostgresCredentials } from '#stores/postgres/directory/credentials.ts'
import { PostgresConfiguration } from '#stores/postgres/directory/configuration.ts'
import { PostgresImageJobs } from '#stores/postgres/jobs/image-jobs.ts'
import { PostgresNodeNews } from '#stores/postgres/node-news.ts'
import { PostgresDrains } from '#stores/postgres/directory/drains.ts'
import { PostgresTrafficHistory } from '#stores/postgres/traffic-history.ts'
import { PostgresWebhooks } from '#stores/postgres/jobs/webhooks.ts'
import { PostgresSpaces } from '#stores/postgres/spaces.ts'
import { LEDGER_NOW_MS, pgliteStores, type LedgerStores } from '#test/support/ledger-stores.ts'
import { SECRETS, someSecret } from '#test/support/directory.ts'
import { aCall, aJob, begunHold, KEYS, nextId, webhooksFor } from './image-jobs-open.ts'
import { aReference, aResult, MODEL } from './spaces.ts'

const open = pgliteStores()
let stores: LedgerStores
before(async () => {
  stores = await open()
})

test('ledger, budgets and upkeep: an entry sent twice counts once, in the partition of its day', async () => {
  const { upkeep, reconciler, ledger, budgets, nodeId, identifiers, entry, rows } = stores
  assert.equal((await upkeep.makePartitions()).made.length, 12)
  const budget: Budget = { id: 'project:search', limitNanoUsd: 100_000n, per: 'month', hard: true }
  const window = windowOf('month', LEDGER_NOW_MS)
  const question = { budget, window, nodeId, operation: identifiers.next(), liveNodes: 1 }
  const lease = await budgets.lease({ ...question, neededNanoUsd: 1000n })
  assert.deepEqual(await budgets.lease({ ...question, neededNanoUsd: 1000n }), lease)
  const [posted, unknown] = [
    entry({ projectLeaseNanoUsd: 200n }),
    entry({ kind: 'unknown', tokens: undefined }),
  ]
  await ledger.append(nodeId, [posted, unknown, posted])
  await ledger.appendLate(nodeId, [posted])
  assert.deepEqual(await budgets.spentNanoUsd([{ budgetId: budget.id, window }]), [400n])
  const partitions = await rows('SELECT DISTINCT tableoid::regclass::text AS partition FROM usage_events')
  assert.deepEqual(partitions, [{ partition: 'usage_events_2026_12_12' }])
  await assert.rejects(rows('DELETE FROM usage_events'), /append-only/)
  assert.deepEqual(
    (await ledger.openUnknowns({ limit: 9 })).map(({ requestId }) => requestId),
    [unknown.requestId],
  )
  const { entries, differences, budgetsCorrected } = await reconciler.reconcile('all')
  assert.deepEqual([entries, differences, budgetsCorrected], [2, [], []])
})

test('keys, credentials and audit: what was made is found, what is sealed opens, and the chain is whole', async () => {
  const { keys, audit, database } = stores
  const { stored } = someSecret()
  const models = ['a', 'b"c{,}']
  const made = await keys.createKey(
    { project: 'search', name: 'ci', secret: stored, models },
    { kind: 'member', name: 'tester' },
  )
  assert.deepEqual(await keys.findKey([stored.digest]), made)
  const credentials = new PostgresCredentials(database, sealingKeysOf(SECRETS))
  const baseUrl = 'https://api.example.com/v1'
  await credentials.put(
    { upstream: 'openai', baseUrl, secret: 'sk-of-an-upstream' },
    { kind: 'member', name: 'tester' },
  )
  assert.equal(await credentials.open('openai', baseUrl), 'sk-of-an-upstream')
  const configuration = new PostgresConfiguration(database, sealingKeysOf(SECRETS))
  const added = { object: 'upstream', name: 'openai', before: null, after: { provider: 'openai' } } as const
  await configuration.change(
    () => ({
      summary: 'Added upstream openai',
      objects: [added],
      credentials: [],
      renamedDeployments: [],
      pricedDeployments: [],
    }),
    { kind: 'member', name: 'tester' },
  )
  assert.deepEqual(
    (await configuration.read()).map(({ name, entry }) => [name, entry]),
    [['openai', { provider: 'openai' }]],
  )
  const entries = await audit.list({ limit: 9 })
  assert.ok(entries.length >= 3 && entries.every(({ intact }) => intact))
})

test('image jobs and webhooks: of many that begin at once one begins, and its end is reported once', async () => {
  const { database } = stores
  const jobs = new PostgresImageJobs(database, KEYS, webhooksFor)
  const asked = Array.from({ length: 8 }, () => aJob({ idempotencyKey: 'order-7' }))
  const begun = await Promise.all(asked.map((job) => jobs.begin(job)))
  assert.equal(begun.filter(({ kind }) => kind === 'begun').length, 1)
  const hold = await begunHold(jobs, aJob({ project: 'shop+hooks' }))
  await jobs.dispatched(hold, aCall())
  await jobs.callEnded(hold, 0, 'delivered')
  await jobs.end(hold, { state: 'settled', result: '{"data":[]}', freesKey: false })
  await assert.rejects(jobs.dispatched(hold, aCall(1)), JobLost)
  const outbox = new PostgresWebhooks(database)
  const due = await outbox.due(nextId(), 10)
  assert.equal(due.length, 2)
  assert.deepEqual(await outbox.due(nextId(), 10), [])
})

test('spaces: a reference keeps every bit, and a standing follows the probes', async () => {
  const spaces = new PostgresSpaces(stores.database)
  const kept = await spaces.beginReference(aReference())
  assert.deepEqual(await spaces.references(), [kept])
  assert.deepEqual(kept.vectors, aReference().vectors)
  await spaces.record(aResult())
  const [standing] = await spaces.standings()
  assert.deepEqual([standing?.model, standing?.isQuarantined, standing?.last], [MODEL, false, aResult()])
})

test('drains, news of nodes and history: what was written is read again', async () => {
  const { database, clock } = stores
  const node = '01920000-0000-7000-8000-000000000001'
  const drains = new PostgresDrains(database)
  await drains.drain('m/one', 'new driver', { kind: 'member', name: 'tester' })
  assert.deepEqual(
    (await drains.list()).map(({ deployment, reason }) => [deployment, reason]),
    [['m/one', 'new driver']],
  )
  const news = new PostgresNodeNews(database)
  assert.deepEqual(await news.read(), [])
  const condition = {
    node,
    atMs: 1,
    loopBusy: 0.5,
    spoolWaiting: 0,
    callsUnderWay: 0,
    isStoreAway: false,
    ledgerDifferences: 0,
  }
  const summary = { ...condition, deployments: [], flows: [] }
  await news.tell(node, () => summary)
  assert.deepEqual(await news.read(), [summary])
  const history = new PostgresTrafficHistory(database, clock)
  const latency = { classes: [3, 80], counts: [1, 2] }
  const slot = { deployment: 'm/one', atMs: 300_000, worst: 'ejected', calls: 3, failed: 1, latency } as const
  await history.write(node, {
    deployments: [{ ...slot, inFlight: 1, limit: undefined }],
    events: [{ deployment: 'm/one', atMs: 300_001, state: 'ejected', reason: 'refused' }],
    projects: [
      {
        slotMs: 60_000,
        atMs: 300_000,
        project: 'search',
        outcomes: { answered: 1, refused: 0, limited: 0, failed: 1, unknown: 0 },
        inputs: 4,
        hits: 2,
        nanoUsd: 5n,
        latency,
        own: latency,
      },
    ],
  })
  const span = { fromMs: 0, toMs: 600_000 }
  assert.deepEqual(await history.deploymentSlots('m/one', span, 300_000), [
    { ...slot, inFlight: 1, limit: undefined },
  ])
  assert.equal((await history.worstStates(0, 300_000))[0]?.worst, 'ejected')
  assert.equal((await history.events('m/one', span, 1)).length, 1)
  assert.equal((await history.traffic(span, 60_000, ['search']))[0]?.hits, 2)
  await history.dropOld()
  assert.deepEqual(await history.events('m/one', span, 1), [])
})
