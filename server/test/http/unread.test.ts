/**
 * Requests that are refused before their body is read: the sender gets the answer at once, and cannot hold the connection afterwards.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startGateway } from '#test/support/gateway.ts'
import { sendRaw } from '#test/support/raw.ts'

const gateway = await startGateway({ models: { 'plain-w16': { on: 'plain' } } })

const UNFINISHED = 'content-type: application/json\r\ncontent-length: 1000000\r\n\r\n{'
const IN_CHUNKS = 'content-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n1\r\n{\r\n'

// `sendRaw` waits for the other side to close. Before, that took as long as the largest image may take: ten minutes.
for (const [what, head, status] of [
  ['an unknown path', 'POST /nowhere', 404],
  ['an unknown method', 'PUT /v1/embeddings', 405],
  ['a path that cannot be decoded', 'POST /%zz', 404],
  ['a path that ends otherwise', 'POST /openai/deployments/plain-w16/nothing', 404],
  ['embeddings without a key', 'POST /v1/embeddings', 401],
  ['embeddings by another path', 'POST /v1/engines/plain-w16/embeddings', 401],
  ['generations without a key', 'POST /v1/images/generations', 401],
  ['edits without a key', 'POST /v1/images/edits', 401],
  ['the models without a key', 'GET /v1/models', 401],
  ['health, with a body that nobody reads', 'GET /livez', 200],
] as const) {
  test(`${what}: answered before the body has come, and closed`, async () => {
    for (const rest of [UNFINISHED, IN_CHUNKS]) {
      const answer = await sendRaw(gateway.url, [`${head} HTTP/1.1\r\nhost: x\r\n${rest}`])
      assert.equal(answer.status, status, answer.text)
      assert.equal(answer.headers.get('connection'), 'close')
    }
  })
}

test('a refusal without a body, or whose body came with it, keeps the connection', async () => {
  for (const request of [
    'GET /nowhere HTTP/1.1\r\nhost: x\r\n\r\n',
    'GET /v1/models HTTP/1.1\r\nhost: x\r\n\r\n',
    'POST /v1/embeddings HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n\r\n{}',
  ]) {
    const last = request.replace('host: x', 'host: x\r\nconnection: close')
    const { text } = await sendRaw(gateway.url, [`${request}${last}`])
    assert.equal(text.match(/HTTP\/1\.1 40[14] /g)?.length, 2, text)
  }
})
