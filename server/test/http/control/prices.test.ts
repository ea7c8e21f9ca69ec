/** Prices that are set while nodes run: two nodes on one PostgreSQL, before a fake provider. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { z } from 'zod'
import type { changeList, priceList } from '#control/prices/routes.ts'
import { ADMIN_TOKEN, asAdmin } from '#test/support/control.ts'
import { assertFault } from '#test/support/errors.ts'
import { startGateway, type Gateway } from '#test/support/gateway.ts'
import { eventually } from '#test/support/process.ts'
import { testPostgres } from '#test/support/servers.ts'

type Prices = z.output<typeof priceList>
type Changes = z.output<typeof changeList>

const env = {
  DATABASE_URL: (await testPostgres()).url,
  TORANA_ADMIN_TOKEN: ADMIN_TOKEN,
  TORANA_SECRET: 'a secret that both nodes share 02',
}
const models = {
  'open-w8': { on: 'plain' },
  'fixed-w8': { on: 'plain', price: { usdPerMillionTokens: 10 } },
}
const one = await startGateway({ models, env })
const two = await startGateway({ models, env })
const OPEN = `/prices/${encodeURIComponent('open-w8/plain')}`
const FIXED = `/prices/${encodeURIComponent('fixed-w8/plain')}`

const costAt = async (gateway: Gateway): Promise<string | null> =>
  (await gateway.ask({ model: 'open-w8', input: 'one two three' })).headers.get('x-torana-cost')

test('those without a price come first, and each says who decides it', async () => {
  const { body } = await asAdmin<Prices>(one, 'GET', '/prices')
  assert.deepEqual(
    body.data.map(({ deployment, from }) => [deployment, from]),
    [
      ['open-w8/plain', 'none'],
      ['fixed-w8/plain', 'configuration'],
    ],
  )
  assert.match(body.data[1]?.managed_at ?? '', /:\d+$/)
  assert.deepEqual(body.data[1]?.price, { usdPerMillionTokens: '10' })
})

test('a price that is set counts on every node within two seconds, and can be taken back', async () => {
  assert.equal(await costAt(one), 'unpriced')
  const set = await asAdmin<Prices['data'][number]>(one, 'PUT', OPEN, {
    price: { usdPerMillionTokens: '0.5' },
  })
  assert.equal(set.status, 200)
  assert.deepEqual([set.body.from, set.body.set_by], ['store', 'admin-token'])
  assert.match((await costAt(one)) ?? '', /^0\.00000\d+$/, 'at once where it was set')
  await eventually(async () => assert.match((await costAt(two)) ?? '', /^0\.0000/), 2000)
  assert.equal((await asAdmin(two, 'DELETE', OPEN)).status, 200)
  await eventually(async () => assert.equal(await costAt(one), 'unpriced'), 2000)
  assertFault((await asAdmin(two, 'DELETE', OPEN)).asked, 'not_found')
})

test('changes are noted once, whichever nodes saw them, with who made them', async () => {
  await asAdmin(one, 'PUT', OPEN, { price: { usdPerMillionTokens: 2 } })
  await asAdmin(one, 'PUT', OPEN, { price: 'free' })
  const last = await eventually(async () => {
    const { body } = await asAdmin<Changes>(two, 'GET', '/price-changes')
    const own = body.data.filter(({ deployment }) => deployment === 'open-w8/plain').slice(-2)
    assert.deepEqual(
      own.map(({ before, after }) => [before[0]?.amount, after[0]?.unit]),
      [
        ['', 'million tokens'],
        ['2', 'free'],
      ],
    )
    return own
  }, 5000)
  assert.deepEqual(
    last.map(({ by }) => by),
    ['admin-token', 'admin-token'],
  )
  await asAdmin(one, 'DELETE', OPEN)
})

test('what torana.yaml says stays, and what is no price is refused', async () => {
  assertFault((await asAdmin(one, 'PUT', FIXED, { price: 'free' })).asked, 'conflict', {
    words: /Change it there/,
  })
  assertFault((await asAdmin(one, 'DELETE', FIXED)).asked, 'conflict')
  assertFault((await asAdmin(one, 'PUT', '/prices/nothing', { price: 'free' })).asked, 'not_found')
  for (const price of [{ usdPerImage: 1 }, { usdPerMillionTokens: -1 }, 'cheap', {}])
    assertFault((await asAdmin(one, 'PUT', OPEN, { price })).asked, 'invalid_parameter', { words: /price/ })
})
