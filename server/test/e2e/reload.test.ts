import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import {
  configText,
  GATEWAY_KEY,
  gatewayEnvironment,
  UPSTREAM_KEY,
  type GatewayOptions,
} from '#test/support/gateway.ts'
import { eventually, startTorana, temporaryFolder } from '#test/support/process.ts'
import { startFakeProvider } from '../../../lab/fake-provider/server.ts'

const provider = await startFakeProvider()
after(() => provider.close())
const folder = temporaryFolder()
const file = join(folder, 'torana.yaml')
const secretFile = join(folder, 'secret.txt')

const SECOND_KEY = 'second-key-of-this-test-0001'
const THIRD_KEY = 'third-key-of-this-test-00001'
const first: GatewayOptions = { models: { 'first-w16': { on: 'plain' } } }
const second: GatewayOptions = {
  models: { 'second-w16': { on: 'plain' } },
  projects: { search: { keys: [{ name: 'ci', secret: SECOND_KEY }] } },
}

writeFileSync(file, configText(first, provider.url))
const torana = await startTorana({
  folder,
  env: gatewayEnvironment(folder, { FROM_FILE_FILE: secretFile }),
})

async function statusOf(model: string, key = GATEWAY_KEY): Promise<number> {
  const answer = await fetch(`${torana.url}/v1/embeddings`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, input: 'a' }),
  })
  await answer.arrayBuffer()
  return answer.status
}

test('a changed file is picked up by itself: models and keys, old ones gone at once', async () => {
  assert.deepEqual([await statusOf('first-w16'), await statusOf('second-w16')], [200, 404])
  assert.equal(await statusOf('first-w16', SECOND_KEY), 401)
  writeFileSync(file, configText(second, provider.url))
  await eventually(async () => assert.equal(await statusOf('second-w16'), 200))
  assert.deepEqual([await statusOf('first-w16'), await statusOf('second-w16', SECOND_KEY)], [404, 200])
})

test('a faulty file changes nothing and is reported with its place; the next good one counts', async () => {
  writeFileSync(file, '{ "models": { "first-w16": { "deployments": [{ "upstream": "nowhere" }] } } }')
  torana.signal('SIGHUP')
  await eventually(async () => assert.match(torana.stdout(), /the last good one stays in use/))
  assert.match(torana.stdout(), /torana\.yaml:1:\d+ [^"]*nowhere/)
  assert.deepEqual([await statusOf('first-w16'), await statusOf('second-w16', SECOND_KEY)], [404, 200])
  writeFileSync(file, configText({ models: { ...first.models, ...second.models } }, provider.url))
  torana.signal('SIGHUP')
  await eventually(async () => assert.equal(await statusOf('first-w16'), 200))
})

test('a secret file that changes is taken without a signal; an empty one is reported, and the last good one stays', async () => {
  writeFileSync(secretFile, SECOND_KEY)
  writeFileSync(file, configText(second, provider.url).replace(SECOND_KEY, '${FROM_FILE}'))
  await eventually(async () => assert.equal(await statusOf('first-w16'), 404))
  assert.equal(await statusOf('second-w16', SECOND_KEY), 200)
  writeFileSync(secretFile, THIRD_KEY)
  await eventually(async () => assert.equal(await statusOf('second-w16', THIRD_KEY), 200))
  // 429: the wait above sent more unknown keys from one address than are looked up.
  assert.ok([401, 429].includes(await statusOf('second-w16', SECOND_KEY)))
  writeFileSync(secretFile, '')
  await eventually(async () => assert.match(torana.stdout(), /FROM_FILE_FILE names [^"]*, which is empty/))
  assert.equal(await statusOf('second-w16', THIRD_KEY), 200)
})

test('the key of an upstream follows a mounted Secret, which swaps a symbolic link', async () => {
  for (const [version, key] of [
    ['v1', 'key-of-the-upstream-1111'],
    ['v2', 'key-of-the-upstream-2222'],
  ] as const) {
    mkdirSync(join(folder, version))
    writeFileSync(join(folder, version, 'secret.txt'), key)
  }
  symlinkSync('v1', join(folder, '..data'))
  rmSync(secretFile)
  symlinkSync('..data/secret.txt', secretFile)
  writeFileSync(file, configText(first, provider.url).replaceAll(UPSTREAM_KEY, '${FROM_FILE}'))
  await eventually(async () => assert.equal(await statusOf('first-w16'), 200))
  assert.equal(provider.entries().at(-1)?.authorization, '1111')
  symlinkSync('v2', join(folder, '..data_tmp'))
  renameSync(join(folder, '..data_tmp'), join(folder, '..data'))
  await eventually(async () => {
    assert.equal(await statusOf('first-w16'), 200)
    assert.equal(provider.entries().at(-1)?.authorization, '2222')
  })
})

test('a request under way keeps the configuration it began with', async () => {
  writeFileSync(file, configText({ models: { 'slow-w16': { on: 'slow-1000' } } }, provider.url))
  torana.signal('SIGHUP')
  await eventually(async () => assert.equal(await statusOf('first-w16'), 404))
  const begun = statusOf('slow-w16')
  await eventually(async () => assert.equal(provider.counters().inFlight, 1))
  writeFileSync(file, configText(first, provider.url))
  torana.signal('SIGHUP')
  await eventually(async () => assert.equal(await statusOf('first-w16'), 200))
  assert.equal(await statusOf('slow-w16'), 404)
  assert.equal(await begun, 200)
})

test('every configuration that was taken stands in the audit, with what changed by name and nothing of a secret', async () => {
  const token = readFileSync(join(folder, 'data', 'admin.token'), 'utf8').trim()
  const listed = await fetch(`${torana.controlUrl}/api/v1/audit?action=config.load`, {
    headers: { authorization: `Bearer ${token}` },
  })
  const text = await listed.text()
  const { data } = JSON.parse(text) as {
    data: {
      actor: string
      detail: { changed?: { models: { added: string[] }; keys: { added: string[] } } }
    }[]
  }
  const [newest, ...before] = data
  assert.ok(data.length >= 5)
  assert.ok(data.every(({ actor }) => actor === 'system'))
  assert.deepEqual(newest?.detail.changed?.models.added, ['first-w16'])
  assert.equal(before.at(-1)?.detail.changed, undefined, 'the first is the start')
  assert.ok(before.some(({ detail }) => detail.changed?.keys.added.includes('search/ci')))
  for (const secret of [GATEWAY_KEY, SECOND_KEY, THIRD_KEY]) assert.ok(!text.includes(secret))
})
