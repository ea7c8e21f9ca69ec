/** Deployments at the control API of a whole node: operators see what callers experience. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { openPostgres } from '#stores/postgres/database.ts'
import { ADMIN_TOKEN, asAdmin } from '#test/support/control.ts'
import { startGateway, type GatewayOptions } from '#test/support/gateway.ts'
import { withinHeartbeats } from '#test/support/heartbeats.ts'
import { eventually } from '#test/support/process.ts'
import { testPostgres } from '#test/support/servers.ts'

const { url: databaseUrl } = await testPostgres()
const OPTIONS: GatewayOptions = {
  models: {
    'pair-w16': {
      on: ['mode-one', 'mode-two'],
      price: { usdPerMillionTokens: 1000 },
      deploymentLimits: { requestsPerMinute: 6000 },
    },
    'lone-w16': { on: 'mode-lone', price: 'unpriced' },
  },
  images: { picture: { on: 'mode-picture', price: { usdPerImage: 0.04 } } },
  env: {
    TORANA_ADMIN_TOKEN: ADMIN_TOKEN,
    DATABASE_URL: databaseUrl,
    TORANA_SECRET: '0123456789abcdef'.repeat(4),
  },
}
const gateway = await startGateway(OPTIONS)
const database = openPostgres(databaseUrl, { poolSize: 1 })
after(() => database.close())
const { provider } = gateway

interface DeploymentBody {
  readonly id: string
  readonly state: string
  readonly reason: string | null
  readonly until: string | null
  readonly drained: { readonly by: string; readonly reason: string } | null
  readonly calls: number
  readonly failed_share: number
  readonly failures: Record<string, number>
  readonly p95_ms: number | null
  readonly limits: readonly { readonly name: string; readonly of: number }[]
  readonly cells: string
  readonly stands_in: boolean
}

const control = <Body>(method: string, path: string, body?: unknown) =>
  asAdmin<Body>(gateway, method, path, body)

const pathOf = (id: string): string => `/deployments/${encodeURIComponent(id)}`
const one = async (id: string): Promise<DeploymentBody> =>
  (await control<DeploymentBody>('GET', pathOf(id))).body
const ask = (model: string, input = 'a text') => gateway.ask({ model, input }, { key: gateway.key })

test('a deployment without calls counts as healthy, and shows its limits', async () => {
  const { body } = await control<{ data: DeploymentBody[]; nodes: unknown }>('GET', '/deployments')
  assert.deepEqual(
    body.data.map(({ id, state, stands_in: standsIn }) => [id, state, standsIn]),
    [
      ['pair-w16/mode-one', 'healthy', false],
      ['pair-w16/mode-two', 'healthy', true],
      ['lone-w16/mode-lone', 'healthy', false],
      ['picture/mode-picture', 'healthy', false],
    ],
  )
  assert.deepEqual(body.nodes, { reporting: 1, alive: 1 })
  assert.deepEqual(
    body.data[0]?.limits.map(({ name, of }) => [name, of]),
    [['requests', 6000]],
  )
  assert.equal(body.data[0]?.cells, '.'.repeat(48))
  assert.equal((await control('GET', pathOf('pair-w16/nothing'))).status, 404)
})

test('a pulled deployment shows as ejected within seconds, with its reason, in list, attention and history', async () => {
  await provider.setMode('one', { mode: '500' })
  await eventually(async () => {
    assert.equal((await ask('pair-w16')).status, 200)
    const failing = await one('pair-w16/mode-one')
    assert.ok(['ejected', 'probing'].includes(failing.state), failing.state)
    assert.ok(failing.failures['failed'] && failing.failed_share > 0.5)
    assert.ok(failing.cells.endsWith('b'))
  })
  const { body } = await control<{
    attention: { kind: string; subject: { id: string } }[]
    flows: { deployment: string }[]
  }>('GET', '/overview')
  const row = body.attention.find(({ subject }) => subject.id === 'pair-w16/mode-one')
  assert.equal(row?.kind, 'deployment_ejected')
  assert.ok(body.flows.some(({ deployment }) => deployment === 'pair-w16/mode-two'))
  await provider.setMode('one')
  await eventually(async () => {
    await ask('pair-w16')
    assert.equal((await one('pair-w16/mode-one')).state, 'healthy')
  })
})

test('a drained deployment gets no more calls within two heartbeats, with its reason in the audit, until it is taken back', async () => {
  assert.equal(
    (await control('POST', `${pathOf('pair-w16/mode-one')}/drain`, { drained: true, reason: ' ' })).status,
    400,
  )
  const { body } = await control<DeploymentBody>('POST', `${pathOf('pair-w16/mode-one')}/drain`, {
    drained: true,
    reason: 'new driver',
  })
  assert.deepEqual(
    [body.state, body.drained?.by, body.drained?.reason],
    ['drained', 'admin-token', 'new driver'],
  )
  await withinHeartbeats(database, async () => {
    const before = provider.mode('one').calls
    for (let call = 0; call < 5; call += 1) assert.equal((await ask('pair-w16', `text ${call}`)).status, 200)
    assert.equal(provider.mode('one').calls, before)
  })
  await control('POST', `${pathOf('pair-w16/mode-two')}/drain`, { drained: true, reason: 'both' })
  await withinHeartbeats(database, async () =>
    assert.equal((await ask('pair-w16')).body.error?.code, 'deployments_drained'),
  )
  for (const name of ['one', 'two'])
    await control('POST', `${pathOf(`pair-w16/mode-${name}`)}/drain`, { drained: false, reason: 'done' })
  await withinHeartbeats(database, async () => assert.equal((await ask('pair-w16')).status, 200))
  const { body: audit } = await control<{ data: { action: string; target: string }[] }>('GET', '/audit')
  assert.deepEqual(
    audit.data.slice(0, 4).map(({ action, target }) => [action, target]),
    [
      ['deployment.take_back', 'pair-w16/mode-two'],
      ['deployment.take_back', 'pair-w16/mode-one'],
      ['deployment.drain', 'pair-w16/mode-two'],
      ['deployment.drain', 'pair-w16/mode-one'],
    ],
  )
})

interface TestedBody {
  readonly outcome: string
  readonly status: number | null
  readonly cost_usd: string | null
  readonly request_id: string
}

test('a test is one real call to that deployment alone, billed to system, and never dearer than it may be', async () => {
  const before = provider.mode('two').calls
  const { body } = await control<TestedBody>('POST', `${pathOf('pair-w16/mode-two')}/test`, {
    max_usd: '0.01',
  })
  assert.equal(body.outcome, 'ok')
  assert.equal(provider.mode('two').calls, before + 1)
  assert.match(body.cost_usd ?? '', /^0\.00\d+$/)
  await eventually(async () => {
    const { status, body: logged } = await control<{ project: string }>('GET', `/requests/${body.request_id}`)
    assert.deepEqual([status, logged.project], [200, 'system'])
  })
  const dear = await control<{ error: { code: string; message: string } }>(
    'POST',
    `${pathOf('pair-w16/mode-two')}/test`,
    { max_usd: '0.000001' },
  )
  assert.deepEqual([dear.status, dear.body.error.code], [409, 'conflict'])
  assert.equal((await control('POST', `${pathOf('lone-w16/mode-lone')}/test`, { max_usd: 1 })).status, 409)
  assert.equal(provider.mode('two').calls, before + 1)
  const picture = await control<TestedBody>('POST', `${pathOf('picture/mode-picture')}/test`, {
    max_usd: 0.05,
  })
  assert.deepEqual([picture.body.outcome, picture.body.cost_usd], ['ok', '0.040000000'])
  await provider.setMode('lone', { mode: '500' })
  const failed = await control<TestedBody>('POST', `${pathOf('lone-w16/mode-lone')}/test`, {})
  assert.deepEqual([failed.status, failed.body.outcome, failed.body.status], [200, 'upstream_failed', 500])
})

test('the stream tells flows each second, and a deployment when something about it changes', async () => {
  const leaving = new AbortController()
  const answer = await fetch(`${gateway.controlUrl}/api/v1/events?topics=flows,deployment,attention`, {
    headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
    signal: leaving.signal,
  })
  assert.ok(answer.body)
  let text = ''
  let isDrained = false
  for await (const part of answer.body.pipeThrough(new TextDecoderStream())) {
    text += part
    if (!isDrained && text.includes('event: flows')) {
      isDrained = true
      await control('POST', `${pathOf('pair-w16/mode-two')}/drain`, { drained: true, reason: 'x' })
    }
    if (/event: deployment\ndata: [^\n]*"state":"drained"/.test(text)) break
  }
  assert.match(text, /event: flows\ndata: \{"at":"[^"]+","nodes":\{"reporting":1,"alive":1\},"flows":\[/)
  assert.match(text, /event: attention/)
  leaving.abort()
})

test('two nodes: a drain at one soon holds at the other, and each shows what both know', async () => {
  const second = await startGateway(OPTIONS)
  const askSecond = () => second.ask({ model: 'pair-w16', input: 'a text' }, { key: second.key })
  await eventually(async () => {
    assert.equal((await askSecond()).status, 200)
    const { body } = await control<{ data: DeploymentBody[]; nodes: unknown }>('GET', '/deployments')
    assert.deepEqual(body.nodes, { reporting: 2, alive: 2 })
  })
  await second.provider.setMode('one', { mode: '500' })
  await eventually(async () => {
    await askSecond()
    assert.ok(['ejected', 'probing'].includes((await one('pair-w16/mode-one')).state))
  })
  await second.provider.setMode('one')
  await control('POST', `${pathOf('pair-w16/mode-one')}/drain`, { drained: true, reason: 'both nodes' })
  await control('POST', `${pathOf('pair-w16/mode-two')}/drain`, { drained: true, reason: 'both nodes' })
  await withinHeartbeats(database, async () =>
    assert.equal((await askSecond()).body.error?.code, 'deployments_drained'),
  )
})
