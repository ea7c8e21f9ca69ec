import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openPostgres, isStoreUnreachable } from '#stores/postgres/database.ts'
import { changesSessions } from '#stores/postgres/pooler.ts'
import { hasPgbouncer, startPgbouncer } from '#test/support/pgbouncer.ts'
import { hasPostgres, testPostgres } from '#test/support/servers.ts'

/** Each begins with another state of the pooler. */
const LOOKS = 20
const needed = {
  skip: hasPostgres && hasPgbouncer ? false : 'PgBouncer or PostgreSQL is not installed',
}

async function looksAt(url: string): Promise<readonly boolean[]> {
  const database = openPostgres(url, { poolSize: 4 })
  try {
    const found: boolean[] = []
    while (found.length < LOOKS) found.push(await changesSessions(database))
    return found
  } finally {
    await database.close()
  }
}

test('PostgreSQL itself and PgBouncer in session mode keep the session of a connection', needed, async () => {
  const { url } = await testPostgres('nothing')
  const pooler = await startPgbouncer(url, 'session')
  assert.deepEqual(await looksAt(url), Array(LOOKS).fill(false))
  assert.deepEqual(await looksAt(pooler.url), Array(LOOKS).fill(false))
  await pooler.stop()
})

for (const servers of [1, 2, 3, 20])
  for (const isInTurn of [false, true])
    test(
      `PgBouncer in transaction mode with ${servers} sessions${isInTurn ? ', handed out in turn,' : ''} is found at every look`,
      needed,
      async () => {
        const { url } = await testPostgres('nothing')
        const pooler = await startPgbouncer(url, 'transaction', { servers, isInTurn })
        // Sessions that rest, as other nodes leave them.
        const others = openPostgres(pooler.url, { poolSize: servers })
        await Promise.all(Array.from({ length: servers }, () => others.query('select pg_sleep(0.05)')))
        assert.deepEqual(await looksAt(pooler.url), Array(LOOKS).fill(true))
        await others.close()
        await pooler.stop()
      },
    )

test('PgBouncer in transaction mode is found while others use it', needed, async () => {
  const { url } = await testPostgres('nothing')
  const pooler = await startPgbouncer(url, 'transaction', { servers: 5 })
  const others = openPostgres(pooler.url, { poolSize: 12 })
  const over = new AbortController()
  const busy = Array.from({ length: 12 }, async () => {
    while (!over.signal.aborted) await others.query('select pg_sleep(0.002)')
  })
  assert.deepEqual(await looksAt(pooler.url), Array(LOOKS).fill(true))
  over.abort()
  await Promise.all(busy)
  await others.close()
  await pooler.stop()
})

test(
  'a statement that meets another session names the pooler, and its work waits for the store',
  needed,
  async () => {
    const { url } = await testPostgres('nothing')
    const pooler = await startPgbouncer(url, 'transaction', { servers: 1 })
    const [one, two] = [openPostgres(pooler.url, { poolSize: 1 }), openPostgres(pooler.url, { poolSize: 1 })]
    await one.query('select $1::int', [1], 'same')
    await assert.rejects(two.query('select $1::int', [1], 'same'), (error: Error) => {
      assert.match(error.message, /pooler of DATABASE_URL .*`pool_mode = session`/)
      return isStoreUnreachable(error)
    })
    await Promise.all([one.close(), two.close()])
    await pooler.stop()
  },
)
