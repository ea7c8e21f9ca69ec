/** What becomes of entries that PostgreSQL refuses, on real tables with real faults. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { doctor } from '#cli/commands/doctor.ts'
import { ledger as ledgerCommand } from '#cli/commands/ledger.ts'
import { windowOf, type Budget } from '#core/money/budget.ts'
import type { LedgerEntry } from '#core/money/ledger.ts'
import { EntriesRefused } from '#ports/ledger.ts'
import { StoreUnreachable } from '#ports/store.ts'
import { outcome } from '#test/support/command-outcome.ts'
import { startLedgerControl } from '#test/support/ledger-control.ts'
import { LEDGER_NOW_MS, postgresStores, type LedgerStores } from '#test/support/ledger-stores.ts'

const open = postgresStores()

/** Refuses amounts of 300 by their content. */
const CHECK = 'ALTER TABLE usage_events ADD CONSTRAINT not_300 CHECK (amount_nano <> 300)'
const NO_CHECK = 'ALTER TABLE usage_events DROP CONSTRAINT not_300'

const PROJECT: Budget = { id: 'project:search', limitNanoUsd: 100_000n, per: 'month', hard: true }
const KEY: Budget = { id: 'key:search/ci', limitNanoUsd: 100_000n, per: 'day', hard: true }

/** What both budgets say, what the node holds of them, and what a soft budget would say. */
async function money({ rows, budgets }: LedgerStores) {
  const states = await rows<{ spent: number; leased: number }>(
    'SELECT spent_nano::integer AS spent, leased_nano::integer AS leased FROM budgets ORDER BY budget_id',
  )
  const soft = await budgets.spentNanoUsd(
    [PROJECT, KEY].map(({ id, per }) => ({ budgetId: id, window: windowOf(per, LEDGER_NOW_MS) })),
  )
  return { states, soft: soft.map(Number) }
}

async function leaseBoth({ budgets, identifiers, nodeId }: LedgerStores, neededNanoUsd: bigint) {
  for (const budget of [PROJECT, KEY])
    await budgets.lease({
      budget,
      window: windowOf(budget.per, LEDGER_NOW_MS),
      nodeId,
      operation: identifiers.next(),
      neededNanoUsd,
      liveNodes: 1000,
    })
}

const LEASED = { amountNanoUsd: 300n, projectLeaseNanoUsd: 300n, keyLeaseNanoUsd: 300n }

test('an entry that is set aside counts as spent exactly once, before and after it is written', async () => {
  const stores = await open()
  const { ledger, nodeId, entry, rows, reconciler } = stores
  await leaseBoth(stores, 300n)
  const before = await money(stores)
  const leased = before.states[0]?.leased ?? 0
  assert.ok(leased >= 300)
  const refused = entry(LEASED)
  await rows(CHECK)
  await assert.rejects(ledger.appendLate(nodeId, [refused]), EntriesRefused)
  for (let times = 0; times < 2; times += 1) await ledger.setAside(nodeId, refused, 'not_300')
  const counted = { spent: 300, leased: leased - 300 }
  const aside = { states: [counted, counted], soft: [300, 300] }
  assert.deepEqual(await money(stores), aside)
  const { refused: figures } = await reconciler.figures()
  assert.deepEqual(figures, { entries: 1, amountNanoUsd: 300n })
  assert.deepEqual((await reconciler.reconcile('all')).budgetsCorrected, [], 'the reconciler counts it too')

  assert.deepEqual(await ledger.retryRefused(), { written: 0, refused: 1 })
  assert.deepEqual(await money(stores), aside)
  await rows(NO_CHECK)
  const [one, two] = await Promise.all([ledger.retryRefused(), ledger.retryRefused()])
  assert.deepEqual([one.written + two.written, one.refused + two.refused], [1, 0])
  assert.deepEqual(await money(stores), aside, 'the sum has moved into the ledger')
  const { differences, budgetsCorrected, entries } = await reconciler.reconcile('all')
  assert.deepEqual([entries, differences, budgetsCorrected], [1, [], []])
  assert.equal((await reconciler.figures()).refused.entries, 0)
})

test('the money of a refused entry stays spent when its node has ended, and in a budget that begins later', async () => {
  const stores = await open()
  const { ledger, nodeId, entry } = stores
  await ledger.setAside(nodeId, entry({ amountNanoUsd: 300n }), 'refused')
  await ledger.endNode(nodeId, [])
  const other = { ...stores, nodeId: stores.identifiers.next() }
  await ledger.startNode({ id: other.nodeId, host: 'there', version: '1.0.0' })
  await leaseBoth(other, 1n)
  const { states } = await money(stores)
  assert.deepEqual(
    states.map(({ spent }) => spent),
    [300, 300],
  )
})

test('a record that resolves an unknown counts by the difference while it is set aside', async () => {
  const stores = await open()
  const { ledger, nodeId, entry, rows } = stores
  const unknown = entry({ kind: 'unknown', usage: 'unknown', tokens: undefined, amountNanoUsd: 700n })
  await ledger.append(nodeId, [unknown])
  await ledger.setAside(nodeId, { ...unknown, kind: 'post', tokens: 5, amountNanoUsd: 400n }, 'refused')
  assert.deepEqual((await money(stores)).soft, [400, 400])
  assert.deepEqual(await ledger.retryRefused(), { written: 1, refused: 0 })
  assert.deepEqual((await money(stores)).soft, [400, 400])
  assert.deepEqual(await rows('SELECT FROM ledger_refused'), [])
})

test('of many refused entries the good ones are written, and the rest keep the reason of the last try', async () => {
  const { ledger, nodeId, entry, rows } = await open()
  for (const amountNanoUsd of [100n, 300n, 200n])
    await ledger.setAside(nodeId, entry({ amountNanoUsd, remarks: { reason: 'a\u0000b' } }), 'before')
  assert.deepEqual(await ledger.retryRefused(), { written: 0, refused: 3 })
  const reasons = await rows<{ reason: string }>('SELECT DISTINCT reason FROM ledger_refused')
  assert.match(reasons[0]?.reason ?? '', /unicode|\\u0000/i)
  await rows(`UPDATE ledger_refused SET entry = replace(entry, '\\u0000', '') WHERE amount_nano <> 300`)
  assert.deepEqual(await ledger.retryRefused(), { written: 2, refused: 1 })
})

const FAULTS: readonly (readonly [name: string, breakIt: string, repair: string])[] = [
  [
    'a table has another name',
    'ALTER TABLE usage_hours RENAME TO usage_hours_x',
    'ALTER TABLE usage_hours_x RENAME TO usage_hours',
  ],
  [
    'a column is gone',
    'ALTER TABLE budgets RENAME COLUMN spent_nano TO spent_x',
    'ALTER TABLE budgets RENAME COLUMN spent_x TO spent_nano',
  ],
  [
    'a trigger raises an exception',
    `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no'; END $$;
     CREATE TRIGGER refusing BEFORE INSERT ON usage_hours FOR EACH ROW EXECUTE FUNCTION refuse()`,
    'DROP TRIGGER refusing ON usage_hours',
  ],
  [
    'another unique index refuses a second entry',
    'CREATE UNIQUE INDEX alone ON usage_hours (hour, project)',
    'DROP INDEX alone',
  ],
]

for (const [name, breakIt, repair] of FAULTS)
  test(`${name}: that is no fault of the entries, so they wait, and are written when it is repaired`, async () => {
    const { ledger, nodeId, entry, rows } = await open()
    await ledger.append(nodeId, [entry({ model: 'first' })])
    await rows(breakIt)
    const entries = [entry(), entry({ amountNanoUsd: 5n })]
    for (const how of ['append', 'appendLate'] as const)
      await assert.rejects(ledger[how](nodeId, entries), StoreUnreachable)
    await rows(repair)
    await ledger.appendLate(nodeId, entries)
    const [sum] = await rows<{ entries: number }>('SELECT count(*)::integer AS entries FROM usage_events')
    assert.equal(sum?.entries, 3)
  })

test('torana ledger refused lists and writes refused records, and the doctor fails while there are any', async () => {
  const stores = await open()
  const { ledger, nodeId, entry, rows } = stores
  const { url, ask } = await startLedgerControl(stores)
  const none = await outcome(ledgerCommand, 'refused', url)
  assert.deepEqual([none.code, none.stdout], [0, 'PostgreSQL has refused no usage records.\n'])
  const refused: LedgerEntry[] = ['search', 'ads'].map((project) => {
    stores.clock.ms += 1
    return entry({ amountNanoUsd: 300n, project })
  })
  await rows(CHECK)
  for (const one of refused) await ledger.setAside(nodeId, one, 'violates check constraint "not_300"')

  const listed = await outcome(ledgerCommand, 'refused', url)
  assert.equal(listed.code, 1)
  const [first] = refused
  const line = `^${first?.requestId}/0 +post +2026-12-12 15:30 +search +search/ci +\\$0\\.0000003 +violates check`
  assert.match(listed.stdout, new RegExp(line, 'm'))
  const page = await ask<{ data: unknown[]; has_more: boolean; next: string; summary: unknown }>(
    'GET',
    '/ledger/refused?limit=1',
  )
  assert.deepEqual(page.body.summary, { records: 2, usd: '0.000000600' })
  const rest = await ask<{ data: { project: string }[] }>('GET', `/ledger/refused?after=${page.body.next}`)
  assert.deepEqual([page.body.has_more, rest.body.data.map(({ project }) => project)], [true, ['ads']])

  const failed = await outcome(doctor, '', url)
  assert.equal(failed.code, 1)
  assert.match(failed.stdout, /fail +refused +PostgreSQL refused 2 usage records/)
  assert.equal((await outcome(ledgerCommand, 'refused --retry', url)).code, 1)
  await rows(NO_CHECK)
  const retried = await outcome(ledgerCommand, 'refused --retry', url)
  assert.deepEqual([retried.code, retried.stderr], [0, 'Written: 2. Refused again: 0. Still set aside: 0.\n'])
  assert.match((await outcome(doctor, '', url)).stdout, /ok +refused/)
})
