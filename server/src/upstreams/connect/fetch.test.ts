import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, request as forward, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { makeFetch } from './fetch.ts'
import { USER_AGENT } from './user-agent.ts'

const ANSWER_BYTES = 1024 * 1024
/** 64 KB that unpack to 64 MB. */
const BOMB = gzipSync(Buffer.alloc(64 * 1024 * 1024, '1'))

const asked: IncomingMessage['headers'][] = []
const server = createServer((request, response) => {
  asked.push(request.headers)
  if (request.url === '/bomb') response.writeHead(200, { 'content-encoding': 'gzip' }).end(BOMB)
  else if (request.url === '/packed')
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('{"a":1}'))
  else if (request.url === '/long') response.end(Buffer.alloc(ANSWER_BYTES + 1))
  else if (request.url === '/none') response.writeHead(204).end()
  else response.writeHead(429, { 'retry-after': '7' }).end('{"a":1}')
}).listen(0, '127.0.0.1')
let proxied = 0
/** Proxies get whole addresses. */
const proxy = createServer((request, response) => {
  proxied += 1
  const { headers, url = '' } = request
  const onward = forward(url, { headers, agent: false }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers)
    answer.pipe(response)
  })
  onward.on('error', () => response.destroy())
  onward.end()
}).listen(0, '127.0.0.1')
await Promise.all([once(server, 'listening'), once(proxy, 'listening')])
const urlOf = (listener: typeof server): string =>
  `http://127.0.0.1:${(listener.address() as AddressInfo).port}`
after(() => {
  for (const listener of [server, proxy]) {
    listener.close()
    listener.closeAllConnections()
  }
})

const options = { connectTimeoutMs: 1000, answerBytes: ANSWER_BYTES }
for (const [way, fetch] of [
  ['directly', makeFetch(options)],
  ['behind a proxy', makeFetch({ ...options, proxy: { http: urlOf(proxy) } })],
] as const)
  test(`an answer counts as it unpacks, ${way}`, async () => {
    const before = proxied
    asked.length = 0
    for (const path of ['/bomb', '/long'])
      await assert.rejects(
        async () => (await fetch(`${urlOf(server)}${path}`)).text(),
        (error: Error & { code?: unknown }) => {
          const { code } = (error.cause ?? error) as { code?: unknown }
          assert.equal(code, 'UND_ERR_RES_EXCEEDED_MAX_SIZE', String(error))
          return true
        },
      )
    const packed = await fetch(`${urlOf(server)}/packed`, { headers: { 'x-own': 'kept' } })
    assert.deepEqual(await packed.json(), { a: 1 })
    const limited = await fetch(urlOf(server))
    assert.deepEqual(
      [limited.status, limited.headers.get('retry-after'), await limited.text()],
      [429, '7', '{"a":1}'],
    )
    assert.equal((await fetch(`${urlOf(server)}/none`)).status, 204)
    assert.ok(asked.every((headers) => headers['accept-encoding'] === 'identity'))
    assert.ok(asked.some((headers) => headers['x-own'] === 'kept'))
    assert.ok(asked.every((headers) => headers['user-agent'] === USER_AGENT))
    for (const [given, sent] of [
      ['ai-sdk-google/4.0.117 node.js/26', `${USER_AGENT} ai-sdk-google/4.0.117 node.js/26`],
      ['acme/1 ai-sdk-google/4.0.117 node.js/26', 'acme/1 ai-sdk-google/4.0.117 node.js/26'],
    ] as const) {
      await (await fetch(urlOf(server), { headers: { 'user-agent': given } })).text()
      assert.equal(asked.at(-1)?.['user-agent'], sent)
    }
    assert.equal(proxied > before, way === 'behind a proxy')
  })
