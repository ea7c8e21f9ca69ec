/** Wrong admin tokens: throttled, counted, and in the security log with the address that they came from. */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { configText, gatewayEnvironment } from '#test/support/gateway.ts'
import { startTorana, temporaryFolder } from '#test/support/process.ts'
import { startFakeProvider } from '../../../../lab/fake-provider/server.ts'

const TOKEN = 'admin-token-of-these-tests-0001'
const WRONG = 'a-wrong-admin-token-canary-0001'
const provider = await startFakeProvider()
after(() => provider.close())
const folder = temporaryFolder()
writeFileSync(
  join(folder, 'torana.yaml'),
  configText({ models: { 'plain-w16': { on: 'plain' } } }, provider.url),
)
const torana = await startTorana({
  folder,
  env: gatewayEnvironment(folder, { TORANA_ADMIN_TOKEN: TOKEN, TRUSTED_PROXIES: 'loopback' }),
})

const askAs = async (token: string | undefined, client: string, path = '/keys?limit=2'): Promise<number> => {
  const headers = {
    'x-forwarded-for': client,
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
  }
  return (await fetch(`${torana.controlUrl}/api/v1${path}`, { headers })).status
}

const statuses: number[] = []
for (let guess = 0; guess < 60; guess += 1) statuses.push(await askAs(WRONG, '192.0.2.1'))
const ofAnother = await askAs(WRONG, '192.0.2.2')
const ofTheAdmin = await askAs(TOKEN, '192.0.2.1')
const withoutToken = await askAs(undefined, '192.0.2.3')
await fetch(`${torana.url}/v1/models`, {
  headers: { authorization: `Bearer ${WRONG}`, 'x-forwarded-for': '192.0.2.4' },
})
const metrics = await (await fetch(`${torana.controlUrl}/metrics`)).text()
torana.signal('SIGTERM')
await torana.ended()
const events = torana
  .stdout()
  .trimEnd()
  .split('\n')
  .map((line) => JSON.parse(line) as Record<string, unknown>)
  .filter(({ event }) => event === 'security')
const eventsOf = (kind: string) => events.filter((event) => event['kind'] === kind)

test('after thirty wrong tokens their address has to wait, and no other has to', () => {
  assert.deepEqual(statuses.slice(0, 30), statuses.slice(0, 30).fill(401))
  assert.ok(statuses.includes(429))
  assert.equal(ofAnother, 401)
})

test('the right token is served from the address of a guesser', () => {
  assert.equal(ofTheAdmin, 200)
})

test('each is counted, and logged with the address of the client', () => {
  assert.equal(withoutToken, 401)
  const counted = (kind: string): number =>
    Number(new RegExp(`^torana_security_events_total\\{kind="${kind}"\\} (\\d+)$`, 'm').exec(metrics)?.[1])
  assert.equal(counted('wrong_admin_token') + counted('wrong_admin_token_throttled'), 61)
  assert.equal(counted('wrong_key'), 1)
  assert.equal(eventsOf('wrong_admin_token')[0]?.['client'], '192.0.2.1')
  assert.ok(eventsOf('wrong_admin_token_throttled').length > 0)
  assert.deepEqual(
    eventsOf('missing_admin_token').map(({ client, path }) => [client, path]),
    [['192.0.2.3', '/api/v1/keys']],
  )
  assert.deepEqual(
    eventsOf('wrong_key').map(({ client, route }) => [client, route]),
    [['192.0.2.4', 'models']],
  )
})

test('requests with the right token are in it too, reads included', () => {
  assert.deepEqual(
    eventsOf('admin_request').map(({ actor, client, method, path, status }) => [
      actor,
      client,
      method,
      path,
      status,
    ]),
    [['admin-token', '192.0.2.1', 'GET', '/api/v1/keys', 200]],
  )
})

test('no line has a token', () => {
  assert.doesNotMatch(torana.stdout(), /canary|of-these-tests/)
})
