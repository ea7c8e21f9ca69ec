/** A pause by a person with several nodes: all of them keep it. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { BatchCaller, embeddingLines } from '#test/support/batches.ts'
import { startNodeProcess, type NodeProcess } from '#test/support/cluster.ts'
import type { GatewayOptions } from '#test/support/gateway.ts'
import { eventually, temporaryFolder } from '#test/support/process.ts'
import { testPostgres } from '#test/support/servers.ts'
import { startFakeProvider } from '../../../../lab/fake-provider/server.ts'

const TOKEN = 'admin-token-of-these-tests-0001'
const KEY = 'the secret of the indexer, long'
const options: GatewayOptions = {
  models: {
    'slow-w16': { on: 'slow-300', price: { usdPerMillionTokens: 1 }, deploymentLimits: { concurrency: 4 } },
  },
  projects: { search: { keys: [{ name: 'indexer', secret: KEY }] } },
}
const provider = await startFakeProvider()
const { url } = await testPostgres()
after(() => provider.close())
const shared = temporaryFolder()
const env = {
  DATABASE_URL: url,
  ASSETS_URL: `file://${shared}`,
  TORANA_SECRET: 'the secret of these tests, long',
  TORANA_ADMIN_TOKEN: TOKEN,
}
const start = (): Promise<NodeProcess> => startNodeProcess(options, provider.url, { env })

interface Answer {
  readonly id: string
  readonly state: string
  readonly lines: { readonly total: number; readonly completed: number }
  readonly pause: { readonly code: string; readonly by: string | null } | null
}

async function ask(node: NodeProcess, method: string, path: string, body?: unknown): Promise<Answer> {
  const answer = await fetch(`${node.controlUrl}/api/v1${path}`, {
    method,
    headers: {
      authorization: `Bearer ${TOKEN}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const text = await answer.text()
  assert.ok(answer.status < 300, `${path}: ${answer.status} ${text}`)
  return JSON.parse(text) as Answer
}

test('within seconds no node buys anything for a batch that a person paused, and both go on after it', async () => {
  const nodes = [await start(), await start()] as const
  const caller = new BatchCaller(nodes[0].url, KEY)
  const texts = Array.from({ length: 20_000 }, (_, row) => `paused ${row}`)
  const { id } = await caller.create(await caller.upload(embeddingLines('slow-w16', texts)))
  const calls = (): number => provider.entries().filter(({ model }) => model === 'slow-w16').length
  await eventually(async () => assert.ok(calls() > 4))
  const paused = await ask(nodes[1], 'POST', `/batches/${id}/pause`, { reason: 'the index is rebuilt' })
  assert.deepEqual([paused.pause?.code, paused.pause?.by], ['paused_by_person', 'admin-token'])
  // Calls that are in flight end, and no other begins.
  const stopped = await eventually(async () => {
    const before = calls()
    await delay(1500)
    assert.equal(calls(), before)
    return before
  })
  await delay(1500)
  assert.equal(calls(), stopped)
  const { lines } = await ask(nodes[0], 'GET', `/batches/${id}`)
  assert.ok(lines.completed < lines.total)
  await ask(nodes[0], 'POST', `/batches/${id}/resume`)
  await eventually(async () => assert.ok(calls() > stopped))
  await ask(nodes[0], 'POST', `/batches/${id}/cancel`)
  await eventually(async () =>
    assert.equal((await ask(nodes[0], 'GET', `/batches/${id}`)).state, 'cancelled'),
  )
})
