/** PGlite shares the promises of every database, and has some of its own: one process, one folder, no row lost. */
import assert from 'node:assert/strict'
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { after, before, describe, test } from 'node:test'
import { isStoreUnreachable, type Database } from '#stores/postgres/database.ts'
import { FolderInUse, openPglite } from '#stores/postgres/pglite.ts'
import { eventually, temporaryFolder } from '#test/support/process.ts'
import { longestRoundMs } from '#test/support/loop-watch.ts'
import { databaseSuite } from './database.ts'

/** CPU time of one turn of the event loop; the statement takes several times as much. */
const MAX_ROUND_MS = 50
const folder = join(temporaryFolder(), 'data', 'pglite')

describe('PGlite', { concurrency: false }, () => {
  databaseSuite('PGlite', (options) => {
    // The remains of a first start that was killed.
    mkdirSync(`${folder}.new`, { recursive: true })
    writeFileSync(join(`${folder}.new`, 'PG_VERSION'), '18')
    return openPglite(folder, options)
  })

  test('a foreign folder is not removed at the first start', async () => {
    const path = join(temporaryFolder(), 'data', 'pglite')
    mkdirSync(`${path}.new`, { recursive: true })
    writeFileSync(join(`${path}.new`, 'diary.txt'), 'x')
    await assert.rejects(openPglite(path, { queryTimeoutMs: 10_000 }), /diary\.txt/)
    assert.ok(existsSync(join(`${path}.new`, 'diary.txt')))
  })

  describe('after two kills', () => {
    const acknowledged: number[] = []
    let database: Database
    before(async () => {
      for (const round of [0, 1]) acknowledged.push(...(await writeUntilKilled(round)))
      database = await openPglite(folder, { queryTimeoutMs: 10_000 })
    })
    after(() => database.close())

    test('kill -9 loses no acknowledged row', async () => {
      const rows = await database.query<{ id: bigint }>('select id from rows')
      const found = new Set(rows.map(({ id }) => Number(id)))
      assert.deepEqual(
        acknowledged.filter((id) => !found.has(id)),
        [],
      )
    })

    test('statements that are sent at once run one after another, in the order they were sent', async () => {
      await database.query('create table sent (place serial, number int)')
      const numbers = Array.from({ length: 200 }, (_, index) => index)
      await Promise.all(
        numbers.map((number) => database.query('insert into sent (number) values ($1)', [number])),
      )
      const rows = await database.query<{ number: number }>('select number from sent order by place')
      assert.deepEqual(
        rows.map(({ number }) => number),
        numbers,
      )
    })

    test('a statement that takes long holds no turn of the event loop', async () => {
      const count = 'select count(*) from generate_series(1, 2000000)'
      const longestMs = await longestRoundMs(MAX_ROUND_MS, () => database.query(count))
      assert.ok(longestMs < MAX_ROUND_MS, `held for ${longestMs} ms`)
    })

    test('its log is cut while it runs', async () => {
      const position = async (): Promise<{ written: bigint; kept: bigint }> => {
        const [row] = await database.query<{ written: bigint; kept: bigint }>(
          `select pg_wal_lsn_diff(lsn, '0/0')::int8 as written, pg_wal_lsn_diff(lsn, redo_lsn)::int8 as kept
           from pg_control_checkpoint(), pg_current_wal_insert_lsn() lsn`,
        )
        assert.ok(row)
        return row
      }
      const { written } = await position()
      await database.query('create table large (text text)')
      await database.query(`insert into large select repeat('x', 1900) from generate_series(1, 20000)`)
      assert.ok((await position()).written - written > 35_000_000n)
      await eventually(async () => assert.ok((await position()).kept < 5_000_000n))
    })

    test('its folder is its owner’s alone, though others may have made the data folder readable', () => {
      assert.equal(statSync(folder).mode & 0o777, 0o700)
    })

    test('a folder serves one process, and the next one learns which', async () => {
      const child = runChild(`await openPglite(${JSON.stringify(folder)})`)
      const [message, [code]] = await Promise.all([errorsOf(child), once(child, 'exit')])
      assert.notEqual(code, 0)
      assert.match(
        message,
        new RegExp(`FolderInUse.*${folder} is in use by process ${process.pid} on .+, since 20`),
      )
      await assert.rejects(openPglite(folder), FolderInUse)
      assert.deepEqual(await database.query('select 1 as x'), [{ x: 1 }])
    })
  })

  test('a thread that fails is away, not silent, and a later one starts from what is on disk', async () => {
    const broken = `${folder}-broken`
    cpSync(folder, broken, { recursive: true })
    const errors: Error[] = []
    const database = await openPglite(broken, {
      queryTimeoutMs: 5000,
      onError: (error) => errors.push(error),
    })
    after(() => database.close())
    await database.query('create table more (id int)')
    const log = join(broken, 'pg_wal')
    const saved = `${broken}-log`
    cpSync(log, saved, { recursive: true })
    for (const name of readdirSync(log)) rmSync(join(log, name), { recursive: true })
    rmSync(log, { recursive: true })

    const write = async (): Promise<void> => {
      await database.query('select pg_switch_wal()')
      await database.query('insert into more values (1)')
    }
    await assert.rejects(write(), isStoreUnreachable)
    await assert.rejects(database.query('select 1'), isStoreUnreachable)
    assert.ok(errors.length > 0, 'the end of the thread was reported')

    cpSync(saved, log, { recursive: true })
    await eventually(async () => assert.deepEqual(await database.query('select 1 as x'), [{ x: 1 }]))
  })
})

/** The rows that were acknowledged before the process was killed. */
async function writeUntilKilled(round: number): Promise<number[]> {
  const child = runChild(`
    const database = await openPglite(${JSON.stringify(folder)})
    await database.query('create table if not exists rows (id int8 primary key)')
    for (let id = ${round * 1_000_000}; ; id += 1) {
      if (id % 3) await database.query('insert into rows values ($1)', [id], 'insert')
      else await database.transaction((sql) => sql.query('insert into rows values ($1)', [id]))
      process.stdout.write(id + '\\n')
    }`)
  const acknowledged: number[] = []
  for await (const line of createInterface({ input: child.stdout as NodeJS.ReadableStream })) {
    acknowledged.push(Number(line))
    if (acknowledged.length === 150 + round * 77) child.kill('SIGKILL')
  }
  assert.ok(acknowledged.length >= 150, await errorsOf(child))
  return acknowledged
}

function runChild(program: string): ChildProcess {
  const file = join(temporaryFolder(), 'program.ts')
  const library = JSON.stringify(join(import.meta.dirname, '../../src/stores/postgres/pglite.ts'))
  writeFileSync(file, `import { openPglite } from ${library}\n${program}`)
  const child = spawn(process.execPath, [file], { stdio: ['ignore', 'pipe', 'pipe'] })
  after(() => child.kill('SIGKILL'))
  return child
}

async function errorsOf(child: ChildProcess): Promise<string> {
  let text = ''
  for await (const chunk of child.stderr as NodeJS.ReadableStream) text += String(chunk)
  return text
}
