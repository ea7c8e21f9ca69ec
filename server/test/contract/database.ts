/** What every `Database` promises, be it a server or in this process. */
import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import fc from 'fast-check'
import { isStoreUnreachable, type Database, type DatabaseOptions } from '#stores/postgres/database.ts'
import { migrate } from '#stores/postgres/migrate.ts'
import { runs } from '#test/support/arbitraries.ts'
import { eventually, temporaryFolder } from '#test/support/process.ts'

/** Long enough for a busy machine to run any statement of these tests, short enough to wait for it to pass. */
const TIMEOUT_MS = 4000
/** On a busy machine; still less than the statement that hangs would take. */
const LATE_MS = 20_000

export function databaseSuite(name: string, open: (options: DatabaseOptions) => Promise<Database>): void {
  describe(name, () => {
    let database: Database
    before(async () => {
      database = await open({ queryTimeoutMs: TIMEOUT_MS })
    })
    after(() => database.close())
    const one = async <Row>(text: string, values?: readonly unknown[]): Promise<Row | undefined> =>
      (await database.query<Row>(text, values))[0]

    test('whole numbers stay exact, days have no zone, times are dates', async () => {
      const row = await one(
        `select 9007199254740993::int8 as money, array[1, null, -2]::int8[] as list, '{}'::int8[] as nothing, 7::int4 as count,
           1.10::numeric as ratio, '2026-01-02'::date as day, '2026-01-02 03:04:05+02'::timestamptz as time,
           '2026-01-02 03:04:05'::timestamp as local, true as yes, null as none, '{"a":1}'::jsonb as document`,
      )
      assert.deepEqual(row, {
        money: 9_007_199_254_740_993n,
        list: [1n, null, -2n],
        nothing: [],
        count: 7,
        ratio: '1.10',
        day: '2026-01-02',
        time: new Date('2026-01-02T01:04:05Z'),
        local: '2026-01-02 03:04:05',
        yes: true,
        none: null,
        document: { a: 1 },
      })
    })

    test('any amount of money comes back as it went', async () => {
      const money = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })
      const given = fc.tuple(money, fc.array(fc.option(money), { maxLength: 20 }))
      await fc.assert(
        fc.asyncProperty(given, async ([amount, list]) => {
          const row = await one('select $1::int8 as amount, $2::int8[] as list', [amount, list])
          assert.deepEqual(row, { amount, list })
        }),
        runs(200),
      )
    })

    test('large values cross in both directions', async () => {
      const text = 'ü'.repeat(2_000_000)
      assert.equal((await one<{ text: string }>('select $1::text as text', [text]))?.text, text)
    })

    test('a named statement is parsed once a connection, and goes on after an error of its own', async () => {
      await database.session(async (sql) => {
        const half = (by: number) => sql.query<{ x: number }>('select 84 / $1::int as x', [by], 'half')
        assert.deepEqual(await half(2), [{ x: 42 }])
        await assert.rejects(half(0), /division by zero/)
        assert.deepEqual(await half(4), [{ x: 21 }])
        const prepared = await sql.query('select name from pg_prepared_statements')
        assert.deepEqual(prepared, [{ name: 'half' }])
      })
    })

    test('an error of the statement is no trouble of the store', async () => {
      await database.query('create table errors (id int primary key)')
      await database.query('insert into errors values (1)')
      for (const [text, code] of [
        ['insert into errors values (1)', '23505'],
        ['select from nowhere', '42P01'],
        ['selec', '42601'],
      ] as const) {
        const error = await database.query(text).catch((reason: unknown) => reason)
        assert.equal((error as { code: string }).code, code)
        assert.equal(isStoreUnreachable(error), false, text)
      }
      assert.deepEqual(await one('select 1 as x'), { x: 1 })
    })

    test('a transaction is seen whole or not at all', async () => {
      await database.query('create table whole (id int primary key)')
      const insert = (id: number, fail: boolean) =>
        database.transaction(async (sql) => {
          await sql.query('insert into whole values ($1)', [id])
          await sql.query('insert into whole values ($1)', [id + 1])
          if (fail) throw new Error('changed my mind')
          return id
        })
      assert.equal(await insert(1, false), 1)
      await assert.rejects(insert(10, true), /changed my mind/)
      assert.deepEqual(await database.query('select id from whole order by id'), [{ id: 1 }, { id: 2 }])
    })

    test('a transaction in which a statement failed never claims to be committed', async () => {
      await database.query('create table claimed (id int primary key)')
      const work = database.transaction(async (sql) => {
        await sql.query('insert into claimed values (1)')
        await sql.query('select 1 / 0').catch(() => {})
      })
      await assert.rejects(work, /rolled back/)
      assert.deepEqual(await database.query('select id from claimed'), [])
    })

    test('what a session sets or locks is gone after it', async () => {
      const [before] = await database.query('show timezone')
      await database.session(async (sql) => {
        await sql.query(`set timezone = 'Asia/Kathmandu'`)
        await sql.query('select pg_advisory_lock(77)')
        await sql.query('begin')
      })
      assert.deepEqual(await one('show timezone'), before)
      await eventually(async () => {
        const locks = await database.query(`select from pg_locks where locktype = 'advisory' and objid = 77`)
        assert.equal(locks.length, 0)
      })
    })

    test('a statement that hangs ends by its time-out, and the next one finds a good connection', async () => {
      for (const hang of [
        () => database.query('select pg_sleep(30)'),
        () => database.transaction((sql) => sql.query('select pg_sleep(30)')),
      ]) {
        const startMs = performance.now()
        await assert.rejects(hang(), isStoreUnreachable)
        assert.ok(
          performance.now() - startMs < TIMEOUT_MS + LATE_MS,
          `took ${performance.now() - startMs} ms`,
        )
        await eventually(async () => assert.deepEqual(await one('select 1 as x'), { x: 1 }))
      }
    })

    test('a transaction left idle is ended, and what waits behind it goes on', async () => {
      await database.query('create table idle (id int primary key)')
      await database.query('insert into idle values (1)')
      const idle = database.transaction(async (sql) => {
        await sql.query('delete from idle')
        await new Promise(() => {})
      })
      await assert.rejects(idle, isStoreUnreachable)
      await eventually(async () => {
        assert.deepEqual(await database.query('select id from idle for update'), [{ id: 1 }])
      })
    })

    test('migrations run once and in order, also when two nodes start at once', async () => {
      const folder = migrations({
        '0002-second.sql': 'insert into steps values (2); insert into steps values (3)',
        '0001-first.sql': 'create table steps (id int); insert into steps values (1)',
        'README.md': 'no migration',
      })
      const [first, second] = await Promise.all([
        migrate(database, { folder }),
        migrate(database, { folder }),
      ])
      assert.deepEqual(
        [...first.applied, ...second.applied],
        ['0001-first.sql', '0002-second.sql'],
        'one of the two did it all',
      )
      assert.deepEqual(await migrate(database, { folder }), { applied: [], unknown: [] })
      assert.deepEqual(await database.query('select id from steps'), [{ id: 1 }, { id: 2 }, { id: 3 }])
      const rows = await database.query<{ name: string; applied_at: Date }>(
        'select name, applied_at from torana_migrations order by version',
      )
      assert.deepEqual(
        rows.map(({ name }) => name),
        ['0001-first.sql', '0002-second.sql'],
      )
      assert.ok(rows[0]?.applied_at instanceof Date)
    })

    test('an older program works on a newer database, and says what it does not know', async () => {
      const folder = migrations({
        '0001-first.sql': 'create table steps (id int); insert into steps values (1)',
      })
      assert.deepEqual(await migrate(database, { folder }), { applied: [], unknown: [2] })
    })

    test('a migration that was changed afterwards is named, and nothing runs', async () => {
      const folder = migrations({ '0001-first.sql': 'select 1', '0003-third.sql': 'create table third ()' })
      await assert.rejects(migrate(database, { folder }), /0001-first\.sql was changed/)
      assert.deepEqual(await one(`select to_regclass('third') as found`), { found: null })
    })

    test('a migration that fails is named and leaves nothing', async () => {
      const folder = migrations({
        '0001-first.sql': 'create table steps (id int); insert into steps values (1)',
        '0004-fourth.sql': 'create table fourth (); select 1 / 0',
      })
      await assert.rejects(migrate(database, { folder }), /0004-fourth\.sql failed: division by zero/)
      assert.deepEqual(await one(`select to_regclass('fourth') as found`), { found: null })
    })

    test('two migrations of one number are refused', async () => {
      const folder = migrations({ '0005-a.sql': '', '0005-b.sql': '' })
      await assert.rejects(migrate(database, { folder }), /0005-a\.sql and 0005-b\.sql/)
    })
  })
}

function migrations(files: Readonly<Record<string, string>>): string {
  const folder = join(temporaryFolder(), 'migrations')
  mkdirSync(folder)
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  return folder
}
