import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertFault } from '#test/support/errors.ts'
import { startGateway } from '#test/support/gateway.ts'
import { sendRaw } from '#test/support/raw.ts'

const LIMIT = 4000
const gateway = await startGateway({
  models: { 'plain-w16': { on: 'plain' } },
  limits: { embeddingsBodyBytes: LIMIT, contentsBodyBytes: LIMIT },
})

function questionOf(bytes: number): string {
  const empty = JSON.stringify({ model: 'plain-w16', input: '' })
  return empty.replace('""', `"${'a'.repeat(bytes - empty.length)}"`)
}

test('a body of exactly the limit is taken, one byte more is not', async () => {
  assert.equal((await gateway.ask(questionOf(LIMIT))).status, 200)
  const { calls } = gateway.provider.counters()
  assertFault(await gateway.ask(questionOf(LIMIT + 1)), 'body_too_large', { words: /4000 bytes/ })
  assert.equal(gateway.provider.counters().calls, calls)
})

test('a body that does not announce its size is refused once it is too large', async () => {
  const chunk = 'a'.repeat(1000)
  const chunks = Array.from({ length: 10 }, () => `${chunk.length.toString(16)}\r\n${chunk}\r\n`)
  const answer = await sendRaw(gateway.url, [
    `POST /v1/embeddings HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${gateway.key}\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n`,
    ...chunks,
    '0\r\n\r\n',
  ])
  assert.equal(answer.status, 413)
  assert.match(answer.body, /body_too_large/)
})

test('a body announced too large is refused without being waited for', async () => {
  const head = `POST /v1/embeddings HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${gateway.key}\r\nconnection: close\r\ncontent-length: 9000000000\r\n\r\n`
  // The rest never comes.
  assert.equal((await sendRaw(gateway.url, [head, '{"model":'])).status, 413)
})

test('after a refusal the gateway goes on serving', async () => {
  assert.equal((await gateway.ask(questionOf(100))).status, 200)
})
