import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertFault } from '#test/support/errors.ts'
import { startGateway } from '#test/support/gateway.ts'

const one = 'key-for-one-model-only-0001'
const gateway = await startGateway({
  models: { 'plain-w16': { on: 'plain' }, 'other-w16': { on: 'plain+key-other' } },
  projects: { search: { keys: [{ name: 'one', secret: one, models: ['plain-w16'] }] } },
  retired: { 'old-embed': { on: '2026-01-31', successor: 'plain-w16' } },
})

test('the refusal of an unknown model names the nearest one', async () => {
  assertFault(await gateway.get('/v1/models/plian-w16'), 'model_not_found', {
    param: 'model',
    words: /Did you mean 'plain-w16'/,
  })
})

test('a retired model names its successor', async () => {
  assertFault(await gateway.get('/v1/models/old-embed'), 'model_retired', {
    words: /successor is 'plain-w16'/,
  })
})

test('a model that the key may not use is refused as such', async () => {
  assertFault(await gateway.get('/v1/models/other-w16', { key: one }), 'model_not_allowed')
})

test('no model is named after the slash', async () =>
  assertFault(await gateway.get('/v1/models/'), 'unknown_path'))

for (const path of ['/v1/models', '/v1/models/plain-w16', '/openai/v1/models', '/models']) {
  test(`GET ${path} needs a key that exists`, async () => {
    assertFault(await gateway.get(path, { key: undefined }), 'missing_api_key')
    assertFault(await gateway.get(path, { key: 'nobody-knows-this-key-12345678' }), 'invalid_api_key')
    assertFault(await gateway.get(path, { key: 'tr_cut' }), 'invalid_api_key', { words: /mistyped/ })
  })
}

test('the three header forms work here too', async () => {
  for (const name of ['api-key', 'x-api-key']) {
    assert.equal(
      (await gateway.get('/v1/models', { key: undefined, headers: { [name]: gateway.key } })).status,
      200,
    )
  }
})
