/** `Expect` and `Host`: a client may send its body once its key is known, and every refusal has our words. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { test } from 'node:test'
import { ADMIN_TOKEN } from '#test/support/control.ts'
import { startGateway } from '#test/support/gateway.ts'
import { sendRaw } from '#test/support/raw.ts'

const gateway = await startGateway({
  models: { 'plain-w16': { on: 'plain' } },
  images: { picture: { on: 'plain' } },
  env: { TORANA_ADMIN_TOKEN: ADMIN_TOKEN },
})
const { hostname, port } = new URL(gateway.url)
const BODY = JSON.stringify({ model: 'plain-w16', input: 'a' })

function headOf(path: string, key: string, expect: string, type = 'application/json'): string {
  return `POST ${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\nauthorization: Bearer ${key}\r\nexpect: ${expect}\r\ncontent-type: ${type}\r\ncontent-length: ${BODY.length}\r\n\r\n`
}

async function opened(head: string): Promise<Socket> {
  const socket = connect(Number(port), hostname).on('error', () => {})
  await once(socket, 'connect')
  socket.write(head)
  return socket
}

test('a client that asks first is invited, and served', async () => {
  const socket = await opened(headOf('/v1/embeddings', gateway.key, '100-Continue'))
  const [first] = (await once(socket, 'data')) as [Buffer]
  assert.equal(first.toString(), 'HTTP/1.1 100 Continue\r\n\r\n')
  socket.write(BODY)
  const [second] = (await once(socket, 'data')) as [Buffer]
  assert.match(second.toString(), /^HTTP\/1\.1 200 /)
  socket.destroy()
})

for (const [what, head, status] of [
  ['a wrong key', headOf('/v1/embeddings', 'nobody-knows-this-key-12345678', '100-continue'), 401],
  [
    'a wrong key for an edit',
    headOf('/v1/images/edits', 'nobody-knows-this-key-12345678', '100-continue'),
    401,
  ],
  ['a wrong type', headOf('/v1/embeddings', gateway.key, '100-continue', 'text/plain'), 415],
  ['an unknown path', headOf('/v1/nowhere', gateway.key, '100-continue'), 404],
  [
    'a body that is too large',
    headOf('/v1/embeddings', gateway.key, '100-continue').replace(/length: \d+/, 'length: 900000000'),
    413,
  ],
] as const) {
  test(`${what}: the client is not invited to upload in vain`, async () => {
    const { text, status: got } = await sendRaw(gateway.url, [head])
    assert.equal(got, status, text)
    assert.doesNotMatch(text, /100 Continue/)
  })
}

test('another expectation is refused with a body and an id', async () => {
  const { status, headers, body } = await sendRaw(gateway.url, [headOf('/v1/embeddings', gateway.key, 'tea')])
  // Sent in one chunk, preceded by its length.
  const { error } = JSON.parse(/{.*}/.exec(body)?.[0] ?? '') as { error: Record<string, string> }
  assert.deepEqual([status, error['code']], [417, 'expectation_failed'])
  assert.equal(error['request_id'], headers.get('x-request-id'))
})

test('so is a request without a Host header, except in HTTP/1.0', async () => {
  const { status, headers, body } = await sendRaw(gateway.url, ['GET /v1/models HTTP/1.1\r\n\r\n'])
  const { error } = JSON.parse(body) as { error: Record<string, string> }
  assert.deepEqual([status, error['code']], [400, 'malformed_request'])
  assert.match(error['message'] ?? '', /no Host header/)
  assert.equal(error['request_id'], headers.get('x-request-id'))
  assert.equal((await sendRaw(gateway.url, ['GET /livez HTTP/1.0\r\n\r\n'])).status, 200)
})

test('the control port invites only a caller that it knows, and refuses what Node refuses', async () => {
  const ask =
    'POST /api/v1/keys HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\nexpect: 100-continue\r\ncontent-length: 2\r\n\r\n{}'
  assert.match((await sendRaw(gateway.controlUrl, [ask])).text, /^HTTP\/1\.1 401/)
  const known = ask.replace('expect', `authorization: Bearer ${ADMIN_TOKEN}\r\nexpect`)
  assert.match(
    (await sendRaw(gateway.controlUrl, [known])).text,
    /^HTTP\/1\.1 100 Continue[\s\S]*HTTP\/1\.1 400/,
  )
  assert.equal((await sendRaw(gateway.controlUrl, [ask.replace('100-continue', 'tea')])).status, 417)
  assert.equal(
    (await sendRaw(gateway.controlUrl, ['GET /livez HTTP/1.1\r\nconnection: close\r\n\r\n'])).status,
    400,
  )
})
