import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { openPostgres } from '#stores/postgres/database.ts'
import { PostgresLedger } from '#stores/postgres/ledger/ledger.ts'
import { standingValues } from '#stores/postgres/ledger/ledger-parameters.ts'
import { LOCK_STANDING, STANDING } from '#stores/postgres/ledger/ledger-sql.ts'
import { migrate } from '#stores/postgres/migrate.ts'
import { testPostgres } from '#test/support/servers.ts'
import { aNode, anEntry, aProject } from './open-ledger.ts'

/** A page of the spool, of a day that has more. */
const [PAGE_ENTRIES, PAGES] = [1000, 3]

const { url } = await testPostgres()
const database = openPostgres(url, { poolSize: 1 })
after(() => database.close())
await migrate(database)

for (const [name, statement] of Object.entries({ STANDING, LOCK_STANDING }))
  test(`${name} reads the calls of a page and not their day, which others wait for`, async () => {
    const ledger = new PostgresLedger(database)
    const [node, project] = [await aNode({ ledger }), aProject()]
    const pages = Array.from({ length: PAGES }, () =>
      Array.from({ length: PAGE_ENTRIES }, () => anEntry(project)),
    )
    for (const page of pages) await ledger.append(node, page)
    const [page = []] = pages
    for (const asAfterACrash of [true, false]) {
      if (!asAfterACrash) await database.query('ANALYZE usage_events')
      const plan = await database.query<{ 'QUERY PLAN': string }>(
        `EXPLAIN ${statement}`,
        standingValues(page),
      )
      const lines = plan.map((line) => line['QUERY PLAN']).join('\n')
      assert.match(lines, /Index Scan .* on usage_events_\d/)
      assert.doesNotMatch(lines, /Seq Scan on usage_events_\d|Hash Join/)
      const rows = await database.query(statement, standingValues([...page, ...page]))
      assert.equal(rows.length, PAGE_ENTRIES, 'each row once, however often its call is asked for')
    }
  })
