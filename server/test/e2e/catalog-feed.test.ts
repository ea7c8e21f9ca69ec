/** A signed feed on two nodes, as an operator handles it: compared, pulled, in force without a restart, and taken back. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { catalogRelease } from '#config/build/feed.ts'
import { startFakeProvider } from '../../../lab/fake-provider/server.ts'
import { askAt, startNodeProcess, type NodeProcess } from '#test/support/cluster.ts'
import { aSigner, changedDocument, tokenPrice } from '#test/support/feed.ts'
import { configText, GATEWAY_KEY } from '#test/support/gateway.ts'
import { eventually, runTorana, temporaryFolder } from '#test/support/process.ts'
import { testPostgres } from '#test/support/servers.ts'

const BUILT_IN = catalogRelease().sequence
const signer = aSigner()
const feed = signer.sign(
  changedDocument(1, ({ models }) => {
    const small = models['text-embedding-3-small'] ?? {}
    small['price'] = tokenPrice(0.01)
    models['text-embedding-4-small'] = { ...small, price: tokenPrice(0.03) }
  }),
)

const feeds = createServer((_request, response) => response.end(feed))
await once(feeds.listen(0, '127.0.0.1'), 'listening')
after(() => feeds.close())
const provider = await startFakeProvider()
after(() => provider.close())
const { url: databaseUrl } = await testPostgres()
const address = `http://127.0.0.1:${(feeds.address() as AddressInfo).port}/catalog.json`

const known = { 'text-embedding-3-small': { spaceGuard: false } }
const options = { known, catalog: { url: address, keys: [signer.publicKey] } }
const withNewModel = { ...options, known: { ...known, 'text-embedding-4-small': { spaceGuard: false } } }
const env = { DATABASE_URL: databaseUrl, TORANA_ADMIN_TOKEN: 'admin-token-of-this-test-0001' }
const start = (given: object = options, folder = temporaryFolder()): Promise<NodeProcess> =>
  startNodeProcess(given, provider.url, { env, folder })
const nodes = await Promise.all([start(), start()])
const [first, second] = nodes

const ask = (node: NodeProcess, model: string) =>
  askAt(node.url, { model, input: 'a few words' }, { key: GATEWAY_KEY })
async function costAt(node: NodeProcess, model = 'text-embedding-3-small'): Promise<number> {
  const { status, headers, text } = await ask(node, model)
  assert.equal(status, 200, text)
  return Number(headers.get('x-torana-cost'))
}

async function torana(...args: string[]) {
  const running = runTorana({ folder: first.folder, env, args: [...args, '--url', first.controlUrl] })
  const code = await running.exit
  return { code, text: `${running.stdout()}${running.stderr()}` }
}

test('a feed is compared, pulled and in force on two nodes without a restart, and pinned back', async () => {
  const before = await costAt(first)
  assert.equal(await costAt(second), before)

  const diff = await torana('catalog', 'diff')
  assert.equal(diff.code, 0, diff.text)
  assert.match(diff.text, /text-embedding-4-small +facts +added/)
  assert.match(
    diff.text,
    /text-embedding-3-small\/known +\$0\.02\/million tokens +\$0\.01\/million tokens +2 /,
  )

  const pulled = await torana('catalog', 'pull')
  assert.equal(pulled.code, 0, pulled.text)
  assert.match(pulled.text, new RegExp(`The catalogue ${BUILT_IN + 1} of .* is in force`))
  for (const node of nodes) await eventually(async () => assert.equal((await costAt(node)) * 2, before))
  const listed = await torana('catalog')
  assert.match(listed.text, /text-embedding-3-small\/known +\d{4}-\d{2}-\d{2} +2026-11-18/)

  const file = join(first.folder, 'torana.yaml')
  writeFileSync(file, configText(withNewModel, provider.url))
  await eventually(async () => assert.ok((await costAt(first, 'text-embedding-4-small')) > 0))

  const lost = await torana('catalog', 'pin', 'built-in')
  assert.equal(lost.code, 1, 'the first node uses a model that the catalogue of the program does not know')
  assert.match(lost.text, /there are no built-in facts about text-embedding-4-small/)
  writeFileSync(file, configText(options, provider.url))
  await eventually(async () => assert.equal((await ask(first, 'text-embedding-4-small')).status, 404))
  const pinned = await torana('catalog', 'pin', 'built-in')
  assert.equal(pinned.code, 0, pinned.text)
  for (const node of nodes) await eventually(async () => assert.equal(await costAt(node), before))
  assert.equal((await torana('catalog', 'pin', 'latest')).code, 0)
  for (const node of nodes) await eventually(async () => assert.equal((await costAt(node)) * 2, before))
})

test('a model that only the feed knows survives a restart, and a start in an empty folder', async () => {
  const copy = join(second.folder, 'data', 'catalog-feed.json')
  assert.match(readFileSync(copy, 'utf8'), /text-embedding-4-small/)
  second.child.kill('SIGTERM')
  await second.exit
  for (const folder of [second.folder, temporaryFolder()]) {
    const node = await start(withNewModel, folder)
    assert.ok((await costAt(node, 'text-embedding-4-small')) > 0)
    node.child.kill('SIGTERM')
    assert.equal(await node.exit, 0)
  }
})

test('`torana check` knows the models of the feed that its node has', async () => {
  const file = join(second.folder, 'torana.yaml')
  const check = async (folder: string) => {
    const dataDir = { TORANA_DATA_DIR: join(folder, 'data') }
    const running = runTorana({ folder, env: dataDir, args: ['check', file] })
    return { code: await running.exit, text: `${running.stdout()}${running.stderr()}` }
  }
  const known = await check(second.folder)
  assert.equal(known.code, 0, known.text)
  assert.equal((await check(temporaryFolder())).code, 1)
})
