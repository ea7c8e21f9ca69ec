import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertFault } from '#test/support/errors.ts'
import { startGateway } from '#test/support/gateway.ts'

const gateway = await startGateway({ models: { 'plain-w16': { on: 'plain' } } })

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
