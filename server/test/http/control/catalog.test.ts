import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NODE_TOKEN, startConsoleNode } from '#test/support/console-node.ts'

const guarded = { spaceGuard: false }
const node = await startConsoleNode({
  models: {},
  known: {
    'text-embedding-3-small': guarded,
    'text-embedding-ada-002': { ...guarded, price: { usdPerMillionTokens: 5 } },
  },
})

test('the catalogue names the day of each fact about models in use, and of none that torana.yaml declares', async () => {
  const { status, body } = await node.control('GET', '/catalog', { token: NODE_TOKEN })
  assert.equal(status, 200)
  assert.match(String(body['date']), /^\d{4}-\d{2}-\d{2}$/)
  const [small, large] = body['data'] as Record<string, { as_of: string; is_old: boolean } | null>[]
  assert.match(small?.['price']?.as_of ?? '', /^\d{4}-\d{2}-\d{2}$/)
  assert.equal(small?.['facts']?.is_old, false)
  assert.equal(large?.['price'], null, 'the price of torana.yaml is no fact of the catalogue')
})
