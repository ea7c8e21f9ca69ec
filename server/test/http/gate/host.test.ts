/** The host names at which the control port answers, and its answers to requests with other names. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Fault } from '#core/fault/fault.ts'
import { checkHost } from '#control/shared/host.ts'
import { startGateway } from '#test/support/gateway.ts'
import { sendRaw } from '#test/support/raw.ts'

const CONSOLE = 'https://console.example/torana/'

/** Whether a request is answered: by Host, by address of the node, with or without a token. */
const ROWS: readonly {
  readonly host: string
  readonly at: string
  readonly consoleUrl?: string
  readonly token?: boolean
  readonly isAnswered: boolean
}[] = [
  { host: 'localhost:8081', at: '127.0.0.1', isAnswered: true },
  { host: '127.0.0.1:8081', at: '127.0.0.1', isAnswered: true },
  { host: '[::1]:8081', at: '::1', isAnswered: true },
  { host: 'torana.localhost', at: '::ffff:127.0.0.1', isAnswered: true },
  { host: 'attacker.example:8081', at: '127.0.0.1', isAnswered: false },
  { host: 'attacker.example', at: '::ffff:127.0.0.1', isAnswered: false },
  { host: 'attacker.example', at: '127.0.0.1', token: true, isAnswered: false },
  { host: 'console.example', at: '127.0.0.1', consoleUrl: CONSOLE, isAnswered: true },
  { host: 'CONSOLE.example:443', at: '127.0.0.1', consoleUrl: CONSOLE, isAnswered: true },
  { host: '10.0.0.7:8081', at: '10.0.0.7', isAnswered: true },
  { host: 'torana-control:8081', at: '10.0.0.7', isAnswered: true },
  { host: 'torana-control:8081', at: '10.0.0.7', consoleUrl: CONSOLE, isAnswered: false },
  { host: 'torana-control:8081', at: '10.0.0.7', consoleUrl: CONSOLE, token: true, isAnswered: true },
  { host: 'attacker.example', at: '10.0.0.7', consoleUrl: CONSOLE, isAnswered: false },
]

for (const { host, at, consoleUrl, token, isAnswered } of ROWS)
  test(`${host} at ${at}${consoleUrl ? ', CONSOLE_URL set' : ''}${token ? ', with a token' : ''}: ${isAnswered ? 'answered' : 'refused'}`, () => {
    const request = {
      headers: { host, ...(token && { authorization: 'Bearer x' }) },
      socket: { localAddress: at },
    } as Parameters<typeof checkHost>[0]
    const check = (): void => checkHost(request, consoleUrl)
    if (isAnswered) check()
    else assert.throws(check, (error) => error instanceof Fault && error.code === 'wrong_host')
  })

const gateway = await startGateway({ models: { 'plain-w16': { on: 'plain' } } })

test('a name that leads to this machine reads neither metrics nor the sign-in options', async () => {
  for (const path of ['/metrics', '/api/v1/session/options', '/']) {
    const { status, body } = await sendRaw(gateway.controlUrl, [
      `GET ${path} HTTP/1.1\r\nhost: attacker.example\r\nconnection: close\r\n\r\n`,
    ])
    assert.equal(status, 421, path)
    assert.match(body, /"code":"wrong_host"/)
  }
})

test('health is answered under every name', async () => {
  const { status } = await sendRaw(gateway.controlUrl, [
    'GET /livez HTTP/1.1\r\nhost: probe.example\r\nconnection: close\r\n\r\n',
  ])
  assert.equal(status, 200)
})

for (const [what, start, expected] of [
  ['an address that cannot be decoded', 'GET /api/v1/keys/%zz/x HTTP/1.1', 404],
  ['an id longer than any', `GET /api/v1/models/${'x'.repeat(600)} HTTP/1.1`, 404],
  ['a method that HTTP does not know', 'FROB /api/v1/keys HTTP/1.1', 400],
] as const)
  test(`${what} is answered in the words of the contract`, async () => {
    const { status, body } = await sendRaw(gateway.controlUrl, [
      `${start}\r\nhost: localhost\r\nconnection: close\r\n\r\n`,
    ])
    assert.equal(status, expected)
    assert.ok((JSON.parse(body) as { error: { doc_url: string } }).error.doc_url)
  })
