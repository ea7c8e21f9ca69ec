/** A day that an upstream lists is in force on a running node within seconds: where callers and operators look. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openPostgres } from '#stores/postgres/database.ts'
import { PostgresModelEnds } from '#stores/postgres/ledger/model-ends.ts'
import { atEnd } from '#test/support/at-end.ts'
import { startGateway } from '#test/support/gateway.ts'
import { eventually } from '#test/support/process.ts'
import { testPostgres } from '#test/support/servers.ts'

const dayIn = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10)
const [SOON, LATER] = [dayIn(20), dayIn(40)]

const { url } = await testPostgres()
const gateway = await startGateway({
  env: { DATABASE_URL: url, TORANA_SECRET: 'the secret of these tests' },
  models: {
    'house-w16': { on: 'plain', ends: [{ endsOn: LATER, successor: 'next-w16' }] },
    'kept-w16': { on: 'plain+key-kept', ends: [{ endsOn: 'none' }] },
  },
})
const database = openPostgres(url, { poolSize: 1 })
atEnd(() => database.close())
const store = new PostgresModelEnds(database)

const shutdownDates = async () => {
  const { body } = await gateway.get('/v1/models')
  return body.data.map((one) => (one as unknown as { shutdown_date: string | null }).shutdown_date)
}
const list = (upstream: string, ends: Record<string, string>) =>
  store.keepListing({
    upstream,
    address: `${gateway.provider.url}/${upstream.replace('.', '+')}/v1`,
    readAt: new Date().toISOString(),
    ends,
  })

test('the earlier day is followed without a restart, in the list of models and in each answer', async () => {
  assert.deepEqual(await shutdownDates(), [LATER, null])
  await list('plain', { 'house-w16': SOON })
  await list('plain.key-kept', { 'kept-w16': SOON })
  await eventually(async () => assert.deepEqual(await shutdownDates(), [SOON, null]))
  const { headers } = await gateway.ask({ model: 'house-w16', input: 'a' })
  assert.equal(headers.get('x-torana-model-ends'), `${SOON}; successor=next-w16`)
  await list('plain', {})
  await eventually(async () => assert.deepEqual(await shutdownDates(), [LATER, null]))
})
