import assert from 'node:assert/strict'
import { test } from 'node:test'
import Fastify from 'fastify'
import { Fault } from '#core/fault/fault.ts'
import { clientAddressBehind } from '#http/client-address.ts'
import { FailedKeys } from '#http/gateway/caller/failed-keys.ts'
import { callerOfRequest, type AccessDependencies } from './authenticate.ts'
import { nodeCaller } from './caller.ts'
import { Callers, type SessionCaller } from './callers.ts'
import { digestOf } from './secret-text.ts'
import { Transports } from './transport.ts'

const TOKEN = 'the-token-of-this-node-0001'
const MEMBER = 'mail@example.com'

/** Answers with the caller of each request, or with the code of its fault. */
function aPort() {
  const member = { id: '1', name: 'Alice', email: MEMBER }
  const caller: SessionCaller = {
    ...nodeCaller(MEMBER),
    member,
    sessionId: 's',
    expiresAt: '2027-01-01T00:00:00Z',
  }
  const session = digestOf('session')
  const callers = new Callers({
    ofCookie: async (digest) =>
      digest.equals(session) ? { caller, usedAt: null, touch: async () => {} } : undefined,
    ofToken: async () => undefined,
    nowMs: () => 0,
    onUntouched: (error) => assert.fail(String(error)),
  })
  const transports = new Transports({ trustedProxies: [], consoleUrl: undefined, insecureConsole: false })
  const access: AccessDependencies = {
    callerOf: (token) => (token === TOKEN ? nodeCaller('token') : undefined),
    node: { callers, transports },
    clientAddress: clientAddressBehind([]),
    failedTokens: new FailedKeys(() => 0),
  }
  const app = Fastify()
  app.setErrorHandler((error) => (error instanceof Fault ? error.code : String(error)))
  app.all('/', async (request) => (await callerOfRequest(request, access)).actor)
  return async (
    method: 'GET' | 'POST',
    headers: Record<string, string>,
    remoteAddress = '127.0.0.1',
  ): Promise<string> => (await app.inject({ method, url: '/', headers, remoteAddress })).body
}

const PLAIN = 'torana=session'
const SECURE = '__Host-torana=session'
const OWN = 'http://localhost:80'

for (const [title, method, headers, from, answer] of [
  ['a page of the console reads', 'GET', { cookie: PLAIN }, '127.0.0.1', MEMBER],
  ['a page of the console changes something', 'POST', { cookie: PLAIN, origin: OWN }, '127.0.0.1', MEMBER],
  [
    'a page of another site changes something',
    'POST',
    { cookie: PLAIN, origin: 'https://x' },
    '127.0.0.1',
    'wrong_origin',
  ],
  ['a page without an origin changes something', 'POST', { cookie: SECURE }, '127.0.0.1', 'wrong_origin'],
  ['a plain cookie over an open network', 'GET', { cookie: PLAIN }, '203.0.113.9', 'insecure_sign_in'],
  ['a cookie that only TLS carries', 'GET', { cookie: SECURE }, '203.0.113.9', MEMBER],
  ['a session that has ended', 'GET', { cookie: 'torana=old' }, '127.0.0.1', 'session_ended'],
  ['nothing to show', 'GET', {}, '127.0.0.1', 'missing_api_key'],
] as const)
  test(`${title}: ${answer === MEMBER ? 'the member asks' : answer}`, async () => {
    assert.equal(await aPort()(method, headers, from), answer)
  })

test('an address that sent thirty wrong tokens waits, and the right token is still accepted from it', async () => {
  const ask = aPort()
  const bearing = (token: string, from?: string) => ask('GET', { authorization: `Bearer ${token}` }, from)
  for (let times = 0; times < 30; times += 1) assert.equal(await bearing('wrong'), 'invalid_api_key')
  assert.equal(await bearing('wrong'), 'too_many_wrong_keys')
  assert.equal(await bearing('wrong', '203.0.113.9'), 'invalid_api_key')
  assert.equal(await bearing(TOKEN), 'token')
})
