import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertFault } from '#test/support/errors.ts'
import { startGateway } from '#test/support/gateway.ts'

const one = 'key-for-one-model-only-0001'
const byAlias = 'key-that-names-an-alias-0001'
const gateway = await startGateway({
  models: { 'plain-w16': { on: 'plain', aliases: ['search-embed'] }, 'other-w16': { on: 'plain+key-other' } },
  projects: {
    search: {
      keys: [
        { name: 'one', secret: one, models: ['plain-w16'] },
        { name: 'alias', secret: byAlias, models: ['search-embed'] },
      ],
    },
  },
})

test('a key may use the models it was given, and the refusal lists them', async () => {
  assert.equal((await gateway.ask({ model: 'plain-w16', input: 'a' }, { key: one })).status, 200)
  const { calls } = gateway.provider.counters()
  const answer = await gateway.ask({ model: 'other-w16', input: 'a' }, { key: one })
  assertFault(answer, 'model_not_allowed', { param: 'model', words: /Key 'one' may use: plain-w16/ })
  assert.equal(gateway.provider.counters().calls, calls)
})

test('a model may be used under each of its names, whichever one the key has', async () => {
  for (const key of [one, byAlias]) {
    for (const model of ['plain-w16', 'search-embed']) {
      assert.equal((await gateway.ask({ model, input: 'a' }, { key })).status, 200)
    }
  }
})

test('the paths that name the model obey the same rule', async () => {
  const path = '/v1/engines/other-w16/embeddings'
  assertFault(await gateway.ask({ input: 'a' }, { key: one, path }), 'model_not_allowed')
})
