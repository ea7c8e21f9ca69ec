import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { windowOf, type Budget } from '#core/money/budget.ts'
import type { LedgerFigures } from '#ports/upkeep.ts'
import { openPostgres } from '#stores/postgres/database.ts'
import { PostgresLedger } from '#stores/postgres/ledger/ledger.ts'
import { PostgresReconciler } from '#stores/postgres/ledger/reconciler.ts'
import { PostgresSealing } from '#stores/postgres/ledger/seal.ts'
import { storeClockOf } from '#stores/postgres/store-clock.ts'
import { PostgresUpkeep } from '#stores/postgres/ledger/upkeep.ts'
import { LEDGER_NOW_MS, DAY_MS, postgresStores, type LedgerStores } from '#test/support/ledger-stores.ts'
import { eventually } from '#test/support/process.ts'
import { RequestLog } from '#worker/ledger/request-log.ts'
import { startUpkeep, STEADY_CLOCK_MS } from '#worker/ledger/upkeep.ts'
import { reconcilerSuite } from './reconciler.ts'
import { upkeepSuite } from './upkeep.ts'

const open = postgresStores()

upkeepSuite('PostgreSQL', open)
reconcilerSuite('PostgreSQL', open)

test('nodes that start together make each partition once', async () => {
  const { upkeep } = await open()
  const made = await Promise.all(Array.from({ length: 4 }, () => upkeep.makePartitions()))
  assert.deepEqual(
    made.flatMap(({ missing }) => missing),
    [],
  )
  assert.ok(new Set(made.flatMap((one) => one.made)).size === 12)
})

test('a partition waits for a table no longer than a second, and is made the next time', async () => {
  const { upkeep, database } = await open()
  const { promise: held, resolve: release } = Promise.withResolvers<void>()
  const { promise: isHeld, resolve: hold } = Promise.withResolvers<void>()
  const reading = database.transaction(async (sql) => {
    await sql.query('SELECT count(*) FROM usage_events')
    hold()
    await held
  })
  await isHeld
  // The table stays locked until this has ended.
  const { made, missing } = await upkeep.makePartitions()
  assert.deepEqual(
    missing.map(({ reason }) => reason),
    ['busy', 'busy'],
  )
  assert.equal(made.length, 10, 'the request log and the sums are other tables')
  release()
  await reading
  assert.equal((await upkeep.makePartitions()).made.length, 2)
})

test('a record that PostgreSQL can not keep takes no other record of the request log with it', async () => {
  const { requests, upkeep, identifiers, rows } = await open()
  await upkeep.makePartitions()
  const refused: number[] = []
  const log = new RequestLog(requests, {
    written: () => {},
    dropped: () => assert.fail('there was room'),
    refused: (records) => void refused.push(records),
  })
  const poison = new Set([3, 77])
  for (let index = 0; index < 81; index += 1)
    log.add({
      requestId: identifiers.next(),
      route: '/v1/embeddings',
      status: 200,
      amountNanoUsd: poison.has(index) ? 2n ** 63n : 1n,
      durationMs: 1,
    })
  await log.close()
  assert.deepEqual(refused, [1, 1])
  assert.equal((await rows('SELECT request_id FROM requests')).length, 79)
})

test('while nodes write, the reconciler finds no difference and corrects no budget that is right', async () => {
  const { upkeep, ledger, budgets, identifiers, entry, reconciler, rows } = await open()
  await upkeep.makePartitions()
  const budget: Budget = { id: 'project:search', limitNanoUsd: 10_000_000n, per: 'month', hard: true }
  const window = windowOf('month', LEDGER_NOW_MS)
  const over = new AbortController()
  const write = async (): Promise<void> => {
    const nodeId = identifiers.next()
    await ledger.startNode({ id: nodeId, host: 'here', version: '1.0.0' })
    const lease = () =>
      budgets.lease({
        budget,
        window,
        nodeId,
        operation: identifiers.next(),
        neededNanoUsd: 2000n,
        liveNodes: 3,
      })
    while (!over.signal.aborted) {
      await lease()
      await ledger.append(
        nodeId,
        Array.from({ length: 10 }, () => entry({ projectLeaseNanoUsd: 200n })),
      )
    }
  }
  const writers = [write(), write(), write()]
  let rounds = 0
  // The budget begins while entries are being written: what that leaves out is corrected at most once.
  let corrections = 0
  for (; rounds < 6; rounds += 1) {
    const { differences, budgetsCorrected } = await reconciler.reconcile(rounds % 2 === 0 ? 2 : 'all')
    assert.deepEqual(differences, [])
    corrections += budgetsCorrected.length
  }
  over.abort()
  await Promise.all(writers)
  assert.ok(corrections <= 1, `${corrections} corrections`)
  assert.deepEqual((await reconciler.reconcile('all')).budgetsCorrected, [])
  const [sums] = await rows<{ ledger: bigint; spent: bigint }>(
    'SELECT (SELECT sum(amount_nano) FROM usage_events)::bigint AS ledger, spent_nano AS spent FROM budgets',
  )
  assert.equal(sums?.spent, sums?.ledger)
})

test('a budget that is wrong is put right while nodes spend from it', async () => {
  const { upkeep, ledger, budgets, nodeId, identifiers, entry, reconciler, database, rows } = await open()
  await upkeep.makePartitions()
  const budget: Budget = { id: 'project:search', limitNanoUsd: 10_000_000n, per: 'month', hard: true }
  const operation = identifiers.next()
  const window = windowOf('month', LEDGER_NOW_MS)
  await budgets.lease({ budget, window, nodeId, operation, neededNanoUsd: 1_000_000n, liveNodes: 1 })
  const over = new AbortController()
  const writing = (async () => {
    while (!over.signal.aborted) await ledger.append(nodeId, [entry({ projectLeaseNanoUsd: 200n })])
  })()
  for (let time = 0; time < 20; time += 1) {
    await database.query('UPDATE budgets SET spent_nano = spent_nano + 13, leased_nano = leased_nano - 17')
    assert.equal((await reconciler.reconcile(2)).budgetsCorrected.length, 1)
  }
  over.abort()
  await writing
  const [sums] = await rows<{ ledger: bigint; spent: bigint; leases: bigint; leased: bigint }>(
    `SELECT (SELECT sum(amount_nano) FROM usage_events)::bigint AS ledger, spent_nano AS spent,
       (SELECT sum(amount_nano) FROM leases)::bigint AS leases, leased_nano AS leased FROM budgets`,
  )
  assert.deepEqual([sums?.spent, sums?.leased], [sums?.ledger, sums?.leases])
})

/** A node's chores, noted as they happen, in rounds of some milliseconds. */
function chores({ upkeep, reconciler, sealing }: LedgerStores, nodeId: string, steadyMs = STEADY_CLOCK_MS) {
  const seen: string[] = []
  const figures: (LedgerFigures | undefined)[] = []
  const worker = startUpkeep({
    nodeId,
    upkeep,
    reconciler,
    sealing,
    monotonicMs: () => performance.now(),
    steadyMs: () => steadyMs,
    roundMs: 10,
    events: {
      figures: (given) => figures.push(given),
      reconciled: ({ entries }) => seen.push(`reconciled ${entries}`),
      sealed: ({ hours }) => hours > 0 && seen.push(`sealed ${hours}`),
      done: () => {},
      partitions: ({ made }) => seen.push(`made ${made.length}`),
      did: (what) => seen.push(JSON.stringify(what)),
      postponed: (chore, error) => seen.push(`postponed ${chore}: ${error.name}`),
      failed: (chore, error) => seen.push(`failed ${chore}: ${error.message}`),
    },
  })
  after(() => worker.stop())
  return { worker, seen, figures }
}

test('the eldest node does the chores, each in its time, and the next one when it is gone', async () => {
  const stores = await open()
  const { ledger, nodeId, identifiers, clock, entry, rows, upkeep } = stores
  // The database decides the age of an unknown.
  clock.ms = Date.now()
  await upkeep.makePartitions()
  const younger = identifiers.next()
  await ledger.startNode({ id: younger, host: 'there', version: '1.0.0' })
  await ledger.heartbeat(younger, { clockSkewMs: 0 })
  // These nodes send no heartbeats here: on a busy machine the elder would be silent for too long.
  await rows("UPDATE nodes SET seen_at = now() + interval '1 hour'")
  await ledger.append(nodeId, [entry({ kind: 'unknown', tokens: undefined })])
  const [elder, other] = [chores(stores, nodeId), chores(stores, younger)]
  await eventually(async () => assert.ok(elder.figures.length > 3 && other.figures.length > 3))
  assert.deepEqual(elder.seen, ['made 0', 'reconciled 0'], 'once, although there were more rounds')
  assert.equal(elder.figures[0]?.unknowns.open, 1)
  assert.deepEqual([other.seen, new Set(other.figures)], [[], new Set([undefined])])
  assert.deepEqual(await rows('SELECT posts::integer AS posts FROM usage_days'), [{ posts: 0 }])

  await elder.worker.stop()
  await ledger.endNode(nodeId, [])
  clock.ms = Date.now() + 8 * DAY_MS
  await eventually(async () => assert.ok(other.seen.includes('{"unknowns":1}')))
  await eventually(async () => assert.ok(other.seen.includes('{"partitions":[],"nodes":1}')))
  await other.worker.stop()
  const rounds = other.figures.length
  await new Promise((resolve) => setTimeout(resolve, 50))
  assert.equal(other.figures.length, rounds)
})

test('a chore that can not be done is reported, holds up no other and is tried again', async () => {
  const stores = await open()
  const { nodeId, database } = stores
  await database.query('ALTER TABLE usage_label_days RENAME TO elsewhere')
  const { worker, seen } = chores(stores, nodeId)
  await eventually(async () => assert.ok(seen.filter((line) => line.startsWith('failed days')).length > 1))
  await database.query('ALTER TABLE elsewhere RENAME TO usage_label_days')
  assert.ok(seen.includes('reconciled 0'))
  await worker.stop()
  assert.deepEqual(
    seen.filter((line) => !/^(failed days: relation "usage_label_days"|made|reconciled)/.test(line)),
    [],
  )
})

test('chores wait while the store is away', async () => {
  const database = openPostgres('postgres://postgres@127.0.0.1:1/postgres')
  const clock = storeClockOf(database)
  const upkeep = new PostgresUpkeep(database, new PostgresLedger(database), clock)
  const reconciler = new PostgresReconciler(database, clock)
  const sealing = new PostgresSealing(database, clock)
  const { worker, seen } = chores(
    { upkeep, reconciler, sealing } as LedgerStores,
    '01890000-0000-7000-8000-000000000000',
  )
  await eventually(async () => assert.ok(seen.length > 2))
  await worker.stop()
  assert.deepEqual([...new Set(seen)], ['postponed round: StoreUnreachable'])
  await database.close()
})

test('nothing is posted or deleted for its age before the clock of the store has been steady for an hour', async () => {
  const stores = await open()
  const { ledger, nodeId, clock, entry, identifiers, rows } = stores
  clock.ms = Date.now()
  const ended = identifiers.next()
  await ledger.startNode({ id: ended, host: 'there', version: '1.0.0' })
  await ledger.endNode(ended, [])
  await ledger.append(nodeId, [entry({ kind: 'unknown', tokens: undefined })])
  await rows("UPDATE nodes SET seen_at = now() + interval '1 hour'")
  clock.ms = Date.now() + 40 * DAY_MS
  const early = chores(stores, nodeId, STEADY_CLOCK_MS - 1)
  await eventually(async () => assert.ok(early.figures.length > 3))
  await early.worker.stop()
  assert.deepEqual(
    early.seen.filter((line) => line.startsWith('{')),
    [],
  )
  assert.deepEqual(await rows('SELECT kind FROM usage_events'), [{ kind: 'unknown' }])
  const { seen } = chores(stores, nodeId)
  await eventually(async () => assert.ok(seen.includes('{"unknowns":1}')))
  await eventually(async () => assert.ok(seen.includes('{"partitions":[],"nodes":1}')))
})
