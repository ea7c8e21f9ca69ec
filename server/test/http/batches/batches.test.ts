/** `/v1/batches` on a real node, PostgreSQL and an upstream that counts what it serves. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startGatewayOnPostgres } from '#test/e2e/money/gateway-on-postgres.ts'
import { bitsOf } from '#test/support/arbitraries.ts'
import { BatchCaller, embeddingLines, type BatchAnswer } from '#test/support/batches.ts'
import { eventually } from '#test/support/process.ts'
import { fromBase64, tokensOf, vectorOf } from '../../../../lab/fake-provider/vectors.ts'

const OTHER_KEY = 'gateway-test-key-other-002'
const POOR_KEY = 'gateway-test-key-poor-0003'
const { gateway, database } = await startGatewayOnPostgres({
  models: {
    'plain-w8': { on: 'plain', aliases: ['short'], price: { usdPerMillionTokens: 1 } },
    'slow-w8': { on: 'slow-300', price: { usdPerMillionTokens: 1 }, deploymentLimits: { concurrency: 1 } },
  },
  projects: {
    other: { keys: [{ name: 'k', secret: OTHER_KEY }] },
    poor: {
      keys: [{ name: 'k', secret: POOR_KEY }],
      budget: { usd: 0.003, per: 'total', hard: true },
    },
  },
})
const caller = new BatchCaller(gateway.url)
const other = new BatchCaller(gateway.url, OTHER_KEY)
const texts = (count: number, word = 'text'): string[] =>
  Array.from({ length: count }, (_, index) => `${word} ${index}`)

test('every line of a file comes back once with its own vector, its tokens, and what it cost', async () => {
  const given = texts(700)
  const file = await caller.upload(embeddingLines('short', given))
  const created = await caller.create(file, { metadata: { corpus: 'seven hundred' } })
  assert.deepEqual([created.object, created.status], ['batch', 'in_progress'])
  const batch = await caller.ended(created.id)
  assert.deepEqual(batch.request_counts, { total: 700, completed: 700, failed: 0 })
  assert.deepEqual([batch.status, batch.error_file_id], ['completed', null])
  assert.deepEqual(batch.metadata, { corpus: 'seven hundred' })
  const lines = await caller.lines(batch.output_file_id)
  assert.deepEqual(new Set(lines.map(({ custom_id }) => custom_id)).size, 700)
  assert.equal(lines.length, 700)
  for (const { custom_id, response } of lines) {
    const text = given[Number(custom_id.slice('line '.length))] as string
    assert.equal(response?.body.model, 'short')
    const vector = fromBase64(response?.body.data[0]?.embedding ?? '')
    assert.deepEqual(bitsOf(vector), bitsOf(vectorOf(text, 8)))
  }
  const tokens = given.reduce((sum, text) => sum + tokensOf(text), 0)
  assert.equal(batch.usage.total_tokens, tokens)
  assert.equal(Number(batch.torana.cost_usd), tokens / 1_000_000)
  const [charged] = await database.query<{ tokens: bigint }>(
    `SELECT sum(tokens)::bigint AS tokens FROM usage_events WHERE model = 'plain-w8'`,
  )
  assert.equal(Number(charged?.tokens), tokens)
})

test('a refused text is a line of the error file, and the others are not touched by it', async () => {
  const given = [...texts(20), 'a text to @@refuse@@', ...texts(20, 'more')]
  const batch = await caller.ended(
    (await caller.create(await caller.upload(embeddingLines('plain-w8', given)))).id,
  )
  assert.deepEqual(batch.request_counts, { total: 41, completed: 40, failed: 1 })
  const [refused, ...rest] = await caller.lines(batch.error_file_id)
  assert.deepEqual(
    [refused?.custom_id, refused?.response?.status_code, refused?.error, rest.length],
    ['line 20', 400, null, 0],
  )
  assert.equal((await caller.lines(batch.output_file_id)).length, 40)
})

test("a file that can't be run is a batch that has failed, with OpenAI's code and the true line", async () => {
  const broken = `${embeddingLines('plain-w8', texts(2))}\n{"custom_id": `
  const failed = await caller.create(await caller.upload(broken))
  assert.deepEqual(
    [failed.status, failed.errors?.data[0]?.code, failed.errors?.data[0]?.line],
    ['failed', 'invalid_json_line', 3],
  )
  const unknown = await caller.create(await caller.upload(embeddingLines('no-such-model', texts(1))))
  assert.deepEqual([unknown.status, unknown.errors?.data[0]?.code], ['failed', 'model_not_found'])
  assert.deepEqual(await caller.get(unknown.id), unknown)
})

test('a wrong request gets a fault with its field, and never a 500', async () => {
  const file = await caller.upload(embeddingLines('plain-w8', texts(1)))
  const wrong: readonly [Record<string, unknown>, number, string][] = [
    [{ input_file_id: null }, 400, 'input_file_id'],
    [{ input_file_id: 'file-0' }, 404, 'input_file_id'],
    [{ endpoint: '/v1/chat/completions' }, 400, 'endpoint'],
    [{ completion_window: '24d' }, 400, 'completion_window'],
    [{ metadata: { key: 7 } }, 400, 'metadata'],
    [{ output_expires_after: { anchor: 'created_at', seconds: 1 } }, 400, 'output_expires_after'],
  ]
  for (const [fields, status, param] of wrong) {
    const answer = await caller.ask(file, fields)
    const { error } = (await answer.json()) as { error: { param: string } }
    assert.deepEqual([answer.status, error.param], [status, param])
  }
})

test("another project's key sees nothing of a batch, by any route", async () => {
  const file = await caller.upload(embeddingLines('plain-w8', texts(3)))
  const { id } = await caller.create(file)
  const { output_file_id: output } = await caller.ended(id)
  for (const [path, method] of [
    [`/batches/${id}`, 'GET'],
    [`/batches/${id}/cancel`, 'POST'],
    [`/batches?after=${id}`, 'GET'],
    [`/files/${output}`, 'GET'],
    [`/files/${output}/content`, 'GET'],
  ] as const)
    assert.equal((await other.fetch(path, { method })).status, 404, path)
  assert.equal((await other.ask(file)).status, 404)
  const listed = (await (await other.fetch('/batches')).json()) as { data: unknown[] }
  assert.deepEqual(listed.data, [])
})

test("an SDK's retry and an idempotency key join the batch, and pages hold every batch once", async () => {
  const file = await caller.upload(embeddingLines('plain-w8', texts(1)))
  const ids = async (answers: readonly Promise<Response>[]): Promise<Set<string>> => {
    // A busy machine may refuse some.
    const taken = (await Promise.all(answers)).filter(({ status }) => status !== 503)
    const batches = await Promise.all(taken.map(async (answer) => (await answer.json()) as BatchAnswer))
    return new Set(batches.map(({ id }) => id))
  }
  const first = await caller.create(file)
  const retries = Array.from({ length: 100 }, () => caller.ask(file, {}, { 'x-stainless-retry-count': '1' }))
  assert.deepEqual(await ids(retries), new Set([first.id]))
  const keyed = Array.from({ length: 100 }, () => caller.ask(file, {}, { 'idempotency-key': 'tonight' }))
  assert.equal((await ids(keyed)).size, 1)
  const reused = await caller.ask(file, { metadata: { a: 'b' } }, { 'idempotency-key': 'tonight' })
  assert.equal(reused.status, 422)
  const seen: string[] = []
  for (let after = ''; ;) {
    const answer = await caller.fetch(`/batches?limit=2${after}`)
    const page = (await answer.json()) as { data: BatchAnswer[]; last_id: string; has_more: boolean }
    seen.push(...page.data.map(({ id }) => id))
    if (!page.has_more) break
    after = `&after=${page.last_id}`
  }
  assert.equal(new Set(seen).size, seen.length)
  assert.ok(seen.includes(first.id))
})

test('a cancelled batch ends soon, and what was paid for is in its output', async () => {
  const { id } = await caller.create(await caller.upload(embeddingLines('slow-w8', texts(6000))))
  await gateway.ask({ model: 'slow-w8', input: 'somebody waits' })
  const cancelled = await caller.fetch(`/batches/${id}/cancel`, { method: 'POST' })
  assert.equal(cancelled.status, 200)
  const batch = await caller.ended(id)
  assert.equal(batch.status, 'cancelled')
  const lines = await caller.lines(batch.output_file_id)
  assert.equal(lines.length, batch.request_counts.completed)
  assert.ok(lines.length < 6000)
  const [charged] = await database.query<{ tokens: bigint | null }>(
    `SELECT sum(tokens)::bigint AS tokens FROM usage_events WHERE model = 'slow-w8'`,
  )
  const served = lines.reduce((sum, { response }) => sum + (response?.body.usage.total_tokens ?? 0), 0)
  assert.equal(Number(charged?.tokens), served + tokensOf('somebody waits'))
})

test('a hard budget that ends pauses the batch: nothing is overspent and no line fails', async () => {
  const poor = new BatchCaller(gateway.url, POOR_KEY)
  const { id } = await poor.create(await poor.upload(embeddingLines('plain-w8', texts(4000))))
  await eventually(async () => {
    const { torana, status, request_counts } = await poor.get(id)
    assert.deepEqual([status, request_counts.failed], ['in_progress', 0])
    assert.equal(torana.pause?.code, 'budget_exhausted')
    assert.ok(Number(torana.cost_usd) > 0 && Number(torana.cost_usd) <= 0.003, torana.cost_usd)
  })
  await poor.fetch(`/batches/${id}/cancel`, { method: 'POST' })
  // A later chunk without money does not delay the end.
  assert.equal((await poor.ended(id)).status, 'cancelled')
})
