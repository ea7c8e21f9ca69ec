/** A node that starts while PostgreSQL is unreachable: it serves, but names no space for any vector. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { openPostgres } from '#stores/postgres/database.ts'
import { doorTo, startNodeProcess } from '#test/support/cluster.ts'
import { GATEWAY_KEY, type GatewayOptions } from '#test/support/gateway.ts'
import { PATIENCE_MS } from '#test/support/patience.ts'
import { eventually } from '#test/support/process.ts'
import { testPostgres } from '#test/support/servers.ts'
import { startFakeProvider } from '../../../../lab/fake-provider/server.ts'
import {
  ADMIN,
  ADMIN_TOKEN,
  ask,
  control,
  guarded,
  servedBy,
  statesOf,
  verdicts,
  type Place,
} from './guarded.ts'

const provider = await startFakeProvider()
after(() => provider.close())
const { url } = await testPostgres()
const behind = new URL(url)
const door = await doorTo(Number(behind.port))
behind.port = String(door.port)
const model = 'accepted-w32'
const options: GatewayOptions = { models: { [model]: guarded(['accepted'], { cache: { ttl: '1h' } }) } }
const env = { ...ADMIN, DATABASE_URL: behind.href }

const pinned = (node: Place, space: string) =>
  ask(node, model, 'a text', { headers: { 'x-torana-space': space } })

async function listedSpace(node: Place): Promise<unknown> {
  const answer = await fetch(`${node.url}/v1/models/${model}`, {
    headers: { authorization: `Bearer ${GATEWAY_KEY}` },
  })
  const { capabilities } = (await answer.json()) as { capabilities: { space?: string } }
  return capabilities.space
}

test('until it has read which space a model has, it names none, and refuses those that are pinned', async () => {
  await door.open()
  const first = await startNodeProcess(options, provider.url, { env })
  const before = (await ask(first, model, 'a text')).headers.get('x-torana-space') ?? ''
  await provider.setMode('accepted', { vectors: 'other-model' })
  assert.deepEqual(await verdicts(first, model), { 'mode-accepted': 'quarantined' })
  const { space } = await control<{ space: string }>(first, 'POST', `/spaces/${model}/accept`, {
    deployment: `${model}/mode-accepted`,
  })
  assert.equal(await listedSpace(first), space)
  first.child.kill('SIGTERM')
  assert.equal(await first.exit, 0)

  door.shut()
  const node = await startNodeProcess(options, provider.url, { env, folder: first.folder })
  const plain = await ask(node, model, 'a text')
  assert.deepEqual([plain.status, plain.headers.get('x-torana-space')], [200, null], plain.text)
  assert.equal((await ask(node, model, 'a text')).headers.get('x-torana-cache'), 'hits=0, misses=1')
  for (const one of [before, space]) {
    const { status, body, headers, text } = await pinned(node, one)
    assert.deepEqual(
      [status, body.error?.code, headers.get('x-should-retry'), headers.get('retry-after')],
      [503, 'space_unknown', 'true', '2'],
      text,
    )
  }
  const dryRun = await ask(node, model, 'a text', { headers: { 'x-torana-dry-run': 'true' } })
  assert.deepEqual([dryRun.status, 'space' in dryRun.body], [200, false], dryRun.text)
  assert.equal(await listedSpace(node), undefined)
  const listed = await fetch(`${node.controlUrl}/api/v1/spaces`, {
    headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
  })
  assert.equal(listed.status, 503)

  await door.open()
  await eventually(async () => assert.equal((await pinned(node, space)).status, 200))
  assert.equal((await pinned(node, before)).status, 412)
  assert.equal((await ask(node, model, 'a text')).headers.get('x-torana-space'), space)
  assert.equal(await listedSpace(node), space)
})

test('a store that is merely slow is waited for: no deployment serves that it knows to be outside', async () => {
  const slow = 'slow-w32'
  const given: GatewayOptions = { models: { [slow]: guarded(['bad', 'sound']) } }
  const first = await startNodeProcess(given, provider.url, { env })
  await eventually(async () =>
    assert.deepEqual(await statesOf(first, slow), { 'mode-bad': 'trusted', 'mode-sound': 'trusted' }),
  )
  const pin = (await ask(first, slow, 'a text')).headers.get('x-torana-space') ?? ''
  await provider.setMode('bad', { vectors: 'other-model' })
  assert.equal((await verdicts(first, slow))['mode-bad'], 'quarantined')
  first.child.kill('SIGTERM')
  assert.equal(await first.exit, 0)

  const database = openPostgres(url, { poolSize: 2, queryTimeoutMs: PATIENCE_MS })
  after(() => database.close())
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  const { promise: isLocked, resolve: locked } = Promise.withResolvers<void>()
  const locking = database.transaction(async (sql) => {
    await sql.query('LOCK TABLE space_standings IN ACCESS EXCLUSIVE MODE')
    locked()
    await released
  })
  await isLocked
  const starting = startNodeProcess(given, provider.url, { env, folder: first.folder })
  await eventually(async () => {
    const waiting = await database.query(
      `SELECT 1 FROM pg_locks WHERE NOT granted AND relation = 'space_standings'::regclass`,
    )
    assert.ok(waiting.length > 0)
  })
  // Longer than a start waits for its probes, shorter than PostgreSQL lets anybody wait for a lock.
  await delay(3000)
  release()
  await locking
  const answer = await ask(await starting, slow, 'a text', { headers: { 'x-torana-space': pin } })
  assert.deepEqual([answer.status, servedBy(answer)], [200, `${slow}/mode-sound`], answer.text)
})
