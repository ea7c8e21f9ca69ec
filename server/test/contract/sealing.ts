/** What sealing promises: each entry counts once, in its hour or as a correction of it, whenever it comes and whatever dies. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { windowOf, type Budget } from '#core/money/budget.ts'
import { canonicalLine, canonicalOrder, HASHED_MS, type CanonicalRow } from '#core/money/canonical-entry.ts'
import { HOUR_MS, momentOf } from '#core/money/ledger.ts'
import { PostgresSealing } from '#stores/postgres/ledger/seal.ts'
import { LEDGER_NOW_MS, DAY_MS, type LedgerStores } from '#test/support/ledger-stores.ts'

/** The sums of an hour by every way in which they are kept. */
const SUMS = `
SELECT hour::text AS hour, sum(entries)::integer AS entries, sum(nano)::integer AS nano FROM (
  SELECT to_timestamp(('x0000' || left(replace(request_id::text, '-', ''), 12))::bit(64)::bigint / 3600000 * 3600) AS hour,
    1 AS entries, amount_nano AS nano FROM usage_events
) AS rows GROUP BY hour ORDER BY hour`
const KEPT = `
SELECT hour::text AS hour, sum(entries)::integer AS entries, sum(nano)::integer AS nano FROM (
  SELECT hour, entries, amount_nano AS nano FROM sealed_hours
  UNION ALL SELECT hour, 1, amount_nano FROM ledger_corrections
  UNION ALL SELECT to_timestamp(('x0000' || left(replace(request_id::text, '-', ''), 12))::bit(64)::bigint / 3600000 * 3600), 1, amount_nano
  FROM usage_events WHERE to_timestamp(('x0000' || left(replace(request_id::text, '-', ''), 12))::bit(64)::bigint / 1000)
    >= (SELECT coalesce(sealing, through) FROM ledger_seal)
) AS rows GROUP BY hour ORDER BY hour`

/** Entries of open hours are no corrections, so that nothing is counted twice above. */
export async function assertSums({
  rows,
  reconciler,
}: Pick<LedgerStores, 'rows' | 'reconciler'>): Promise<void> {
  assert.deepEqual(await rows(KEPT), await rows(SUMS))
  const { differences } = await reconciler.reconcile('all')
  assert.deepEqual(differences, [])
}

/** As anyone with the rows can make it. */
export function hashOf(rows: readonly CanonicalRow[]): string {
  const stretches = Map.groupBy(rows, ({ request_id: id }) => Math.floor(momentOf(String(id)) / HASHED_MS))
  const hash = createHash('sha256')
  for (const [, own] of [...stretches].toSorted(([a], [b]) => a - b)) {
    const text = own.toSorted(canonicalOrder).map(canonicalLine).join('\n')
    hash.update(createHash('sha256').update(text).digest())
  }
  return hash.digest('hex')
}

export function sealingSuite(name: string, open: () => Promise<LedgerStores>): void {
  /** Entries of some moment, written now. */
  const write = async (stores: LedgerStores, atMs: number, ...amounts: readonly bigint[]): Promise<void> => {
    const { clock, ledger, nodeId, entry } = stores
    const nowMs = clock.ms
    clock.ms = atMs
    const entries = amounts.map((amountNanoUsd) => entry({ amountNanoUsd, countsRequest: true }))
    clock.ms = nowMs
    await ledger.append(nodeId, entries)
  }
  const thisHourMs = Math.floor(LEDGER_NOW_MS / HOUR_MS) * HOUR_MS

  test(`${name}: an hour is sealed two hours after its end, once, with its sums and a hash that its rows give again`, async () => {
    const stores = await open()
    const { sealing, rows, clock } = stores
    await write(stores, LEDGER_NOW_MS - 20 * 60_000, 200n, 7n)
    await write(stores, LEDGER_NOW_MS, 50n)
    clock.ms = thisHourMs + 3 * HOUR_MS - 1
    assert.equal((await sealing.sealDue()).hours, 0)
    clock.ms += 1
    const sealed = await sealing.sealDue()
    assert.deepEqual([sealed.hours, sealed.entries, sealed.differences], [1, 3, []])
    assert.equal((await sealing.sealDue()).hours, 0)
    const [hour] = await rows<{
      entries: bigint
      posts: bigint
      requests: bigint
      nano: bigint
      hash: string
    }>(`SELECT entries, posts, requests, amount_nano AS nano, encode(hash, 'hex') AS hash FROM sealed_hours`)
    const entries = await rows<CanonicalRow>('SELECT * FROM usage_events')
    assert.deepEqual(hour, { entries: 3n, posts: 3n, requests: 3n, nano: 257n, hash: hashOf(entries) })
    await assert.rejects(rows('UPDATE sealed_hours SET entries = 0'), /append-only/)
    await assertSums(stores)
  })

  test(`${name}: the rollups of a sealed hour are one row for all its writers, and late entries are beside it`, async () => {
    const stores = await open()
    const { sealing, rows, clock, ledger, identifiers, entry } = stores
    for (let node = 0; node < 5; node += 1) {
      const nodeId = identifiers.next()
      await ledger.startNode({ id: nodeId, host: 'here', version: '1.0.0' })
      const labels = { user: 'alice', tags: { team: 'a' } }
      await ledger.append(nodeId, [entry({ labels }), entry()], node % 2)
    }
    clock.ms = thisHourMs + 3 * HOUR_MS
    await sealing.sealDue()
    await write(stores, LEDGER_NOW_MS, 11n)
    const shards = (table: string) =>
      rows(`SELECT shard < 0 AS sealed, shard >= 100 AS late, sum(posts)::integer AS posts, sum(amount_nano)::integer AS nano,
        count(*)::integer AS rows FROM ${table} GROUP BY 1, 2 ORDER BY 1 DESC`)
    assert.deepEqual(await shards('usage_hours'), [
      { sealed: true, late: false, posts: 10, nano: 2000, rows: 1 },
      { sealed: false, late: true, posts: 1, nano: 11, rows: 1 },
    ])
    assert.deepEqual(await shards('usage_label_hours'), [
      { sealed: true, late: false, posts: 10, nano: 2000, rows: 2 },
    ])
    assert.deepEqual(
      await rows('SELECT hour, kind, amount_nano::integer AS nano, in_day FROM ledger_corrections'),
      [{ hour: new Date(thisHourMs), kind: 'post', nano: 11, in_day: false }],
    )
    await assertSums(stores)
  })

  test(`${name}: an entry counts once, whether it was sent before its hour was sealed, after it, or both`, async () => {
    const stores = await open()
    const { sealing, rows, clock, ledger, nodeId, entry } = stores
    const [early, late] = [entry(), entry()]
    await ledger.append(nodeId, [early])
    clock.ms = thisHourMs + 3 * HOUR_MS
    await sealing.sealDue()
    for (let time = 0; time < 3; time += 1) await ledger.append(nodeId, [early, late, early])
    await ledger.appendLate(nodeId, [late, early])
    const [sums] = await rows('SELECT sum(posts)::integer AS posts FROM usage_hours')
    assert.deepEqual(sums, { posts: 2 })
    assert.equal((await rows('SELECT 1 FROM ledger_corrections')).length, 1)
    await assertSums(stores)
  })

  test(`${name}: a sum that was changed is reported when its hour is compared and when it is sealed, and stays as it is`, async () => {
    const stores = await open()
    const { sealing, reconciler, clock, database, rows } = stores
    clock.ms = Date.now()
    const hourMs = Math.floor(clock.ms / HOUR_MS) * HOUR_MS
    await write(stores, clock.ms, 200n)
    await database.query('UPDATE usage_hours SET amount_nano = 1')
    assert.equal((await reconciler.figures()).differences, 0)
    clock.ms = hourMs + HOUR_MS
    const { differences, entries } = await reconciler.reconcileDue()
    assert.deepEqual([differences.length, entries], [1, 1])
    assert.equal((await reconciler.reconcileDue()).entries, 0, 'once')
    assert.equal((await reconciler.figures()).differences, 1, 'until it is compared again')
    clock.ms = hourMs + 3 * HOUR_MS
    const sealed = await sealing.sealDue()
    assert.deepEqual(
      sealed.differences.map(({ ledger, rollup }) => [ledger.amountNanoUsd, rollup.amountNanoUsd]),
      [[200n, 1n]],
    )
    assert.deepEqual(await rows('SELECT amount_nano FROM usage_hours'), [{ amount_nano: 1n }])
    await database.query('UPDATE usage_hours SET amount_nano = 200')
    await reconciler.reconcile('all')
    assert.equal((await reconciler.figures()).differences, 0)
  })

  test(`${name}: an hour waits for a node of an earlier version, and what that node wrote late becomes a correction`, async () => {
    const stores = await open()
    const { sealing, rows, clock, database, identifiers, ledger, entry, reconciler } = stores
    await write(stores, LEDGER_NOW_MS, 200n)
    clock.ms = thisHourMs + 3 * HOUR_MS
    const earlier = identifiers.next()
    await database.query(`INSERT INTO nodes (node_id, host, version) VALUES ($1, 'there', '0.9')`, [earlier])
    assert.equal((await sealing.sealDue()).waitsFor, 'a node of an earlier version')
    assert.equal((await reconciler.figures()).seal.earlierNodes, 1)
    await ledger.endNode(earlier, [])
    assert.equal((await sealing.sealDue()).hours, 1)
    // What a node of an earlier version does: it does not know that the hour is sealed.
    const returned = identifiers.next()
    await database.query(`INSERT INTO nodes (node_id, host, version) VALUES ($1, 'there', '0.9')`, [returned])
    const through = await rows<{ through: string }>('SELECT through::text FROM ledger_seal')
    await database.query(`UPDATE ledger_seal SET through = '-infinity'`)
    clock.ms = LEDGER_NOW_MS
    await ledger.append(returned, [entry({ amountNanoUsd: 30n })])
    clock.ms = thisHourMs + 3 * HOUR_MS
    await database.query('UPDATE ledger_seal SET through = $1', [through[0]?.through])
    await ledger.endNode(returned, [])
    assert.equal((await sealing.sealDue()).adopted, 1)
    assert.equal((await sealing.sealDue()).adopted, 0)
    assert.deepEqual(await rows('SELECT amount_nano FROM ledger_corrections'), [{ amount_nano: 30n }])
    await assertSums(stores)
  })

  test(`${name}: budgets of every period are exact across open hours, final days, corrections and dropped hours`, async () => {
    const stores = await open()
    const { sealing, upkeep, budgets, clock, reconciler, rows, nodeId, identifiers } = stores
    await upkeep.makePartitions()
    const spent = async (per: Budget['per']): Promise<readonly bigint[]> => {
      const window = windowOf(per, LEDGER_NOW_MS)
      return budgets.spentNanoUsd(
        ['project:search', 'key:search/ci', 'key:search/none'].map((budgetId) => ({ budgetId, window })),
      )
    }
    const assertSpent = async (day: bigint, total: bigint): Promise<void> => {
      assert.deepEqual(await spent('day'), [day, day, 0n])
      assert.deepEqual(await spent('total'), [total, total, 0n])
      assert.deepEqual((await reconciler.reconcile('all')).budgetsCorrected, [])
      assert.deepEqual((await reconciler.reconcileDue()).budgetsCorrected, [])
    }
    for (const per of ['day', 'total'] as const)
      for (const id of ['project:search', 'key:search/ci']) {
        const budget: Budget = { id, limitNanoUsd: 1_000_000n, per, hard: true }
        const ask = { budget, nodeId, operation: identifiers.next(), neededNanoUsd: 0n, liveNodes: 1 }
        await budgets.lease({ ...ask, window: windowOf(per, LEDGER_NOW_MS) })
      }
    await write(stores, LEDGER_NOW_MS - 40 * DAY_MS, 1n)
    await write(stores, LEDGER_NOW_MS, 10n)
    await assertSpent(10n, 11n)
    clock.ms = LEDGER_NOW_MS + 2 * DAY_MS
    await sealing.sealDue()
    await assertSpent(10n, 11n)
    await write(stores, LEDGER_NOW_MS, 100n)
    await assertSpent(110n, 111n)
    await upkeep.rollUpDays()
    await upkeep.rollUpDays()
    await assertSpent(110n, 111n)
    await write(stores, LEDGER_NOW_MS, 1000n)
    clock.ms = Date.UTC(2027, 1, 1) + 92 * DAY_MS
    await sealing.sealDue()
    // December and January, and with December the hours before it, which have no partition.
    for (let month = 0; month < 2; month += 1)
      assert.equal((await upkeep.dropOld()).partitions.filter((one) => /hours/.test(one)).length, 2)
    assert.deepEqual((await upkeep.dropOld()).partitions, [])
    assert.deepEqual(await rows('SELECT 1 FROM usage_hours'), [])
    await assertSpent(1110n, 1111n)
    await write(stores, LEDGER_NOW_MS, 10_000n)
    await assertSpent(11_110n, 11_111n)
    await upkeep.rollUpDays()
    await assertSpent(11_110n, 11_111n)
    assert.deepEqual(
      await rows(`SELECT day, posts, amount_nano FROM usage_group_days WHERE day = '2026-12-12'`),
      await rows(`SELECT day, posts, amount_nano FROM usage_days WHERE day = '2026-12-12'`),
    )
    await write(stores, LEDGER_NOW_MS, 5n)
    await upkeep.rollUpDays()
    await assertSpent(11_115n, 11_116n)
    const earlier = identifiers.next()
    await rows(`INSERT INTO nodes (node_id, host, version) VALUES ($1, 'there', '0.9')`, [earlier])
    await assertSpent(11_115n, 11_116n)
  })

  test(`${name}: an entry, a sum or a hash of a sealed hour that was changed is found, also where only one of them is left`, async () => {
    const stores = await open()
    const { sealing, upkeep, clock, reconciler, tamper, database, rows } = stores
    await upkeep.makePartitions()
    await write(stores, LEDGER_NOW_MS, 200n, 7n)
    clock.ms = LEDGER_NOW_MS + 2 * DAY_MS
    await sealing.sealDue()
    await write(stores, LEDGER_NOW_MS, 9n)
    const found = async () => (await reconciler.reconcile('all')).differences.map(({ sealed }) => sealed)
    assert.deepEqual(await found(), [])
    await tamper('UPDATE usage_events SET model = $1 WHERE amount_nano = 7', ['other'])
    assert.deepEqual(await found(), ['hash'])
    await tamper('UPDATE usage_events SET model = $1 WHERE amount_nano = 7', ['small'])
    await tamper('UPDATE usage_events SET amount_nano = 8 WHERE amount_nano = 7')
    assert.deepEqual(await found(), [undefined, 'entries'])
    await tamper('UPDATE usage_events SET amount_nano = 7 WHERE amount_nano = 8')
    assert.deepEqual(await found(), [])
    await database.query(`UPDATE ledger_seal SET hours_kept_from = '2026-12-13Z'; DELETE FROM usage_hours`)
    assert.deepEqual(await found(), [], 'days have the sums')
    await tamper('UPDATE usage_events SET amount_nano = 8 WHERE amount_nano = 7')
    assert.deepEqual(await found(), ['entries'])
    await rows(`UPDATE ledger_seal SET entries_kept_from = '2026-12-13Z'`)
    await database.query('DROP TABLE usage_events_2026_12_12')
    assert.deepEqual(await found(), [], 'neither is here')
  })

  test(`${name}: where entries were exported and dropped, sums are compared with what was sealed`, async () => {
    const stores = await open()
    const { sealing, upkeep, clock, reconciler, database } = stores
    await upkeep.makePartitions()
    await write(stores, LEDGER_NOW_MS, 200n, 7n)
    clock.ms = LEDGER_NOW_MS + 2 * DAY_MS
    await sealing.sealDue()
    await write(stores, LEDGER_NOW_MS, 9n)
    await database.query(`UPDATE ledger_seal SET entries_kept_from = '2026-12-13Z'`)
    await database.query('DROP TABLE usage_events_2026_12_12')
    assert.deepEqual((await reconciler.reconcile('all')).differences, [])
    await database.query('UPDATE usage_hours SET amount_nano = amount_nano + 1 WHERE shard < 0')
    assert.deepEqual(
      (await reconciler.reconcile('all')).differences.map(({ sealed, ledger, rollup }) => [
        sealed,
        ledger.amountNanoUsd,
        rollup.amountNanoUsd,
      ]),
      [['sums', 217n, 216n]],
    )
  })

  test(`${name}: entries of a day that was dropped are refused by the name of the day`, async () => {
    const stores = await open()
    const { upkeep, database } = stores
    await upkeep.makePartitions()
    await database.query(`UPDATE ledger_seal SET entries_kept_from = '2026-12-12T00:00:00Z'`)
    await database.query('DROP TABLE usage_events_2026_12_11')
    await assert.rejects(write(stores, LEDGER_NOW_MS - DAY_MS, 1n), /2026-12-11/)
    await assert.rejects(write(stores, LEDGER_NOW_MS - 90 * DAY_MS, 1n), /2026-09-13/)
    await write(stores, LEDGER_NOW_MS, 1n)
  })

  test(`${name}: hours left half sealed by a node that died are finished by the next one`, async () => {
    const stores = await open()
    const { clock, database, rows } = stores
    for (let hour = 0; hour < 4; hour += 1) await write(stores, LEDGER_NOW_MS - hour * HOUR_MS, 5n, 6n)
    clock.ms = LEDGER_NOW_MS + 4 * HOUR_MS
    for (let calls = 0, isDone = false; !isDone; calls += 1) {
      assert.ok(calls < 400)
      const dying = new PostgresSealing(dyingAfter(database, calls), clock)
      isDone = await dying.sealDue().then(
        () => true,
        () => false,
      )
      await assertSums(stores)
    }
    assert.equal((await rows('SELECT 1 FROM sealed_hours')).length, 4)
    assert.deepEqual(await rows('SELECT DISTINCT shard FROM usage_hours'), [{ shard: -1 }])
  })
}

/** A database whose node dies after some statements, as a process dies: it says nothing and rolls nothing back. */
export function dyingAfter(database: LedgerStores['database'], statements: number): LedgerStores['database'] {
  let left = statements
  const dying = <Sql extends Pick<LedgerStores['database'], 'query'>>(sql: Sql): Sql => ({
    ...sql,
    query: <Row>(text: string, values?: readonly unknown[], name?: string) => {
      left -= 1
      if (left < 0) throw new Error('killed')
      return sql.query<Row>(text, values, name)
    },
  })
  return {
    ...dying(database),
    transaction: (work) => database.transaction((sql) => work(dying(sql))),
    session: (work, queryTimeoutMs) => database.session((sql) => work(dying(sql)), queryTimeoutMs),
  }
}
