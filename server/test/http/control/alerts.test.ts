/** Alerts at the control API: rules and channels of a node on PostgreSQL, with a real receiver. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import { Client } from 'pg'
import { ADMIN_TOKEN, asAdmin } from '#test/support/control.ts'
import { assertFault } from '#test/support/errors.ts'
import { send, startGateway, type Asked } from '#test/support/gateway.ts'
import { eventually } from '#test/support/process.ts'
import { testPostgres } from '#test/support/servers.ts'

const postgres = await testPostgres()
const gateway = await startGateway({
  models: { 'declared-w8': { on: 'plain' } },
  env: {
    DATABASE_URL: postgres.url,
    TORANA_ADMIN_TOKEN: ADMIN_TOKEN,
    TORANA_SECRET: 'a secret of this test 01',
  },
})

const received: { readonly headers: Readonly<Record<string, unknown>>; readonly body: string }[] = []
let status = 200
const receiver = createServer((request, response) => {
  let body = ''
  request.on('data', (chunk: Buffer) => (body += chunk.toString()))
  request.on('end', () => {
    received.push({ headers: request.headers, body })
    response.writeHead(status).end()
  })
}).listen(0, '127.0.0.1')
await once(receiver, 'listening')
after(() => receiver.close())
const hook = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/services/of-this-test/x9Qd`

type Body = Readonly<Record<string, unknown>>

const ask = async (method: string, path: string, body?: unknown): Promise<Asked> =>
  (await asAdmin(gateway, method, `/alerts${path}`, body)).asked

const CHANNELS = {
  slack: { kind: 'slack', url: hook, private: true },
  teams: { kind: 'teams', url: hook, private: true },
  webhook: { kind: 'webhook', url: hook, private: true },
  pagerduty: { kind: 'pagerduty', routing_key: 'R0123456789abcdef4b7e', url: hook, private: true },
} as const

for (const [name, channel] of Object.entries(CHANNELS)) {
  test(`a test of a channel of ${name} arrives, and no answer shows where the channel leads`, async () => {
    const made = await ask('POST', '/channels', { ...channel, name })
    assert.equal(made.status, 201, made.text)
    assert.ok(!made.text.includes('of-this-test') && !made.text.includes('R0123456789'), made.text)
    received.length = 0
    const tested = await ask('POST', `/channels/${String(made.body['id'])}/test`)
    assert.deepEqual([tested.body['ok'], tested.body['status'], tested.body['test']], [true, 200, true])
    assert.equal(received.length, name === 'pagerduty' ? 2 : 1)
    assert.match(received[0]?.body ?? '', name === 'webhook' ? /"alert.test"/ : /Test: gpu-two ejected/)
    assert.equal('webhook-signature' in (received[0]?.headers ?? {}), name === 'webhook')
    assert.equal(typeof made.body['secret'], name === 'webhook' ? 'string' : 'object')
    assert.equal(made.body['quiet_hours'], name !== 'pagerduty')
    const { body } = await ask('GET', '/channels')
    const shown = (body['data'] as unknown as Body[]).find((one) => one['name'] === name)
    assert.equal((shown?.['last'] as Body | undefined)?.['ok'], true)
  })
}

test('a test that fails says why, and is kept as the last try', async () => {
  const { body } = await ask('POST', '/channels', { ...CHANNELS.slack, name: 'failing' })
  status = 503
  const tested = await ask('POST', `/channels/${String(body['id'])}/test`)
  status = 200
  assert.deepEqual([tested.body['ok'], tested.body['problem']], [false, 'HTTP 503'])
})

test('a channel is refused with its reason', async () => {
  const refused = async (given: Body, code: 'conflict' | 'invalid_parameter') =>
    assertFault(await ask('POST', '/channels', given), code)
  await refused({ kind: 'slack', name: 'plain', url: 'http://hooks.example.com/x' }, 'invalid_parameter')
  await refused({ kind: 'slack', name: 'slack', url: 'https://hooks.example.com/x' }, 'conflict')
  await refused({ kind: 'email', name: 'mail', to: ['a@example.com'] }, 'conflict')
  await refused({ kind: 'slack', name: 'user', url: 'https://a:b@hooks.example.com/x' }, 'invalid_parameter')
})

test('a key of PagerDuty is never sent to an address that came without it', async () => {
  const { body } = await ask('GET', '/channels')
  const { id } = (body['data'] as unknown as Body[]).find((one) => one['kind'] === 'pagerduty') ?? {}
  assertFault(await ask('PATCH', `/channels/${String(id)}`, { url: `${hook}2` }), 'invalid_parameter')
  assertFault(await ask('PATCH', `/channels/${String(id)}`, { to: ['a@example.com'] }), 'invalid_parameter')
  assert.equal((await ask('PATCH', `/channels/${String(id)}`, { name: 'on-call' })).body['name'], 'on-call')
})

test('a rule is made with the condition of its kind, changed, and deleted; its channel stays while a rule names it', async () => {
  const { body: channels } = await ask('GET', '/channels')
  const channel = String((channels['data'] as unknown as Body[])[0]?.['id'])
  const made = await ask('POST', '/rules', {
    kind: 'error_rate',
    channels: [channel],
    scope: { project: '*' },
  })
  assert.equal(made.status, 201, made.text)
  assert.deepEqual(made.body['condition'], { percent: 5, minutes: 5, requests: 20 })
  assertFault(await ask('DELETE', `/channels/${channel}`), 'conflict')
  const id = String(made.body['id'])
  const quiet = { days: [6, 7], from: '00:00', to: '24:00', zone: 'Europe/Berlin' }
  const changed = await ask('PATCH', `/rules/${id}`, { on: false, condition: { percent: 9 }, quiet })
  assert.deepEqual(
    [changed.body['on'], changed.body['condition'], changed.body['quiet']],
    [false, { percent: 9, minutes: 5, requests: 20 }, quiet],
  )
  const { body: counts } = await ask('GET', '/summary')
  assert.deepEqual([counts['rules_on'], counts['rules_off'], counts['open']], [0, 1, 0])
  assert.equal((await ask('DELETE', `/rules/${id}`)).status, 204)
  assert.equal((await ask('DELETE', `/channels/${channel}`)).status, 204)
  const { body: audit } = await send(`${gateway.controlUrl}/api/v1/audit`, {
    headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
  })
  const actions = new Set((audit['data'] as unknown as Body[]).map(({ action }) => action))
  for (const action of [
    'alert_rule.create',
    'alert_rule.change',
    'alert_rule.delete',
    'alert_channel.delete',
  ])
    assert.ok(actions.has(action), action)
  assert.ok(!JSON.stringify(audit).includes('of-this-test'))
})

const BAD_RULES: Readonly<Record<string, Body>> = {
  'another field': { kind: 'latency', condition: { percent: 3 } },
  'a value out of range': { kind: 'error_rate', condition: { percent: 101 } },
  'a project of a kind of the installation': { kind: 'spool', scope: { project: '*' } },
  'an unknown project': { kind: 'budget', scope: { project: 'no-such-project' } },
  'an unknown channel': { kind: 'budget', channels: ['no-such-channel'] },
  'an unknown zone': { kind: 'budget', quiet: { days: [1], from: '22:00', to: '07:00', zone: 'Mars/Base' } },
  'an empty night': { kind: 'budget', quiet: { days: [1], from: '22:00', to: '22:00', zone: 'UTC' } },
}

for (const [what, rule] of Object.entries(BAD_RULES))
  test(`a rule with ${what} is refused`, async () => {
    assertFault(await ask('POST', '/rules', rule), 'invalid_parameter')
  })

test('a preview shows the notice in the form of each channel', async () => {
  const { body } = await ask('GET', '/preview?kind=space')
  assert.deepEqual(Object.keys(body['shapes'] as Body).sort(), [
    'email',
    'pagerduty',
    'slack',
    'teams',
    'webhook',
  ])
  assert.equal(body['title'], 'azure-us: space check failed')
})

test('all notices are muted until a moment, and no longer', async () => {
  const until = new Date(Date.now() + 3_600_000).toISOString()
  assert.equal((await ask('PUT', '/mute', { until })).body['muted_until'], until)
  assert.equal((await ask('GET', '/summary')).body['muted_until'], until)
  assertFault(await ask('PUT', '/mute', { until: '2030-01-01T00:00:00Z' }), 'invalid_parameter')
  assert.equal((await ask('PUT', '/mute', { until: null })).body['muted_until'], null)
  assert.equal((await ask('GET', '/summary')).body['muted_until'], null)
})

test('a node that falls silent is an incident, whose notice arrives signed and is shown with its delivery', async () => {
  const { body: made } = await ask('POST', '/channels', { ...CHANNELS.webhook, name: 'siem' })
  const channel = String(made['id'])
  const { body: rule } = await ask('POST', '/rules', { kind: 'node_down', channels: [channel] })
  received.length = 0
  const database = new Client(postgres.url)
  await database.connect()
  try {
    await database.query(
      `INSERT INTO nodes (node_id, host, version, seen_at) VALUES (gen_random_uuid(), 'gateway-2', '1.0.0', now() - interval '5 min')`,
    )
  } finally {
    await database.end()
  }
  await eventually(async () => assert.ok(received.length > 0))
  const event = JSON.parse(received[0]?.body ?? '{}') as { type: string; data: Body }
  assert.deepEqual([event.type, event.data['title']], ['alert.started', 'gateway-2 is down'])
  const { body: listed } = await ask('GET', '/incidents?state=open')
  const [incident] = listed['data'] as unknown as Body[]
  assert.deepEqual([incident?.['kind'], incident?.['rules']], ['node_down', [rule['id']]])
  await eventually(async () => {
    const { body: detail } = await ask('GET', `/incidents/${String(incident?.['id'])}`)
    const tries = detail['deliveries'] as Body[]
    assert.ok(tries.some((one) => one['ok'] === true && one['channel'] === channel))
  })
  assert.equal((await ask('GET', '/summary')).body['open'], 1)
})
