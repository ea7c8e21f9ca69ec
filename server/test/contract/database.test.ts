import assert from 'node:assert/strict'
import { createServer, connect, type AddressInfo, type Socket } from 'node:net'
import { after, test } from 'node:test'
import { once } from 'node:events'
import { types } from 'pg'
import {
  isStoreUnreachable,
  openPostgres,
  type Database,
  type DatabaseOptions,
} from '#stores/postgres/database.ts'
import { StoreBusy, StoreUnreachable } from '#ports/store.ts'
import { reachable } from '#stores/postgres/unreachable.ts'
import { eventually } from '#test/support/process.ts'
import { startPostgresServer, testPostgres } from '#test/support/servers.ts'
import { databaseSuite } from './database.ts'

const TIMEOUT_MS = 1000
/** On a busy machine; still less than the statements here would take. */
const LATE_MS = 8000

databaseSuite('PostgreSQL', async (options) => openPostgres((await testPostgres('nothing')).url, options))

function open(url: string, options: DatabaseOptions = {}): Database {
  const database = openPostgres(url, { queryTimeoutMs: TIMEOUT_MS, ...options })
  after(() => database.close())
  return database
}

async function assertAwayInTime(work: Promise<unknown>): Promise<void> {
  const startMs = performance.now()
  await assert.rejects(work, isStoreUnreachable)
  const tookMs = performance.now() - startMs
  assert.ok(tookMs < TIMEOUT_MS + LATE_MS, `took ${tookMs} ms`)
}

/** A connection that can go dead: nothing arrives any more, and neither side learns of it. */
async function startProxy(target: number): Promise<{ port: number; die: () => void; heal: () => void }> {
  const sockets = new Set<Socket>()
  let isDead = false
  const server = createServer((near) => {
    const far = connect(target, '127.0.0.1')
    const pairs: readonly [Socket, Socket][] = [
      [near, far],
      [far, near],
    ]
    for (const [from, to] of pairs) {
      sockets.add(from)
      let isCut = false
      from.on('data', (bytes) => {
        isCut ||= isDead
        if (!isCut) to.write(bytes)
      })
      from.on('close', () => !isCut && to.destroy())
      from.on('error', () => to.destroy())
    }
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  after(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  const { port } = server.address() as AddressInfo
  return { port, die: () => (isDead = true), heal: () => (isDead = false) }
}

test('a pool whose connections are all at work is busy, and only one that gets no answers is unreachable', async () => {
  const server = await testPostgres('nothing')
  const { port, die } = await startProxy(Number(new URL(server.url).port))
  const url = new URL(server.url)
  url.port = String(port)
  const database = open(url.href, { poolSize: 1 })
  const over = new AbortController()
  const work = database.transaction(async (sql) => {
    while (!over.signal.aborted) await sql.query('select pg_sleep(0.05)')
  })
  const refused = await reachable(database.query('select 1')).catch((error: unknown) => error)
  over.abort()
  await work
  assert.ok(refused instanceof StoreBusy, String(refused))
  die()
  const lost = database.query('select 1').catch(() => {})
  await assert.rejects(
    reachable(database.query('select 2')),
    (error) => error instanceof StoreUnreachable && !(error instanceof StoreBusy),
  )
  await lost
})

test('a link that went dead fails its statements by their time-out, and is not used again', async () => {
  const server = await testPostgres('nothing')
  const { port, die, heal } = await startProxy(Number(new URL(server.url).port))
  const url = new URL(server.url)
  url.port = String(port)
  const database = open(url.href, { poolSize: 2 })
  await Promise.all([database.query('select 1'), database.query('select 2')])
  die()
  await Promise.all([
    assertAwayInTime(database.query('select 1')),
    assertAwayInTime(database.transaction((sql) => sql.query('select 1'))),
    assertAwayInTime(database.query('select 3')),
  ])
  heal()
  assert.deepEqual(await database.query('select 4 as x'), [{ x: 4 }])
  die()
  const startMs = performance.now()
  await database.close()
  assert.ok(
    performance.now() - startMs < TIMEOUT_MS + LATE_MS,
    'a dead link does not keep the program from ending',
  )
})

/** A server in front of another that holds up the beginning of each connection. Counts connections that are still at their beginning. */
async function startSlowProxy(target: number, delayMs: () => number) {
  /** `most`: attempts at the same time before one succeeded. */
  const seen = { most: 0, attempts: 0, beginning: 0, hasSucceeded: false }
  const sockets = new Set<Socket>()
  const server = createServer((near) => {
    seen.beginning += 1
    seen.attempts += 1
    // The end of the attempt before may arrive in the same round of the event loop.
    setImmediate(() => {
      if (!seen.hasSucceeded) seen.most = Math.max(seen.most, seen.beginning)
    })
    const begun = (): void => {
      if (!isBeginning) return
      isBeginning = false
      seen.beginning -= 1
    }
    let isBeginning = true
    near.on('close', begun).on('error', () => {})
    sockets.add(near)
    // It is read all the time: the end of a paused connection would not be noticed.
    const early: Buffer[] = []
    const keep = (bytes: Buffer): void => void early.push(bytes)
    near.on('data', keep)
    setTimeout(() => {
      if (near.destroyed) return
      begun()
      seen.hasSucceeded = true
      const far = connect(target, '127.0.0.1').on('error', () => near.destroy())
      sockets.add(far)
      near.off('data', keep)
      far.write(Buffer.concat(early))
      near.pipe(far).pipe(near)
    }, delayMs()).unref()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  after(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  return { port: (server.address() as AddressInfo).port, seen, sockets }
}

test('a handshake that takes longer than a caller waits is not thrown away, and only one is begun at a time', async () => {
  const server = await testPostgres('nothing')
  let delayMs = 0
  const { port, seen, sockets } = await startSlowProxy(Number(new URL(server.url).port), () => delayMs)
  const url = new URL(server.url)
  url.port = String(port)
  const database = open(url.href, { queryTimeoutMs: 200, poolSize: 8 })
  const all = (): Promise<unknown>[] => Array.from({ length: 12 }, () => database.query('select 1'))
  await eventually(() => Promise.all(all()))

  delayMs = 700
  for (const socket of sockets) socket.destroy()
  await eventually(async () => {
    const callers = await Promise.allSettled(all())
    assert.ok(callers.every(({ status }) => status === 'rejected'))
    assert.ok(seen.beginning <= 1)
  })
  Object.assign(seen, { most: seen.beginning, hasSucceeded: false })
  // Callers come all the time and leave after 200 ms each, as those of a node do.
  await eventually(async () => {
    const callers = await Promise.allSettled(all())
    assert.ok(callers.some(({ status }) => status === 'fulfilled'))
  })
  assert.equal(seen.most, 1)
})

test('a database that is being opened can be closed', async () => {
  const { port, seen } = await startSlowProxy(1, () => 60_000)
  const database = open(`postgres://torana@127.0.0.1:${port}/torana`, { queryTimeoutMs: 100 })
  // The time-out of an attempt has grown to several seconds.
  await eventually(async () => {
    await assert.rejects(database.query('select 1'), isStoreUnreachable)
    assert.ok(seen.attempts > 4)
  })
  const startMs = performance.now()
  await database.close()
  assert.ok(performance.now() - startMs < LATE_MS / 4)
})

test('no caller waits longer for a connection than for a statement', async () => {
  const database = open((await testPostgres('nothing')).url, { poolSize: 1 })
  const busy = database.query('select pg_sleep(0.8)')
  await Promise.all([
    busy,
    assertAwayInTime(Promise.all([1, 2, 3].map(() => database.query('select pg_sleep(0.8)')))),
  ])
})

test('a server that is not there, frozen or killed is away; once it is back it serves again', async () => {
  const server = await startPostgresServer()
  const errors: Error[] = []
  const database = open(server.url, { onError: (error) => errors.push(error) })
  await database.query('create table kept (id int)')
  await Promise.all([1, 2, 3].map((number) => database.query('select $1::int', [number])))

  server.pause()
  await assertAwayInTime(database.query('select 1'))
  server.resume()
  await eventually(() => database.query('select 1'))

  // One connection is amid a statement, others are idle.
  const active = assertAwayInTime(database.query('select pg_sleep(10)'))
  await eventually(async () => {
    const running = await database.query(`select from pg_stat_activity where query like 'select pg_sleep%'`)
    assert.equal(running.length, 1)
  })
  await database.query('insert into kept values (1)')
  await server.kill9()
  await active
  // Before the next statement: it could take an idle connection before its end is known, and report it as its own.
  await eventually(async () => assert.ok(errors.length > 0, 'the idle connections were reported'))
  await assertAwayInTime(database.query('select 1'))
  await assertAwayInTime(database.transaction((sql) => sql.query('select 1')))
  await server.restart()
  assert.deepEqual(await database.query('select id from kept'), [{ id: 1 }])
  await server.stop()
  await assertAwayInTime(database.query('select 1'))
})

test('a connection ended by an administrator costs one statement at most', async () => {
  const { url } = await testPostgres('nothing')
  const [database, administrator] = [open(url, { poolSize: 1 }), open(url)]
  const [row] = await database.query<{ pid: number }>('select pg_backend_pid() as pid')
  const active = assertAwayInTime(database.query('select pg_sleep(10)'))
  await administrator.query('select pg_terminate_backend($1)', [row?.pid])
  await active
  assert.deepEqual(await database.query('select 1 as x'), [{ x: 1 }])
})

test('after a failover, connections to what is now a standby are left', async () => {
  const database = open((await testPostgres('nothing')).url, { poolSize: 1 })
  await database.query('set default_transaction_read_only = on')
  const write = database.query('create table written ()')
  await assert.rejects(write, isStoreUnreachable)
  await database.query('create table written ()')
})

test('a lock that is not given in time is trouble of the store', async () => {
  const database = open((await testPostgres('nothing')).url)
  await database.transaction(async (sql) => {
    await sql.query('select pg_advisory_xact_lock(1)')
    await assertAwayInTime(database.query('select pg_advisory_lock(1)'))
  })
})

test('a closed database says so, and closing twice is harmless', async () => {
  const database = open((await testPostgres('nothing')).url)
  await database.query('select 1')
  await Promise.all([database.close(), database.close()])
  await assert.rejects(database.query('select 1'), isStoreUnreachable)
})

test('a server that resets its connections while they say goodbye lets the database close', async () => {
  const url = new URL((await testPostgres('nothing')).url)
  const target = Number(url.port)
  const server = createServer((near) => {
    const far = connect(target, '127.0.0.1').on('error', () => {})
    far.pipe(near)
    near.on('error', () => {})
    // PostgreSQL's word for goodbye.
    near.on('data', (chunk) => void (chunk[0] === 0x58 ? near.resetAndDestroy() : far.write(chunk)))
    near.once('close', () => far.destroy())
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  url.port = String((server.address() as AddressInfo).port)
  const database = open(url.href)
  await database.query('SELECT 1')
  await database.close()
  server.close()
})

test('an address without a server is away, whatever form it has', async () => {
  const closed = createServer().listen(0, '127.0.0.1')
  await once(closed, 'listening')
  const { port } = closed.address() as AddressInfo
  closed.close()
  for (const host of ['127.0.0.1', 'localhost']) {
    await assertAwayInTime(open(`postgres://postgres@${host}:${port}/postgres`).query('select 1'))
  }
  await assertAwayInTime(open('postgres://postgres@name.invalid/postgres').query('select 1'))
  await assertAwayInTime(open('postgres://postgres@%2Fnowhere/postgres').query('select 1'))
})

test('how numbers are read elsewhere in the process is left alone', () => {
  assert.equal(types.getTypeParser(types.builtins.INT8)('1'), '1')
})

test('only an error is trouble', () => {
  for (const other of [undefined, null, 'ECONNREFUSED', {}, new TypeError('x is not a function')]) {
    assert.equal(isStoreUnreachable(other), false)
  }
  assert.equal(isStoreUnreachable(new Error('wrapped', { cause: new Error('Query read timeout') })), true)
})
