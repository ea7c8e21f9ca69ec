/** Drafts and pauses with several nodes: a run survives the death of the node that made it, and all nodes keep a pause. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { openPostgres } from '#stores/postgres/database.ts'
import { startNodeProcess, type NodeProcess } from '#test/support/cluster.ts'
import type { GatewayOptions } from '#test/support/gateway.ts'
import { eventually, temporaryFolder } from '#test/support/process.ts'
import { testPostgres } from '#test/support/servers.ts'
import { startFakeProvider } from '../../../../lab/fake-provider/server.ts'

const WIDTH = 16
const TOKEN = 'admin-token-of-these-tests-0001'
const options: GatewayOptions = {
  models: {
    'plain-w16': { on: 'plain', price: { usdPerMillionTokens: 1 } },
    'slow-w16': { on: 'slow-300', price: { usdPerMillionTokens: 1 }, deploymentLimits: { concurrency: 4 } },
  },
  projects: { search: { keys: [] } },
}
const provider = await startFakeProvider()
const { url } = await testPostgres()
const database = openPostgres(url, { poolSize: 2 })
after(() => Promise.all([provider.close(), database.close()]))
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
  const isText = typeof body === 'string'
  const answer = await fetch(`${node.controlUrl}/api/v1${path}`, {
    method,
    headers: {
      authorization: `Bearer ${TOKEN}`,
      ...(body !== undefined && { 'content-type': isText ? 'text/csv' : 'application/json' }),
    },
    ...(body !== undefined && { body: isText ? body : JSON.stringify(body) }),
  })
  const text = await answer.text()
  assert.ok(answer.status < 300, `${path}: ${answer.status} ${text}`)
  return JSON.parse(text) as Answer
}

function corpusOf(name: string, rows: number, words: number): string {
  const texts = Array.from({ length: rows }, (_, row) => `${row},${name} ${row} ${'word '.repeat(words)}`)
  return `id,text\n${texts.join('\n')}\n`
}

const sent = (node: NodeProcess, corpus: string): Promise<Answer> =>
  ask(node, 'POST', '/batch-drafts?project=search&name=corpus.csv', corpus)

test('a run goes on at another node when the first is killed in the middle of it: one batch, every row once', async () => {
  const rows = 4000
  const survivor = await start()
  for (const killedAfterMs of [50, 400]) {
    const node = await start()
    const draft = await sent(node, corpusOf(`round ${killedAfterMs}`, rows, 400))
    const before = provider.entries().length
    const body = { model: 'plain-w16', text_column: 'text', id_column: 'id' }
    const cut = ask(node, 'POST', `/batch-drafts/${draft.id}/run`, body).catch(() => undefined)
    await delay(killedAfterMs)
    node.child.kill('SIGKILL')
    await cut
    const batch = await ask(survivor, 'POST', `/batch-drafts/${draft.id}/run`, body)
    const again = await ask(survivor, 'POST', `/batch-drafts/${draft.id}/run`, body)
    assert.equal(again.id, batch.id)
    const made = await database.query(`SELECT 1 FROM batches WHERE idempotency_key LIKE $1`, [
      `draft ${draft.id} %`,
    ])
    assert.equal(made.length, 1)
    await eventually(async () => {
      const { state, lines } = await ask(survivor, 'GET', `/batches/${batch.id}`)
      assert.deepEqual([state, lines], ['completed', { total: rows, completed: rows, failed: 0 }])
    })
    assert.ok(provider.entries().length > before)
    for (const format of ['npy', 'parquet', 'jsonl']) {
      const path = `/api/v1/batches/${batch.id}/results?format=${format}`
      const answer = await fetch(`${survivor.controlUrl}${path}`, {
        headers: { authorization: `Bearer ${TOKEN}` },
      })
      assert.equal(answer.status, 200)
      const { byteLength } = await answer.arrayBuffer()
      assert.ok(byteLength > rows * WIDTH * 4, `${format}: ${byteLength}`)
    }
  }
})

test('within seconds no node buys anything for a batch that a person paused, and both go on after it', async () => {
  const nodes = [await start(), await start()] as const
  const draft = await sent(nodes[0], corpusOf('paused', 20_000, 1))
  const body = { model: 'slow-w16', text_column: 'text' }
  const { id } = await ask(nodes[0], 'POST', `/batch-drafts/${draft.id}/run`, body)
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
