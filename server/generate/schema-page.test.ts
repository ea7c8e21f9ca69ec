import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testDatabase } from '#test/support/pglite.ts'
import { migrate } from '#stores/postgres/migrate.ts'
import { schemaMarkdown, parseDomain } from './schema-page.ts'

test('a table is shown with its comment and those of its columns', () => {
  const sql = `-- What the file is about,
-- in two lines.

-- Money.
CREATE TABLE budgets (
  -- \`project:<name>\`,
  -- or \`key:<id>\`.
  budget_id text NOT NULL,
  state text CHECK (state IN ('a', 'b')),
  PRIMARY KEY (budget_id)
-- Changes in place.
) WITH (fillfactor = 50);
-- Of an index.
CREATE INDEX budgets_by_state ON budgets (state);
CREATE UNLOGGED TABLE news (
  at timestamptz
);
`
  assert.deepEqual(parseDomain('0003-ledger-sums.sql', sql), {
    title: 'Ledger sums',
    note: 'What the file is about, in two lines.',
    tables: [
      {
        name: 'budgets',
        note: 'Money.',
        columns: [
          { name: 'budget_id', definition: 'text NOT NULL', note: '`project:<name>`, or `key:<id>`.' },
          { name: 'state', definition: "text CHECK (state IN ('a', 'b'))", note: '' },
        ],
      },
      { name: 'news', note: '', columns: [{ name: 'at', definition: 'timestamptz', note: '' }] },
    ],
  })
})

test('the page has every column of the database', async (t) => {
  const database = await testDatabase()
  t.after(() => database.close())
  await migrate(database)
  const rows = await database.query<{ column: string }>(
    `SELECT relname || '.' || attname AS column FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid
     WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
       AND relname <> 'torana_migrations' AND attnum > 0 AND NOT attisdropped ORDER BY 1`,
  )
  const shown = [...schemaMarkdown().matchAll(/^### (\w+)$|^\| `(\w+)` \|/gm)].reduce<{
    table: string
    all: string[]
  }>(
    ({ table, all }, [, name, column]) =>
      name === undefined ? { table, all: [...all, `${table}.${column}`] } : { table: name, all },
    { table: '', all: [] },
  ).all
  assert.deepEqual(shown.toSorted(), rows.map(({ column }) => column).toSorted())
})
