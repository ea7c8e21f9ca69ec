import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type RequestListener } from 'node:http'
import type { AddressInfo, LookupFunction } from 'node:net'
import { after, test } from 'node:test'
import OpenAI from 'openai'
import { AddressRefused } from '#ports/image-upstream.ts'
import { systemClock } from '#runtime/clock.ts'
import { HttpTimeout } from './http.ts'
import { USER_AGENT } from './user-agent.ts'
import { WebhookHttp, type WebhookOptions } from './webhook.ts'

const SECRETS = {
  'a secret in base64': `whsec_${Buffer.from('twenty-four random bytes').toString('base64')}`,
  'a secret as text': 'any text of some length will do',
}
const payload = '{"id":"evt_1","object":"event","type":"image.job.succeeded","data":{"model":"mäler"}}'

interface Received {
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

async function receiver(listener?: RequestListener) {
  const received: Received[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      received.push({ headers: request.headers, body: Buffer.concat(chunks).toString() })
      if (listener) listener(request, response)
      else response.end('noted')
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  after(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}/hook?a=1`, port, received }
}

function sender(options: Partial<WebhookOptions> = {}): WebhookHttp {
  const http = new WebhookHttp({ clock: systemClock, allowPrivate: true, ...options })
  after(() => http.close())
  return http
}

for (const [description, secret] of Object.entries(SECRETS)) {
  test(`the OpenAI SDK accepts what was signed with ${description}, and nothing else`, async () => {
    const { url, received } = await receiver()
    assert.deepEqual(await sender().post({ url, secret, id: 'evt_1', payload }), { status: 200 })
    const [{ headers, body }] = received as [Received]
    assert.equal(body, payload)
    assert.equal(headers['webhook-id'], 'evt_1')
    assert.equal(headers['content-type'], 'application/json')
    assert.deepEqual([headers['user-agent'], headers['accept-encoding']], [USER_AGENT, 'identity'])
    const given = headers as Record<string, string>
    const { webhooks } = new OpenAI({ apiKey: 'x', webhookSecret: secret })
    assert.deepEqual(await webhooks.unwrap(body, given), JSON.parse(payload))
    await assert.rejects(webhooks.unwrap(body.replace('succeeded', 'failed'), given), /signature/)
    await assert.rejects(webhooks.unwrap(body, { ...given, 'webhook-id': 'evt_2' }), /signature/)
    await assert.rejects(webhooks.unwrap(body, given, 'another secret of some length'), /signature/)
  })
}

test('a redirect is an answer like any other, and is not followed', async () => {
  const target = await receiver()
  for (const status of [301, 302, 303, 307, 308]) {
    const { url } = await receiver((_, response) =>
      response.writeHead(status, { location: target.url }).end(),
    )
    assert.deepEqual(await sender().post({ url, secret: 'x'.repeat(24), id: 'evt_1', payload }), { status })
  }
  assert.deepEqual(target.received, [])
})

test('whoever does not answer in time has not got it', async () => {
  const { url } = await receiver(() => {})
  const post = sender({ timeoutMs: 200 }).post({ url, secret: 'x'.repeat(24), id: 'evt_1', payload })
  await assert.rejects(post, HttpTimeout)
})

test('an answer that never ends counts by its status', async () => {
  const { url } = await receiver((_, response) => {
    response.writeHead(204 + 1)
    response.write('endless')
  })
  const post = sender({ timeoutMs: 300 }).post({ url, secret: 'x'.repeat(24), id: 'evt_1', payload })
  assert.deepEqual(await post, { status: 205 })
})

test('a refused connection is told', async () => {
  const post = sender().post({ url: 'http://127.0.0.1:1/', secret: 'x'.repeat(24), id: 'evt_1', payload })
  await assert.rejects(post, /ECONNREFUSED/)
})

/** A resolver with fixed answers, in the form of `node:dns`. */
function resolvingTo(...addresses: readonly string[]): LookupFunction {
  return (_host, _options, callback) =>
    callback(
      null,
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    )
}

test('no event goes to an address that is not of the public internet', async () => {
  const { port, received } = await receiver()
  const guarded = (lookup: LookupFunction): WebhookHttp => sender({ allowPrivate: false, lookup })
  const inside = resolvingTo('127.0.0.1')
  const cases: readonly [string, LookupFunction][] = [
    [`https://127.0.0.1:${port}/`, inside],
    [`https://[::1]:${port}/`, inside],
    [`https://2130706433:${port}/`, inside],
    ['https://169.254.169.254/latest', inside],
    [`https://hooks.example:${port}/`, inside],
    [`https://hooks.example:${port}/`, resolvingTo('93.184.215.14', '10.0.0.1')],
    [`https://hooks.example:${port}/`, resolvingTo('::ffff:127.0.0.1')],
    [`https://hooks.example:${port}/`, resolvingTo()],
    [`http://93.184.215.14:${port}/`, inside],
    ['https://93.184.215.14:22/', inside],
    ['https://user:word@hooks.example/', inside],
    ['ftp://hooks.example/', inside],
    ['no url', inside],
  ]
  for (const [url, lookup] of cases) {
    const post = guarded(lookup).post({ url, secret: 'x'.repeat(24), id: 'evt_1', payload })
    await assert.rejects(post, AddressRefused, url)
  }
  assert.deepEqual(received, [])
})
