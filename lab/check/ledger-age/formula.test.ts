/** The formula and the SQL that writes it are two ways to the same ledger, and a judge that finds nothing must have looked. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { storeClockOf } from '../../../server/src/stores/postgres/store-clock.ts'
import { openPostgres } from '../../../server/src/stores/postgres/database.ts'
import { PostgresReconciler } from '../../../server/src/stores/postgres/ledger/reconciler.ts'
import { makePartitions } from '../../../server/src/stores/postgres/ledger/upkeep-partitions.ts'
import { migrate } from '../../../server/src/stores/postgres/migrate.ts'
import { hasPostgres, testPostgres } from '../../../server/test/support/servers.ts'
import { withDatabase } from '../../chaos/ledger-checks.ts'
import { CELLS, cellOf, DAY_MS, type Age } from './formula.ts'
import { generateDay } from './generate.ts'
import { differencesOf, expectedOf, hotRows } from './judge.ts'

/** Enough for every rule: one open unknown, and four that are resolved. */
const ROWS = 20_000

test(
  'generated entries and rollups are those of the formula, and the server finds no difference',
  { skip: !hasPostgres && 'no PostgreSQL' },
  async () => {
    const { url } = await testPostgres()
    const firstDayMs = (Math.floor(Date.now() / DAY_MS) - 3) * DAY_MS
    const age: Age = { firstDayMs, days: 2, rowsPerDay: ROWS }
    const database = openPostgres(url)
    await migrate(database)
    for (const day of [0, 1]) {
      await makePartitions(database, firstDayMs + day * DAY_MS)
      await generateDay(url, age, day)
      const rows = await withDatabase(url, (client) => hotRows(client, firstDayMs + day * DAY_MS))
      assert.deepEqual(differencesOf('the day', expectedOf(age, day, false), rows), [])
      const lost = rows.map((row, index) => (index === 0 ? { ...row, amount_nano: '1' } : row))
      assert.match(differencesOf('the day', expectedOf(age, day, false), lost).join(), /amount_nano is 1,/)
    }
    const { differences, entries } = await new PostgresReconciler(database, storeClockOf(database)).reconcile(
      'all',
    )
    assert.deepEqual([differences, entries], [[], 2 * ROWS])
    await database.close()
  },
)

test('every cell has a name of its own', () => {
  const names = new Set(Array.from({ length: CELLS }, (_, cell) => JSON.stringify(cellOf(cell))))
  // A key asks for one of two models: none of them is the same.
  assert.equal(names.size, CELLS)
})
