/** Upstreams that are connected while nodes run: two nodes on one PostgreSQL, before a fake provider. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import type { z } from 'zod'
import type { modelList } from '#control/models/routes.ts'
import type { checked } from '#control/upstreams/check-routes.ts'
import type { upstream } from '#control/upstreams/routes.ts'
import { keyFrom } from '#core/keys/key.ts'
import { ADMIN_TOKEN, asAdmin } from '#test/support/control.ts'
import { assertFault } from '#test/support/errors.ts'
import { startGateway, vectorsIn } from '#test/support/gateway.ts'
import { eventually } from '#test/support/process.ts'
import { testPostgres } from '#test/support/servers.ts'
import { vectorOf } from '../../../../lab/fake-provider/vectors.ts'

type Checked = z.output<typeof checked>
type Upstream = z.output<typeof upstream>
type Models = z.output<typeof modelList>

const SECRET = 'sk-proj-of-this-very-test-a1f2'

const postgres = await testPostgres()
const env = {
  DATABASE_URL: postgres.url,
  TORANA_ADMIN_TOKEN: ADMIN_TOKEN,
  TORANA_SECRET: 'a secret that both nodes share 01',
}
const models = { 'declared-w8': { on: 'plain' } }
const one = await startGateway({ models, env })
const two = await startGateway({ models, env })

const addressOf = (scenario: string) => `${one.provider.url}/${scenario}/v1`

test('a check lists what the upstream has, with dated list prices, keeps nothing and repeats no secret', async () => {
  const { body, text } = await asAdmin<Checked>(one, 'POST', '/upstreams/check', {
    provider: 'openai',
    base_url: addressOf('plain'),
    secret: SECRET,
  })
  assert.equal(body.ok, true)
  assert.equal(body.listed, true)
  assert.deepEqual(
    body.models.map(({ id, kind, known }) => [id, kind, known]),
    [
      ['text-embedding-3-small', 'embedding', true],
      ['text-embedding-ada-002', 'embedding', true],
      ['gpt-image-2', 'image', true],
      ['house-embed-w64', null, false],
      ['gpt-5-chat', null, false],
    ],
  )
  const [small] = body.models
  assert.deepEqual(small?.price, [{ amount: '0.02', unit: 'million tokens', note: null }])
  assert.match(small?.as_of ?? '', /^\d{4}-\d{2}-\d{2}$/)
  assert.deepEqual([small?.width, small?.narrower], [1536, 'any'])
  assert.ok(!text.includes(SECRET))
  const { body: listed } = await asAdmin<{ data: Upstream[] }>(one, 'GET', '/upstreams')
  assert.deepEqual(
    listed.data.map(({ name }) => name),
    ['plain'],
  )
})

test('a failed check is described in our words, without the secret', async () => {
  const outcome = async (scenario: string) => {
    const answer = await asAdmin<Checked>(one, 'POST', '/upstreams/check', {
      base_url: addressOf(scenario),
      secret: SECRET,
    })
    assert.ok(!answer.text.includes(SECRET), scenario)
    assert.equal(answer.body.ok, false)
    return answer.body.fault?.code
  }
  assert.equal(await outcome('status-401'), 'upstream_rejected_us')
  assert.equal(await outcome('leaks-key'), 'upstream_refused')
  assert.equal(await outcome('garbage'), 'upstream_broken_answer')
  assert.equal(await outcome('reset'), 'upstream_unreachable')
  const { body } = await asAdmin<Checked>(one, 'POST', '/upstreams/check', {
    base_url: 'http://127.0.0.1:1/v1',
  })
  assert.equal(body.fault?.code, 'upstream_unreachable')
  assert.match(
    body.fault.message,
    /^127\.0\.0\.1:1 could not be reached: connect ECONNREFUSED .* DNS, firewall, proxy\.$/,
  )
})

test('a key of Torana is not sent to a provider, and the refusal does not repeat it', async () => {
  const secret = keyFrom(randomBytes(64))
  const { asked, text } = await asAdmin(one, 'POST', '/upstreams/check', { provider: 'openai', secret })
  assertFault(asked, 'invalid_parameter', { words: /holds a key of Torana/ })
  assert.ok(!text.includes(secret))
})

test('an address obeys the rules of torana.yaml', async () => {
  for (const base_url of [
    'ftp://x.test',
    'https://user:secret@x.test/v1',
    'https://x.test/v1?a=b',
    'not an address',
  ])
    assertFault((await asAdmin(one, 'POST', '/upstreams', { base_url })).asked, 'invalid_parameter')
  assertFault((await asAdmin(one, 'POST', '/upstreams', { provider: 'nobody' })).asked, 'invalid_parameter')
})

test('an upstream and its models are served by every node within seconds, and taken away again', async () => {
  const made = await asAdmin<Upstream>(one, 'POST', '/upstreams', {
    name: 'house',
    provider: 'openai',
    base_url: addressOf('plain'),
    secret: SECRET,
  })
  assert.equal(made.status, 201)
  assert.deepEqual(made.body.credential.source, 'store')
  assert.equal(made.body.credential.tail, '…a1f2')
  assert.equal(made.body.managed_by, 'store')
  assert.ok(!made.text.includes(SECRET))
  const added = await asAdmin<Models['data']>(one, 'POST', '/models', {
    upstream: 'house',
    ids: ['text-embedding-3-small', 'house-embed-w64'],
    own: { 'house-embed-w64': { kind: 'embedding', width: 64 } },
    prices: { 'house-embed-w64': 'free', 'text-embedding-3-small': { usdPerMillionTokens: '0.03' } },
  })
  assert.equal(added.status, 201, added.text)
  const prices = await asAdmin<{
    data: readonly { deployment: string; text: readonly object[]; from: string }[]
  }>(one, 'GET', '/prices')
  const ofHouse = prices.body.data.filter(({ deployment }) => deployment.endsWith('/house'))
  assert.deepEqual(
    ofHouse.map(({ from }) => from),
    ['store', 'store'],
    JSON.stringify(ofHouse),
  )
  const history = await asAdmin<{ data: readonly { objects: readonly unknown[] }[] }>(
    one,
    'GET',
    '/configuration/changes',
  )
  assert.equal(history.body.data[0]?.objects.length, 2, 'models and their prices are one change')
  assert.deepEqual(
    added.body.map(({ id, managed_by }) => [id, managed_by]),
    [
      ['text-embedding-3-small', 'store'],
      ['house-embed-w64', 'store'],
    ],
  )
  for (const gateway of [one, two]) {
    const answer = await eventually(async () => {
      const asked = await gateway.ask({ model: 'house-embed-w64', input: 'cat' })
      assert.equal(asked.status, 200, asked.text)
      return asked
    }, 5000)
    assert.deepEqual(vectorsIn(answer)[0], vectorOf('cat', 64))
  }
  const sent = one.provider.entries().filter(({ path }) => path === '/plain/v1/embeddings')
  assert.ok(sent.length > 0)

  assertFault((await asAdmin(one, 'DELETE', '/upstreams/house')).asked, 'conflict', {
    words: /house-embed-w64/,
  })
  for (const id of ['text-embedding-3-small', 'house-embed-w64'])
    assert.equal((await asAdmin(one, 'DELETE', `/models/${id}`)).status, 204)
  assert.equal((await asAdmin(one, 'DELETE', '/upstreams/house')).status, 204)
  await eventually(async () => {
    const asked = await two.ask({ model: 'house-embed-w64', input: 'cat' })
    assert.equal(asked.status, 404, asked.text)
    return asked
  }, 5000)
})

test('a name that torana.yaml has is its own', async () => {
  assertFault(
    (await asAdmin(one, 'POST', '/upstreams', { name: 'plain', base_url: addressOf('plain') })).asked,
    'conflict',
  )
  assertFault((await asAdmin(one, 'PATCH', '/upstreams/plain', { secret: 'x' })).asked, 'conflict')
  assertFault((await asAdmin(one, 'DELETE', '/upstreams/plain')).asked, 'conflict')
  assertFault((await asAdmin(one, 'DELETE', '/models/declared-w8')).asked, 'conflict', {
    words: /torana\.yaml:\d/,
  })
  const again = await asAdmin(one, 'POST', '/models', { upstream: 'plain', ids: ['declared-w8'] })
  assertFault(again.asked, 'conflict', { words: /torana\.yaml:\d/ })
  const unknown = await asAdmin(one, 'POST', '/models', { upstream: 'plain', ids: ['nobody-knows'] })
  assertFault(unknown.asked, 'invalid_parameter', { words: /no built-in facts/ })
})

test('another address forgets the secret, so that moving an upstream does not reveal it', async () => {
  await asAdmin(one, 'POST', '/upstreams', { name: 'moved', base_url: addressOf('plain'), secret: SECRET })
  const { body } = await asAdmin<Upstream>(one, 'PATCH', '/upstreams/moved', {
    base_url: addressOf('key-elsewhere'),
  })
  assert.deepEqual([body.base_url, body.credential.source], [addressOf('key-elsewhere'), 'none'])
  const asked = await asAdmin<Checked>(one, 'POST', '/upstreams/check', { upstream: 'moved' })
  assert.equal(asked.body.ok, true)
  const last = one.provider.entries().findLast(({ path }) => path === '/key-elsewhere/v1/models')
  assert.equal(last?.authorization, null)
  await asAdmin(one, 'DELETE', '/upstreams/moved')
})

test('another region forgets the secret too, and no region leads to a host of another company', async () => {
  const made = await asAdmin<Upstream>(one, 'POST', '/upstreams', {
    name: 'bed',
    provider: 'amazon-bedrock',
    region: 'eu-central-1',
    secret: SECRET,
  })
  assert.deepEqual(
    [made.body.base_url, made.body.credential.source],
    ['ai-sdk:amazon-bedrock/eu-central-1', 'store'],
  )
  const bad = { region: 'attacker.example/x?' }
  const refused = await asAdmin(one, 'PATCH', '/upstreams/bed', bad)
  assertFault(refused.asked, 'invalid_parameter', { param: 'region', words: /AWS region/ })
  const added = await asAdmin(one, 'POST', '/upstreams', { provider: 'amazon-bedrock', ...bad })
  assertFault(added.asked, 'invalid_parameter', { param: 'region', words: /AWS region/ })
  const place = { provider: 'google-vertex', project: 'p', location: 'attacker.example/x?' }
  const elsewhere = await asAdmin(one, 'POST', '/upstreams', place)
  assertFault(elsewhere.asked, 'invalid_parameter', { param: 'location', words: /Google Cloud location/ })

  const same = await asAdmin<Upstream>(one, 'PATCH', '/upstreams/bed', { region: 'eu-central-1' })
  assert.equal(same.body.credential.source, 'store')
  const moved = await asAdmin<Upstream>(one, 'PATCH', '/upstreams/bed', { region: 'us-east-1' })
  assert.deepEqual(
    [moved.body.base_url, moved.body.credential.source],
    ['ai-sdk:amazon-bedrock/us-east-1', 'none'],
  )
  const back = await asAdmin<Upstream>(one, 'PATCH', '/upstreams/bed', { region: 'eu-central-1' })
  assert.equal(back.body.credential.source, 'none')
  await asAdmin(one, 'DELETE', '/upstreams/bed')
})
