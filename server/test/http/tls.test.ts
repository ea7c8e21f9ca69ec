/** TLS of the node itself, of its upstreams and of its Redis, with certificates made by openssl. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { copyFileSync, writeFileSync } from 'node:fs'
import { Agent, createServer, request } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, test } from 'node:test'
import type { TLSSocket } from 'node:tls'
import { readEnvironment } from '#config/environment.ts'
import { readText } from '#config/file/variable.ts'
import { Transports } from '#control/shared/transport.ts'
import { makeAuthority, type Certificate } from '#test/support/certificates.ts'
import { startGateway } from '#test/support/gateway.ts'
import { eventually, temporaryFolder } from '#test/support/process.ts'
import { UpstreamHttp } from '#upstreams/connect/http.ts'

const folder = temporaryFolder()
const authority = makeAuthority(folder)
const [first, second, client] = ['first', 'second', 'client'].map((name) => authority.issue(name)) as [
  Certificate,
  Certificate,
  Certificate,
]
const stranger = makeAuthority(folder, 'stranger').issue('stranger-client')
const [certFile, keyFile] = [join(folder, 'tls.pem'), join(folder, 'tls.key')]
const show = ({ certFile: cert, keyFile: key }: Certificate): void => {
  copyFileSync(cert, certFile)
  copyFileSync(key, keyFile)
}
show(first)
const TLS = { TORANA_TLS_CERT: certFile, TORANA_TLS_KEY: keyFile }

interface Answer {
  readonly status: number | undefined
  /** Whose certificate was shown. */
  readonly name: string
}

function get(url: string, options: { agent?: Agent; cert?: string; key?: string } = {}): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>()
  const asking = request(url, { ca: authority.cert, agent: options.agent ?? false, ...options })
  asking.on('error', reject).on('response', (answer) => {
    const { subject } = (answer.socket as TLSSocket).getPeerCertificate()
    answer.resume().on('end', () => resolve({ status: answer.statusCode, name: String(subject.CN) }))
  })
  asking.end()
  return promise
}

test('both ports speak TLS, follow a new certificate without dropping connections, and keep the old one when the new is broken', async () => {
  const gateway = await startGateway({ models: { 'plain-w16': { on: 'plain' } }, env: TLS })
  assert.match(gateway.url, /^https:/)
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  after(() => agent.destroy())
  for (const url of [`${gateway.url}/readyz`, `${gateway.controlUrl}/readyz`])
    assert.deepEqual(await get(url), { status: 200, name: 'first' })
  await get(`${gateway.url}/readyz`, { agent })
  const [socket] = Object.values(agent.freeSockets).flat()

  writeFileSync(certFile, 'no certificate')
  // Longer than the interval of the node's check.
  await new Promise((resolve) => setTimeout(resolve, 6000))
  assert.equal((await get(`${gateway.url}/readyz`)).name, 'first')
  show(second)
  await eventually(async () => {
    for (const url of [gateway.url, gateway.controlUrl])
      assert.deepEqual(await get(`${url}/readyz`), { status: 200, name: 'second' })
  })
  await get(`${gateway.url}/readyz`, { agent })
  assert.equal(Object.values(agent.freeSockets).flat()[0], socket, 'the connection was kept')
  await gateway.stop()
  show(first)
})

test('with an authority for clients, only clients with a certificate of it are let in', async () => {
  const env = { ...TLS, TORANA_TLS_CLIENT_CA: authority.certFile }
  const gateway = await startGateway({ models: { 'plain-w16': { on: 'plain' } }, env })
  const url = `${gateway.url}/readyz`
  await assert.rejects(get(url))
  await assert.rejects(get(url, { cert: stranger.cert, key: stranger.key }))
  assert.equal((await get(url, { cert: client.cert, key: client.key })).status, 200)
  await gateway.stop()
})

for (const [what, env, words] of [
  [
    'a key of another certificate',
    { ...TLS, TORANA_TLS_KEY: second.keyFile },
    /TORANA_TLS_CERT: .*the key is not the one of the certificate/,
  ],
  [
    'a file that is not there',
    { ...TLS, TORANA_TLS_CERT: '/nowhere.pem' },
    /TORANA_TLS_CERT: .*\/nowhere\.pem can't be read \(ENOENT\)/,
  ],
  [
    'a certificate without its key',
    { TORANA_TLS_CERT: certFile },
    /TORANA_TLS_KEY: is not set, and belongs to TORANA_TLS_CERT/,
  ],
  [
    'an authority without a certificate',
    { TORANA_TLS_CLIENT_CA: certFile },
    /TORANA_TLS_CLIENT_CA: needs TORANA_TLS_CERT/,
  ],
  [
    'a database whose authority is not there',
    {
      DATABASE_URL: 'postgres://h/d?sslrootcert=/nowhere.pem',
      TORANA_SECRET: 'a secret of enough characters',
    },
    /DATABASE_URL: sslrootcert names \/nowhere\.pem, which cannot be read \(ENOENT\)/,
  ],
] as const)
  test(`${what} is refused at the start`, () => {
    assert.throws(() => readEnvironment(env, folder, readText), words)
  })

test('over TLS the console sets cookies that only TLS can carry', () => {
  const transports = new Transports({ trustedProxies: [], consoleUrl: undefined, insecureConsole: false })
  const asked = (encrypted: boolean) =>
    ({ raw: { socket: { encrypted } }, headers: { host: 'h' } }) as unknown as Parameters<Transports['of']>[0]
  assert.deepEqual([transports.of(asked(true)).isSecure, transports.of(asked(false)).isSecure], [true, false])
  assert.equal(transports.of(asked(true)).origin, 'https://h')
})

test('an upstream with certificates of its own is called with them, and refused without', async () => {
  const upstream = createServer(
    { cert: first.cert, key: first.key, ca: authority.cert, requestCert: true },
    (_, response) => response.end('{}'),
  ).listen(0, '127.0.0.1')
  await once(upstream, 'listening')
  const origin = `https://127.0.0.1:${(upstream.address() as AddressInfo).port}`
  const http = new UpstreamHttp({ connectTimeoutMs: 5000, answerBytes: 1000, yieldOnSending: async () => {} })
  after(async () => {
    upstream.close()
    upstream.closeAllConnections()
    await http.close()
  })
  const ask = (tls?: { ca: string; cert?: string; key?: string }) =>
    http.get({ origin, path: '/', headers: [], timeoutMs: 20_000, tls }, { push: () => {} })
  await assert.rejects(ask())
  await assert.rejects(ask({ ca: authority.cert }))
  assert.equal((await ask({ ca: authority.cert, cert: client.cert, key: client.key })).status, 200)
})
