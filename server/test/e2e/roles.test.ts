/** `torana start --role`: the tasks of each kind of process, and what it leaves to the others. */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { openPostgres } from '#stores/postgres/database.ts'
import { BatchCaller, embeddingLines } from '#test/support/batches.ts'
import { askAt, startNodeProcess, type NodeProcess, type NodeProcessOptions } from '#test/support/cluster.ts'
import { GATEWAY_KEY, type GatewayOptions } from '#test/support/gateway.ts'
import { eventually, SOURCE_PROGRAM, temporaryFolder } from '#test/support/process.ts'
import { testPostgres } from '#test/support/servers.ts'
import { startFakeProvider } from '../../../lab/fake-provider/server.ts'

const TOKEN = 'a-token-of-an-operator-for-this-test'
const options: GatewayOptions = {
  models: { 'plain-w16': { on: 'plain' } },
  images: { 'plain-image': { on: 'plain', price: { usdPerImage: 0.04 } } },
}
const provider = await startFakeProvider()
const { url: databaseUrl } = await testPostgres()
const database = openPostgres(databaseUrl, { poolSize: 2 })
after(() => Promise.all([provider.close(), database.close()]))
/** As an S3 bucket would be, all nodes see it. */
const assets = temporaryFolder()

function start(
  role: string,
  hooked: Pick<NodeProcessOptions, 'nodeArgs' | 'program'> = {},
): Promise<NodeProcess> {
  const env = {
    DATABASE_URL: databaseUrl,
    ASSETS_URL: `file://${assets}`,
    TORANA_ADMIN_TOKEN: TOKEN,
    TORANA_ROLE: role,
  }
  return startNodeProcess(options, provider.url, { env, ...hooked })
}

const headers = { authorization: `Bearer ${TOKEN}` }
const statusAt = async (url: string): Promise<number> => (await fetch(url, { headers })).status

test('each role does its own part: a worker runs the batch that a gateway took, and finishes the picture of one that died', async () => {
  // Holds every image for ever before its call is recorded.
  const probe = pathToFileURL(join(import.meta.dirname, '../../../lab/chaos/images/gap-probe.ts'))
  const held = join(temporaryFolder(), 'held')
  probe.searchParams.set('place', 'before-dispatch')
  probe.searchParams.set('file', held)
  const first = await start('gateway', { nodeArgs: ['--import', probe.href], program: SOURCE_PROGRAM })
  const picture = { model: 'plain-image', prompt: 'a gate' }
  const begun = await askAt(first.url, picture, {
    key: GATEWAY_KEY,
    path: '/v1/images/generations',
    headers: { prefer: 'respond-async' },
  })
  assert.equal(begun.status, 202, begun.text)
  await eventually(async () => assert.ok(existsSync(held)))
  first.child.kill('SIGKILL')
  await first.exit
  // As if the fifteen seconds had passed for which a dead node's word is good.
  await database.query('UPDATE image_jobs SET lease_until = now() WHERE ended_at IS NULL')

  const [gateway, control] = await Promise.all([start('gateway'), start('control')])
  const answer = await askAt(gateway.url, { model: 'plain-w16', input: 'a text' }, { key: GATEWAY_KEY })
  assert.equal(answer.status, 200, answer.text)
  for (const node of [gateway, control]) assert.equal(await statusAt(`${node.controlUrl}/readyz`), 200)
  assert.equal(await statusAt(`${gateway.controlUrl}/api/v1/nodes`), 404)
  assert.equal(await statusAt(`${control.controlUrl}/api/v1/nodes`), 200)
  await assert.rejects(askAt(control.url, { model: 'plain-w16', input: 'a text' }, { key: GATEWAY_KEY }))

  const caller = new BatchCaller(gateway.url)
  const { id: batchId } = await caller.create(
    await caller.upload(embeddingLines('plain-w16', ['one', 'two', 'three'])),
  )
  // As long as a worker would have taken to notice it.
  await new Promise((resolve) => setTimeout(resolve, 2000))
  const claimed = await database.query("SELECT 1 FROM batch_chunks WHERE state <> 'waiting'")
  assert.equal(claimed.length, 0)

  const worker = await start('worker')
  assert.equal(await statusAt(`${worker.controlUrl}/api/v1/nodes`), 404)
  await eventually(async () => {
    const { id } = begun.body as unknown as { readonly id: string }
    const job = await fetch(`${gateway.url}/v1/images/jobs/${id}`, {
      headers: { authorization: `Bearer ${GATEWAY_KEY}` },
    })
    const { status } = (await job.json()) as { readonly status: string }
    assert.equal(status, 'succeeded')
  })
  const batch = await caller.ended(batchId)
  assert.deepEqual([batch.status, batch.request_counts.completed], ['completed', 3])
})
