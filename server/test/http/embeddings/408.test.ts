import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startGateway } from '#test/support/gateway.ts'
import { eventually } from '#test/support/process.ts'
import { sendRaw } from '#test/support/raw.ts'

const gateway = await startGateway({
  models: { 'plain-w16': { on: 'plain' } },
  limits: { headersTimeoutMs: 300 },
})
const head = `POST /v1/embeddings HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${gateway.key}\r\n`

test('headers that do not arrive in time are given up', async () => {
  const startedMs = performance.now()
  const { status, body, headers } = await sendRaw(gateway.url, [head])
  assert.ok(performance.now() - startedMs < 15_000)
  assert.equal(status, 408)
  const { error } = JSON.parse(body) as { error: { code: string; request_id: string } }
  assert.equal(error.code, 'request_timeout')
  assert.equal(headers.get('x-request-id'), error.request_id)
})

test('a request whose body breaks off is counted as such, and calls no upstream', async () => {
  const { calls } = gateway.provider.counters()
  await sendRaw(gateway.url, [`${head}content-length: 1000\r\n\r\n{"model":"plain-w16",`], {
    thenClose: true,
  })
  await eventually(async () => {
    const metrics = await (await fetch(`${gateway.controlUrl}/metrics`)).text()
    assert.match(metrics, /torana_requests_total\{[^}]*status="408",fault="request_timeout"\} 1/)
  })
  assert.equal(gateway.provider.counters().calls, calls)
})

test('what is not HTTP is refused in our own words', async () => {
  for (const [pieces, status] of [
    [['NO HTTP AT ALL\r\n\r\n'], 400],
    [[`${head}host: another.example\r\ncontent-length: 2\r\n\r\n{}`], 400],
    [['GET /v1/models HTTP/1.1\r\nHost: a\r\nhOST: a\r\n\r\n'], 400],
    [[`${head}x-long: ${'a'.repeat(40_000)}\r\n\r\n`], 431],
  ] as const) {
    const answer = await sendRaw(gateway.url, pieces)
    assert.equal(answer.status, status)
    const { error } = JSON.parse(answer.body) as { error: { code: string; request_id: string } }
    assert.equal(answer.headers.get('x-request-id'), error.request_id)
  }
})
