import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'node:test'
import { HOUR_MS, type LedgerEntry } from '#core/money/ledger.ts'
import type { Database } from '#stores/postgres/database.ts'
import { PostgresLedger } from '#stores/postgres/ledger/ledger.ts'
import { PostgresSealing } from '#stores/postgres/ledger/seal.ts'
import { LEDGER_NOW_MS, postgresStores } from '#test/support/ledger-stores.ts'
import { seeded } from '#test/support/seeded.ts'
import { assertSums, dyingAfter, sealingSuite } from './sealing.ts'

const open = postgresStores()

sealingSuite('PostgreSQL', open)

/** A node of an earlier version does not look whether an hour is sealed. */
function earlierVersion(database: Database): Database {
  const query: Database['query'] = (text, values) =>
    database.query(text.replaceAll('(SELECT through FROM seal) > to_timestamp(hour)', 'false'), values)
  return { ...database, query }
}

/** Commits after a wait that begins when its statement has run, as a node on a slow network does. */
async function appendSlowly(
  database: Database,
  nodeId: string,
  entries: readonly LedgerEntry[],
  waited: () => Promise<unknown>,
): Promise<void> {
  await database.transaction(async (sql) => {
    // A refused statement is undone alone, as it is outside of a transaction: the ledger sends its entries in another form.
    const query: typeof sql.query = async (...statement) => {
      await sql.query('SAVEPOINT before')
      try {
        return await sql.query(...statement)
      } catch (error) {
        await sql.query('ROLLBACK TO SAVEPOINT before')
        throw error
      }
    }
    const inside = {
      ...database,
      query,
      transaction: (work: (own: typeof sql) => Promise<never>) => work(sql),
    }
    await new PostgresLedger(inside as Database).append(nodeId, entries)
    await waited()
  })
}

test('an hour is not sealed before every transaction that may add to it has ended', async () => {
  const stores = await open()
  const { upkeep, sealing, database, nodeId, entry, clock, rows } = stores
  await upkeep.makePartitions()
  const first = entry()
  const [hasRun, mayCommit] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const writing = appendSlowly(database, nodeId, [first], () => {
    hasRun.resolve()
    return mayCommit.promise
  })
  await hasRun.promise
  clock.ms = LEDGER_NOW_MS + 4 * HOUR_MS
  const { waitsFor, hours } = await sealing.sealDue()
  assert.deepEqual([waitsFor, hours], ['a transaction', 0])
  mayCommit.resolve()
  await writing
  assert.equal((await sealing.sealDue()).entries, 1)
  assert.deepEqual(await rows('SELECT 1 FROM ledger_corrections'), [])
  await assertSums(stores)
})

test('sealed sums, corrections and open hours add up to the ledger: late entries, repeated batches, slow and earlier nodes, kills', async () => {
  const stores = await open()
  const { upkeep, ledger, identifiers, entry, clock, database, rows, reconciler } = stores
  await upkeep.makePartitions()
  const random = seeded(35)
  const below = (limit: number): number => Math.floor(random() * limit)
  const sent: LedgerEntry[] = []
  let nowMs = LEDGER_NOW_MS
  /** Up to six hours late; some are sent again. */
  const batch = (): LedgerEntry[] => {
    const fresh = Array.from({ length: 1 + below(5) }, () => {
      clock.ms = nowMs - below(6 * HOUR_MS)
      const labels = below(3) === 0 ? { user: `u${below(3)}` } : undefined
      const one = entry({
        amountNanoUsd: BigInt(1 + below(1000)),
        project: `p${below(3)}`,
        countsRequest: true,
        labels,
      })
      clock.ms = nowMs
      return one
    })
    const again = below(2) === 0 || sent.length === 0 ? [] : [sent[below(sent.length)] as LedgerEntry]
    sent.push(...fresh)
    return [...fresh, ...again]
  }
  const start = async (): Promise<string> => {
    const id = identifiers.next()
    await ledger.startNode({ id, host: 'here', version: '1.0.0' })
    return id
  }
  const nodes = [await start(), await start()]
  let killed = 0
  for (let round = 0; round < 12; round += 1) {
    nowMs += HOUR_MS / 2
    clock.ms = nowMs
    const hasEarlier = round % 4 === 2
    const earlier = identifiers.next()
    if (hasEarlier)
      await rows(`INSERT INTO nodes (node_id, host, version) VALUES ($1, 'there', '0.9')`, [earlier])
    const writing = nodes.flatMap((node, lane) => [
      ...Array.from({ length: 4 }, () => ledger.append(node, batch(), lane)),
      appendSlowly(database, node, batch(), sleep.bind(undefined, 60 + below(60))),
    ])
    if (hasEarlier)
      writing.push(
        ...Array.from({ length: 4 }, () =>
          new PostgresLedger(earlierVersion(database)).append(earlier, batch()),
        ),
      )
    const sealing = Array.from({ length: 3 }, async (_, index) => {
      await sleep(index * 10)
      const dying = new PostgresSealing(dyingAfter(database, below(60)), clock)
      await dying.sealDue().catch(() => (killed += 1))
    })
    await Promise.all([...writing, ...sealing])
    if (hasEarlier) await ledger.endNode(earlier, [])
    assert.equal((await new PostgresSealing(database, clock).sealDue()).waitsFor, undefined)
    await upkeep.rollUpDays()
    await assertSums(stores)
  }
  assert.ok(killed > 5, 'sealing was interrupted')
  nowMs += 48 * HOUR_MS
  clock.ms = nowMs
  await new PostgresSealing(database, clock).sealDue()
  await upkeep.rollUpDays()
  await assertSums(stores)
  assert.ok((await rows('SELECT 1 FROM ledger_corrections')).length > 20, 'entries came late')
  const [total] = await rows<{ ledger: bigint; days: bigint; groups: bigint; once: bigint }>(
    `SELECT (SELECT sum(amount_nano) FROM usage_events)::bigint AS ledger, (SELECT sum(amount_nano) FROM usage_days)::bigint AS days,
       (SELECT sum(amount_nano) FROM usage_group_days)::bigint AS groups, (SELECT count(*) FROM usage_events) AS once`,
  )
  const whole = sent.reduce((sum, { amountNanoUsd }) => sum + (amountNanoUsd ?? 0n), 0n)
  assert.deepEqual(total, { ledger: whole, days: whole, groups: whole, once: BigInt(sent.length) })
  assert.deepEqual((await reconciler.reconcile('all')).budgetsCorrected, [])
})
