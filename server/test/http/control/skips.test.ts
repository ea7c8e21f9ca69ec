/** A deployment that a request did not try is named with its reason: to the caller, in the request log, and to operators. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ADMIN_TOKEN, asAdmin } from '#test/support/control.ts'
import { assertFault } from '#test/support/errors.ts'
import { startGateway, type Asked, type GatewayOptions, type ModelSpec } from '#test/support/gateway.ts'
import { eventually } from '#test/support/process.ts'
import { testPostgres } from '#test/support/servers.ts'

const { url: databaseUrl } = await testPostgres()
const HARD = { budget: { usd: 1, per: 'total', hard: true } }
const KEYS = {
  hard: 'key-of-the-skips-test-hard-01',
  project: 'key-of-the-skips-test-poor-01',
  soft: 'key-of-the-skips-test-soft-01',
}
const UNPRICED = ['free', undefined]

const pair = (name: string, more: Partial<ModelSpec> = {}): ModelSpec => ({
  on: [`mode-${name}-1`, `mode-${name}-2`],
  price: 'free',
  ...more,
})
const OPTIONS: GatewayOptions = {
  models: {
    'unpriced-w16': pair('unpriced', { price: undefined, prices: UNPRICED }),
    'unreachable-w16': { on: ['reset', 'mode-reset'], prices: UNPRICED },
    'slow-w16': { on: ['mode-slow-1', 'mode-slow-2'], prices: UNPRICED, attemptTimeoutMs: 200 },
    'priced-w16': pair('priced'),
    'drained-w16': pair('drained'),
    'all-drained-w16': pair('all-drained', { price: undefined, prices: UNPRICED }),
    'guarded-w16': { on: ['mode-guarded', 'other-space'], price: 'free', spaceGuard: true },
    'many-w16': {
      on: ['status-500', ...[1, 2, 3, 4, 5].map((index) => `mode-many-${index}`)],
      prices: ['free', ...Array.from({ length: 5 }, () => 'unpriced')],
    },
    'tired-w16': { on: ['status-500', 'status-503', 'mode-tired'], price: 'free' },
    'refusing-w16': { on: ['status-400', 'mode-refusing'], prices: UNPRICED },
  },
  images: {
    picture: { on: ['status-500', 'mode-picture'], prices: [{ usdPerImage: 0.01 }, 'unpriced'] },
    lost: { on: ['reset', 'mode-lost'], price: 'free' },
  },
  limits: { maxAttempts: 2 },
  projects: {
    own: {
      keys: [
        { name: 'hard', secret: KEYS.hard, ...HARD },
        { name: 'soft', secret: KEYS.soft },
      ],
    },
    poor: { ...HARD, keys: [{ name: 'k', secret: KEYS.project }] },
  },
  env: {
    TORANA_ADMIN_TOKEN: ADMIN_TOKEN,
    DATABASE_URL: databaseUrl,
    TORANA_SECRET: '0123456789abcdef'.repeat(4),
  },
}
const gateway = await startGateway(OPTIONS)
const { provider } = gateway

async function control<Body>(method: string, path: string, body?: unknown): Promise<Body> {
  const answer = await asAdmin<Body>(gateway, method, path, body)
  assert.ok(answer.status < 300, `${path}: ${answer.status}`)
  return answer.body
}

interface LoggedRequest {
  readonly log: 'kept' | 'deleted'
  readonly fault_text: string | null
  readonly bytes_out: number
  readonly attempts: readonly object[]
  readonly skips: readonly { readonly deployment: string; readonly reason: string; readonly text: string }[]
}

/** Requests are written in groups, and later than the ledger. */
async function logged({ body, headers }: Asked): Promise<LoggedRequest> {
  const id = body.error?.request_id ?? headers.get('x-request-id')
  return eventually(async () => {
    const request = await control<LoggedRequest>('GET', `/requests/${id}`)
    assert.equal(request.log, 'kept')
    return request
  })
}

const ask = (model: string, key: string = KEYS.hard, more: object = {}) =>
  gateway.ask({ model, input: 'a text', ...more }, { key })
const drain = (id: string) =>
  control('POST', `/deployments/${encodeURIComponent(id)}/drain`, { drained: true, reason: 'new driver' })
const NO_PRICE = "was skipped: it has no price and the key's budget is hard."

test('a fallback without a price is named when a hard budget skips it, by the key’s budget as by the project’s', async () => {
  await provider.setMode('unpriced-1', { mode: '500' })
  for (const key of [KEYS.hard, KEYS.project]) {
    const answer = await ask('unpriced-w16', key)
    assertFault(answer, 'upstream_failed')
    assert.ok(answer.body.error.message.endsWith(`unpriced-w16/mode-unpriced-2 ${NO_PRICE}`), answer.text)
  }
  assert.equal(provider.mode('unpriced-2').calls, 0)
  assert.equal((await ask('unpriced-w16', KEYS.soft)).status, 200)
})

test('the log of the request names it too, without the upstream’s words, and counts the bytes of the error', async () => {
  await provider.setMode('unpriced-1', { mode: '500' })
  const answer = await ask('unpriced-w16')
  const { skips, fault_text: text, bytes_out: bytes, attempts } = await logged(answer)
  assert.deepEqual(skips, [
    {
      deployment: 'unpriced-w16/mode-unpriced-2',
      reason: 'unpriced',
      text: "it has no price and the key's budget is hard",
    },
  ])
  assert.match(
    text ?? '',
    /failed with 500: \[…\]\.? unpriced-w16\/mode-unpriced-2 was skipped: it has no price/,
  )
  assert.equal(bytes, Buffer.byteLength(answer.text))
  assert.equal(attempts.length, 1)
})

test('Routing, Deployments and what needs attention say how many keys skip a deployment, until it has a price', async () => {
  interface Listed {
    readonly id: string
    readonly skipped_for: object | null
  }
  const skipping = { keys: 2, reason: 'unpriced' }
  const of = ({ id, skipped_for: skippedFor }: Listed) => [id.split('/')[1], skippedFor]
  const expected = [
    ['mode-unpriced-1', null],
    ['mode-unpriced-2', skipping],
  ]
  const { data } = await control<{ data: Listed[] }>('GET', '/deployments')
  assert.deepEqual(data.filter(({ id }) => id.startsWith('unpriced-w16/')).map(of), expected)
  const { deployments } = await control<{ deployments: Listed[] }>('GET', '/routing/unpriced-w16')
  assert.deepEqual(deployments.map(of), expected)
  const { attention } = await control<{ attention: { id: string; figures: object }[] }>('GET', '/overview')
  const item = attention.find(({ id }) => id === 'deployment_unpriced:unpriced-w16/mode-unpriced-2')
  assert.deepEqual(item?.figures, { model: 'unpriced-w16', upstream: 'mode-unpriced-2', keys: 2 })

  // A key of the store counts if its budget is hard, it may use the model, and it is valid.
  await control('POST', '/projects', { name: 'stored', budget: { usd: '1', per: 'total', hard: true } })
  const keys = [
    { name: 'all' },
    { name: 'this', models: ['unpriced-w16'] },
    { name: 'other', models: ['priced-w16'] },
    { name: 'revoked' },
  ]
  for (const key of keys) await control('POST', '/keys', { project: 'stored', ...key })
  await control('DELETE', '/keys/stored/revoked')
  await control('POST', '/keys', { project: 'own', name: 'stored-soft' })
  const after = await control<{ deployments: Listed[] }>('GET', '/routing/unpriced-w16')
  assert.deepEqual(after.deployments[1]?.skipped_for, { keys: 4, reason: 'unpriced' })

  const second = `/prices/${encodeURIComponent('unpriced-w16/mode-unpriced-2')}`
  await control('PUT', second, { price: 'free' })
  const priced = await control<{ deployments: Listed[] }>('GET', '/routing/unpriced-w16')
  assert.deepEqual(priced.deployments.map(of), [expected[0], ['mode-unpriced-2', null]])
  const answer = await ask('unpriced-w16')
  assert.deepEqual(
    [answer.status, answer.headers.get('x-torana-deployment')],
    [200, 'unpriced-w16/mode-unpriced-2'],
  )
})

test('with a price the same call is answered by the second deployment, and names nothing', async () => {
  await provider.setMode('priced-1', { mode: '500' })
  const answer = await ask('priced-w16')
  assert.equal(answer.status, 200)
  assert.equal(answer.headers.get('x-torana-deployment'), 'priced-w16/mode-priced-2')
  assert.deepEqual((await logged(answer)).skips, [])
})

test('a drained fallback is named with its reason, and so is every deployment when none was tried', async () => {
  await provider.setMode('drained-1', { mode: '500' })
  await drain('drained-w16/mode-drained-2')
  await eventually(async () => {
    const answer = await ask('drained-w16')
    assertFault(answer, 'upstream_failed', {
      words: /\. drained-w16\/mode-drained-2 was skipped: an operator has drained it\.$/,
    })
  })
  await drain('all-drained-w16/mode-all-drained-1')
  await eventually(async () => {
    const answer = await ask('all-drained-w16')
    assertFault(answer, 'deployments_drained')
    assert.ok(
      answer.body.error.message.endsWith(
        ` all-drained-w16/mode-all-drained-1 was skipped: an operator has drained it. all-drained-w16/mode-all-drained-2 ${NO_PRICE}`,
      ),
      answer.text,
    )
    assert.deepEqual(
      (await logged(answer)).skips.map(({ reason }) => reason),
      ['drained', 'unpriced'],
    )
  })
})

test('a quarantined fallback is named with its reason', async () => {
  await eventually(async () => {
    const { data } = await control<{ data: { id: string; state: string }[] }>('GET', '/deployments')
    assert.equal(data.find(({ id }) => id === 'guarded-w16/other-space')?.state, 'quarantined')
  }, 20_000)
  await provider.setMode('guarded', { mode: '500' })
  assertFault(await ask('guarded-w16'), 'upstream_failed', {
    words:
      /\. guarded-w16\/other-space was skipped: it is quarantined, because its vectors are of another space\.$/,
  })
})

test('an upstream that resets or is slow names the fallback as one that answers 500', async () => {
  const reset = await ask('unreachable-w16')
  assertFault(reset, 'upstream_unreachable')
  assert.ok(reset.body.error.message.endsWith(` unreachable-w16/mode-reset ${NO_PRICE}`), reset.text)
  await provider.setMode('slow-1', { mode: 'hang' })
  const slow = await ask('slow-w16')
  assertFault(slow, 'upstream_timeout')
  assert.ok(slow.body.error.message.endsWith(` slow-w16/mode-slow-2 ${NO_PRICE}`), slow.text)
})

test('a message names three deployments and counts the others, which the log has', async () => {
  const answer = await ask('many-w16')
  const { message } = answer.body.error
  assert.equal(message.split(' was skipped: ').length, 4, message)
  assert.ok(message.endsWith(`many-w16/mode-many-3 ${NO_PRICE} And 2 more were skipped.`), message)
  assert.equal((await logged(answer)).skips.length, 5)
})

test('a deployment that the attempts do not reach is named', async () => {
  assertFault(await ask('tired-w16'), 'upstream_failed', {
    words:
      /\. tired-w16\/mode-tired was skipped: the request's attempts, or the model's retries, were used up\.$/,
  })
})

test('a request that an upstream refuses names no other deployment, since it would refuse it too', async () => {
  const answer = await ask('refusing-w16')
  assertFault(answer, 'upstream_refused')
  assert.doesNotMatch(answer.body.error.message, /skipped/)
  assert.deepEqual((await logged(answer)).skips, [])
})

test('images name a fallback without a price, and one that could be paid for twice', async () => {
  const paint = (model: string) =>
    gateway.ask({ model, prompt: 'a gate' }, { key: KEYS.hard, path: '/v1/images/generations' })
  const failed = await paint('picture')
  assertFault(failed, 'upstream_failed')
  assert.ok(failed.body.error.message.endsWith(` picture/mode-picture ${NO_PRICE}`), failed.text)
  assert.deepEqual(
    (await logged(failed)).skips.map(({ reason }) => reason),
    ['unpriced'],
  )
  assertFault(await paint('lost'), 'outcome_unknown', {
    words:
      /lost\/mode-lost was skipped: the failed call may have been charged, and another could be paid twice\.$/,
  })
})
