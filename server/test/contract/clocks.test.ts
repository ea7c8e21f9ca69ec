/** What a wrong clock may not do: everything that nodes share goes by the clock of the database. */
import assert from 'node:assert/strict'
import { mock, test } from 'node:test'
import { HOUR_MS } from '#core/money/ledger.ts'
import { DAY_MS } from '#core/money/id-range.ts'
import { DAYS_PER_ROUND, MAX_CLOCK_SKEW_MS, REQUEST_LOG_DAYS } from '#ports/upkeep.ts'
import { nodeClock, systemClock } from '#runtime/clock.ts'
import { PostgresLake } from '#stores/postgres/ledger/lake.ts'
import { PostgresReconciler } from '#stores/postgres/ledger/reconciler.ts'
import { PostgresSealing } from '#stores/postgres/ledger/seal.ts'
import { PostgresUpkeep } from '#stores/postgres/ledger/upkeep.ts'
import { storeClockOf } from '#stores/postgres/store-clock.ts'
import { postgresStores, type LedgerStores } from '#test/support/ledger-stores.ts'
import { Membership } from '#worker/ledger/membership.ts'

const open = postgresStores()

/** Stores as a node opens them, at a database with its guards. */
async function openAsNode(): Promise<LedgerStores> {
  const stores = await open()
  const { database, ledger } = stores
  await database.query('ALTER TABLE ledger_seal ENABLE TRIGGER ledger_seal_in_the_past')
  const clock = storeClockOf(database)
  return {
    ...stores,
    upkeep: new PostgresUpkeep(database, ledger, clock),
    sealing: new PostgresSealing(database, clock),
    reconciler: new PostgresReconciler(database, clock),
  }
}

/** The clock of this machine, while it is off. */
async function withClockOff<Result>(offMs: number, work: () => Promise<Result>): Promise<Result> {
  const realMs = Date.now.bind(Date)
  const moved = mock.method(Date, 'now', () => realMs() + offMs)
  try {
    return await work()
  } finally {
    moved.mock.restore()
  }
}

for (const days of [-40, -3, 3, 40])
  test(`a node whose clock is ${Math.abs(days)} days ${days > 0 ? 'ahead' : 'behind'} seals, drops, posts and exports nothing that is not due`, async () => {
    const stores = await openAsNode()
    const {
      upkeep,
      sealing,
      reconciler,
      ledger,
      nodeId,
      entry,
      requests,
      identifiers,
      clock,
      rows,
      database,
    } = stores
    clock.ms = Date.now()
    await upkeep.makePartitions()
    const log = { route: 'embeddings', status: 200, durationMs: 1 }
    await requests.append([{ ...log, requestId: identifiers.next() }])
    const unknown = { kind: 'unknown', usage: 'unknown', tokens: undefined } as const
    await ledger.append(nodeId, [entry(), entry(unknown)])
    await database.query(
      `INSERT INTO nodes (node_id, host, version, seals, ended_at) VALUES ($1, '', '1', true, now())`,
      [identifiers.next()],
    )
    const seen = () =>
      rows(`SELECT through::text, compared_through::text, days_through::text, (SELECT count(*) FROM nodes) AS nodes,
          (SELECT count(*) FROM requests) AS requests, (SELECT count(*) FROM usage_events) AS entries,
          (SELECT count(*) FROM pg_inherits WHERE inhparent = 'requests'::regclass) AS log_partitions,
          (SELECT count(*) FROM pg_inherits WHERE inhparent = 'usage_hours'::regclass) AS hour_partitions
        FROM ledger_seal, LATERAL (SELECT now()) AS moment`)
    await sealing.sealDue()
    await reconciler.reconcileDue()
    const before = await seen()
    await withClockOff(days * DAY_MS, async () => {
      assert.deepEqual((await upkeep.makePartitions()).made, [])
      await reconciler.reconcileDue()
      assert.equal((await sealing.sealDue()).hours, 0)
      assert.equal(await upkeep.expireUnknowns(), 0)
      await upkeep.rollUpDays()
      assert.deepEqual(await upkeep.dropOld(), { partitions: [], nodes: 0 })
      assert.deepEqual(await new PostgresLake(database).daysDue(10), [])
    })
    assert.deepEqual(await seen(), before)
  })

test('the database refuses a seal in the future, and every other moment of it that never goes back', async () => {
  const { database, rows } = await openAsNode()
  for (const column of [
    'through',
    'compared_through',
    'days_through',
    'hours_kept_from',
    'entries_kept_from',
  ]) {
    const set = (moment: string) => database.query(`UPDATE ledger_seal SET ${column} = ${moment}`)
    await assert.rejects(
      set(`now() + interval '1 day'`),
      new RegExp(`ledger_seal.${column} would be in the future`),
    )
    await set(`now() - interval '1 minute'`)
  }
  // One that a version without the guard left there keeps nothing else from being written.
  await database.query('ALTER TABLE ledger_seal DISABLE TRIGGER ledger_seal_in_the_past')
  await database.query(`UPDATE ledger_seal SET through = now() + interval '3 days'`)
  await database.query('ALTER TABLE ledger_seal ENABLE TRIGGER ledger_seal_in_the_past')
  await database.query('UPDATE ledger_seal SET sealing = NULL, compared_at = now()')
  assert.equal((await rows('SELECT 1 FROM ledger_seal WHERE through > now()')).length, 1)
})

test('a day that has not ended is not exported, whatever is sealed', async () => {
  const { database, sealing, clock, ledger, nodeId, entry, rows } = await open()
  clock.ms = Date.now()
  await ledger.append(nodeId, [entry()])
  clock.ms = Date.now() + 3 * DAY_MS
  await sealing.sealDue()
  assert.equal((await rows('SELECT 1 FROM ledger_seal WHERE days_through > now()::date')).length, 1)
  assert.deepEqual(await new PostgresLake(database).daysDue(10), [])
})

test('a node whose clock is wrong, or unknown, is never the eldest; it is again once its clock is right', async () => {
  const { ledger, upkeep, nodeId, identifiers } = await open()
  const younger = identifiers.next()
  await ledger.startNode({ id: younger, host: 'there', version: '1.0.0' })
  const eldest = async () => [await upkeep.isEldest(nodeId), await upkeep.isEldest(younger)]
  for (const skewMs of [40 * DAY_MS, -40 * DAY_MS, MAX_CLOCK_SKEW_MS + 1, -MAX_CLOCK_SKEW_MS - 1]) {
    await ledger.heartbeat(nodeId, { clockSkewMs: skewMs })
    assert.deepEqual(await eldest(), [false, false], 'the other has not said how its clock goes')
  }
  await ledger.heartbeat(younger, { clockSkewMs: 0 })
  assert.deepEqual(await eldest(), [false, true])
  await ledger.heartbeat(nodeId)
  assert.deepEqual(await eldest(), [false, true], 'a heartbeat without a skew changes none')
  await ledger.heartbeat(nodeId, { clockSkewMs: MAX_CLOCK_SKEW_MS })
  assert.deepEqual(await eldest(), [true, false])
})

test('a node tells the others how far its clock is off from its first heartbeats on, and a jump with the next one', async () => {
  const { ledger, database, identifiers, upkeep } = await openAsNode()
  let offMs = 40 * DAY_MS
  const clock = nodeClock({ ...systemClock, nowMs: () => Date.now() + offMs })
  const node = { id: identifiers.next(), host: 'here', version: '1.0.0' }
  const membership = new Membership({ node, store: ledger, clock, prepare: async () => {} })
  const skewDays = async (): Promise<number> => {
    const text = 'SELECT round(clock_skew_ms / 86400000)::integer AS days FROM nodes WHERE node_id = $1'
    return (await database.query<{ days: number }>(text, [node.id]))[0]?.days ?? Number.NaN
  }
  await membership.renew()
  assert.equal(await skewDays(), 40)
  assert.equal(await upkeep.isEldest(node.id), false)
  assert.ok(Math.abs(clock.nowMs() - Date.now()) < HOUR_MS, 'its ids have the time of the database')
  offMs = -3 * DAY_MS
  await membership.renew()
  assert.equal(await skewDays(), -3)
})

test('one round drops a few days of the request log at most, the oldest, and never one that is kept', async () => {
  const { upkeep, clock, requests, identifiers, rows } = await open()
  const firstMs = Date.UTC(2027, 0, 1)
  const log = { route: 'embeddings', status: 200, durationMs: 1 }
  for (let day = 0; day < 8; day += 1) {
    clock.ms = firstMs + day * DAY_MS
    await upkeep.makePartitions()
  }
  const days = (await rows(`SELECT FROM pg_inherits WHERE inhparent = 'requests'::regclass`)).length - 1
  // Rows without a partition are bounded like days.
  for (const daysAgo of [60, 59, 56, 55]) {
    clock.ms = firstMs - daysAgo * DAY_MS
    await requests.append([{ ...log, requestId: identifiers.next() }])
  }
  clock.ms = firstMs + (REQUEST_LOG_DAYS + 400) * DAY_MS
  const rest = async (): Promise<number> => (await rows('SELECT FROM requests_rest')).length
  assert.deepEqual(
    (await upkeep.dropOld()).partitions.filter((name) => name.startsWith('requests')),
    ['requests_2027_01_01', 'requests_2027_01_02', 'requests_2027_01_03'],
  )
  assert.equal(await rest(), 2)
  await upkeep.dropOld()
  assert.equal(await rest(), 0)
  let rounds = 2
  for (; (await upkeep.dropOld()).partitions.length > 0; rounds += 1);
  assert.equal(rounds, Math.ceil(days / DAYS_PER_ROUND))
})
