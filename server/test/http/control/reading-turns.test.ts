/** Many reports of one caller, on PostgreSQL: the pages of another come all the same. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Client } from 'pg'
import { ADMIN_TOKEN } from '#test/support/control.ts'
import { send, startGateway } from '#test/support/gateway.ts'
import { testPostgres } from '#test/support/servers.ts'

const postgres = await testPostgres()
const one = await startGateway({
  models: { 'declared-w8': { on: 'plain' } },
  env: {
    DATABASE_URL: postgres.url,
    TORANA_ADMIN_TOKEN: ADMIN_TOKEN,
    TORANA_SECRET: 'a secret of these tests 06',
  },
})

const get = (path: string, token = ADMIN_TOKEN) =>
  send(`${one.controlUrl}/api/v1${path}`, { method: 'GET', headers: { authorization: `Bearer ${token}` } })

test('while one caller asks for forty reports that the database does not answer, another one reads its pages', async () => {
  const made = await send(`${one.controlUrl}/api/v1/tokens`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'reader', role: 'operator', expires_in_days: 30 }),
  })
  assert.equal(made.status, 201, made.text)
  const token = String(made.body['secret'])
  const locking = new Client({ connectionString: postgres.url })
  await locking.connect()
  await locking.query('BEGIN; LOCK TABLE audit IN ACCESS EXCLUSIVE MODE')
  const reports = Array.from({ length: 40 }, () => get('/audit?limit=1'))
  const pages = []
  for (let page = 0; page < 3; page += 1) pages.push(await get('/requests?limit=1', token))
  await locking.query('ROLLBACK')
  await locking.end()
  for (const { status, text } of pages) assert.equal(status, 200, text)
  const answers = await Promise.all(reports)
  assert.ok(
    answers.some(({ status }) => status === 200),
    'those that waited for their turn are answered',
  )
  for (const { status, headers } of answers)
    if (status === 429) assert.ok(Number(headers.get('retry-after')) > 0)
  assert.equal((await get('/audit?limit=1')).status, 200, 'every turn has ended')
})
