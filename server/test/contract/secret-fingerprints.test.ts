import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { openPostgres } from '#stores/postgres/database.ts'
import { migrate } from '#stores/postgres/migrate.ts'
import { OtherSecret } from '#ports/ledger.ts'
import { checkSecret } from '#stores/postgres/secret-fingerprints.ts'
import { testPostgres } from '#test/support/servers.ts'

const database = openPostgres((await testPostgres()).url, { poolSize: 4 })
after(() => database.close())
await migrate(database)

const starts = (current: string, previous?: string): Promise<void> =>
  checkSecret(database, { current, previous })
const isRefused = (current: string, previous?: string): Promise<void> =>
  assert.rejects(starts(current, previous), OtherSecret)

test('of nodes that start at once with different secrets on a new database, one secret counts', async () => {
  const ends = await Promise.allSettled(['x', 'y', 'x', 'y'].map((secret) => starts(secret)))
  const statuses = ends.map(({ status }) => status)
  assert.equal(statuses.filter((status) => status === 'fulfilled').length, 2)
  assert.equal(statuses[0], statuses[2])
  await database.query('DELETE FROM secret_fingerprints')
})

test('the first secret counts; another one is refused; a change of it passes through the previous one', async () => {
  await starts('a')
  await starts('a')
  await isRefused('b')
  await isRefused('b', 'c')
  // As in docs/access.md: every node learns the new one first, then they swap one by one, then the old one is dropped.
  await starts('a', 'b')
  await isRefused('b')
  await starts('b', 'a')
  await starts('a', 'b')
  await starts('a')
  await starts('b', 'a')
  await starts('b')
  await isRefused('a')
  await starts('b')
})
