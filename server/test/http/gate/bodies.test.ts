/** Bodies at both ports: what is read, from which callers, and for how long. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NODE_TOKEN, startConsoleNode } from '#test/support/console-node.ts'
import { sendRaw } from '#test/support/raw.ts'

const IDLE_MS = 500
const gateway = await startConsoleNode({
  limits: { uploadIdleMs: IDLE_MS },
})

interface Sent {
  readonly status: number
  readonly code: string | undefined
  readonly tookMs: number
}

/** A request whose body announces a kilobyte more than is sent. It ends when the node closes the connection. */
async function sendUnfinished(
  url: string,
  target: string,
  {
    token,
    bytes = 100,
    announced = bytes + 1000,
  }: { token?: string; bytes?: number; announced?: number } = {},
): Promise<Sent> {
  const head = [
    `${target} HTTP/1.1`,
    'host: localhost',
    'content-type: application/json',
    `content-length: ${announced}`,
    ...(token === undefined ? [] : [`authorization: Bearer ${token}`]),
  ]
  const startMs = performance.now()
  const answer = await sendRaw(url, [`${head.join('\r\n')}\r\n\r\n{"a": "${'x'.repeat(bytes - 7)}`])
  const { error } = JSON.parse(/\{.*\}/s.exec(answer.text)?.[0] ?? '{}') as { error?: { code: string } }
  return { status: answer.status, code: error?.code, tookMs: performance.now() - startMs }
}

for (const { name, url, target, token, status, code } of [
  {
    name: 'a stranger at a route of the control API is refused before its body is read',
    url: gateway.controlUrl,
    target: 'POST /api/v1/keys',
    status: 401,
    code: 'missing_api_key',
  },
  {
    name: 'a path that the control port does not have is refused before its body is read',
    url: gateway.controlUrl,
    target: 'POST /somewhere',
    status: 404,
    code: 'unknown_path',
  },
  {
    name: 'a route of the control API without a body reads none',
    url: gateway.controlUrl,
    target: 'DELETE /api/v1/tokens/none',
    token: NODE_TOKEN,
    status: 404,
    code: 'not_found',
  },
  {
    name: 'a path that the gateway does not have is refused before its body is read',
    url: gateway.url,
    target: 'POST /v1/somewhere',
    status: 404,
    code: 'unknown_path',
  },
  {
    name: 'a route of the gateway without a body reads none',
    url: gateway.url,
    target: 'POST /v1/uploads/upload_none/cancel',
    token: gateway.key,
    status: 404,
    code: 'not_found',
  },
])
  test(name, async () => {
    const sent = await sendUnfinished(url, target, token === undefined ? {} : { token })
    assert.deepEqual([sent.status, sent.code], [status, code])
    // The connection ends while its sender could still go on: within the two seconds in which the rest is discarded.
    assert.ok(sent.tookMs < 4000, `${sent.tookMs} ms`)
  })

for (const { target, url, token } of [
  { target: 'POST /api/v1/session', url: gateway.controlUrl, token: undefined },
  { target: 'POST /api/v1/keys', url: gateway.controlUrl, token: NODE_TOKEN },
  { target: 'POST /v1/uploads', url: gateway.url, token: gateway.key },
  { target: 'POST /v1/batches', url: gateway.url, token: gateway.key },
])
  test(`${target}: a body that stops coming is given up`, async () => {
    const sent = await sendUnfinished(url, target, token === undefined ? {} : { token })
    assert.deepEqual([sent.status, sent.code], [408, 'request_timeout'])
  })

for (const { target, url, token, bytes } of [
  { target: 'POST /api/v1/session', url: gateway.controlUrl, token: undefined, bytes: 8 * 1024 },
  { target: 'POST /api/v1/keys', url: gateway.controlUrl, token: NODE_TOKEN, bytes: 128 * 1024 },
  { target: 'POST /v1/uploads', url: gateway.url, token: gateway.key, bytes: 16 * 1024 },
])
  test(`${target}: a body above its bound is refused, announced or not`, async () => {
    const options = token === undefined ? {} : { token }
    const announced = await sendUnfinished(url, target, { ...options, announced: bytes + 1 })
    assert.deepEqual([announced.status, announced.code], [413, 'body_too_large'])
    const [method = '', path = ''] = target.split(' ')
    const sent = await fetch(url + path, {
      method,
      headers: {
        'content-type': 'application/json',
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      },
      // A stream announces nothing.
      body: new Blob([JSON.stringify('x'.repeat(bytes))]).stream(),
      duplex: 'half',
    })
    assert.equal(sent.status, 413)
  })

test('bodies of strangers share the memory of all bodies, and leave room for callers', async () => {
  const unfinished = Array.from({ length: 200 }, () =>
    sendUnfinished(gateway.controlUrl, 'POST /api/v1/session', { bytes: 8000, announced: 8001 }),
  )
  const answer = await gateway.ask({ model: 'plain-w16', input: 'a neighbour' })
  assert.equal(answer.status, 200)
  for (const { status } of await Promise.all(unfinished)) assert.ok([408, 503].includes(status), `${status}`)
})
