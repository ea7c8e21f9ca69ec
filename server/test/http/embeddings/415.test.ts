import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { assertFault } from '#test/support/errors.ts'
import { startGateway } from '#test/support/gateway.ts'

const gateway = await startGateway({ models: { 'plain-w16': { on: 'plain' } } })
const question = { model: 'plain-w16', input: 'a' }

for (const encoding of ['gzip', 'br', 'zstd']) {
  test(`a body compressed with ${encoding} is refused`, async () => {
    const headers = { 'content-encoding': encoding }
    assertFault(await gateway.ask(question, { headers }), 'unsupported_media_type', {
      words: new RegExp(encoding),
    })
  })
}

test('a body that is really compressed is refused, whatever it inflates to', async () => {
  const answer = await fetch(`${gateway.url}/v1/embeddings`, {
    method: 'POST',
    headers: {
      'content-encoding': 'gzip',
      'content-type': 'application/json',
      authorization: `Bearer ${gateway.key}`,
    },
    body: new Uint8Array(gzipSync(Buffer.alloc(1_000_000))),
  })
  assert.equal(answer.status, 415)
})

for (const type of ['text/plain', 'multipart/form-data; boundary=x', 'application/x-www-form-urlencoded']) {
  test(`${type} is refused`, async () => {
    assertFault(await gateway.ask(question, { headers: { 'content-type': type } }), 'unsupported_media_type')
  })
}

for (const type of [
  'application/json',
  'application/json; charset=utf-8',
  'application/vnd.api+json',
  'APPLICATION/JSON',
  '',
]) {
  test(`${type} is taken`, async () => {
    assert.equal((await gateway.ask(question, { headers: { 'content-type': type } })).status, 200)
  })
}

test('identity is no compression, nor is an empty header', async () => {
  for (const encoding of ['identity', 'Identity', ''])
    assert.equal((await gateway.ask(question, { headers: { 'content-encoding': encoding } })).status, 200)
})
