/** A hard budget that ends in the middle of a batch, and the next period. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startGatewayOnPostgres } from '#test/e2e/money/gateway-on-postgres.ts'
import { BatchCaller, chunkLines, chunkTexts, tryAgain } from '#test/support/batches.ts'
import { eventually } from '#test/support/process.ts'
import { tokensOf } from '../../../../lab/fake-provider/vectors.ts'

const POOR_KEY = 'gateway-test-key-poor-0003'
const LINES = 60
const texts = Array.from({ length: LINES }, (_, line) => `text ${line}`)
const tokens = texts.flatMap(chunkTexts).reduce((sum, text) => sum + tokensOf(text), 0)
/** A dollar per token: enough for more than half of them. */
const BUDGET_USD = Math.ceil(tokens * 0.7)
const { gateway, database } = await startGatewayOnPostgres({
  models: { 'dear-w8': { on: 'plain', price: { usdPerMillionTokens: 1_000_000 } } },
  projects: {
    poor: { keys: [{ name: 'k', secret: POOR_KEY }], budget: { usd: BUDGET_USD, per: 'day', hard: true } },
  },
})
const poor = new BatchCaller(gateway.url, POOR_KEY)

async function chargedUsd(): Promise<number> {
  const [charged] = await database.query<{ usd: number | null }>(
    `SELECT sum(amount_nano)::float8 / 1e9 AS usd FROM usage_events WHERE project = 'poor'`,
  )
  return charged?.usd ?? 0
}

test('a batch that uses up a hard budget pauses, goes on with the next period, and loses no line', async () => {
  const { id } = await poor.create(await poor.upload(chunkLines('dear-w8', texts)))
  await eventually(async () => {
    const { status, request_counts, torana } = await poor.get(id)
    assert.deepEqual([status, request_counts.failed], ['in_progress', 0])
    assert.ok(request_counts.completed > 0)
    assert.equal(torana.pause?.code, 'budget_exhausted')
  })
  assert.ok((await chargedUsd()) <= BUDGET_USD, `$${await chargedUsd()} of $${BUDGET_USD}`)
  // The next period begins: nothing is spent of it.
  await database.query(`UPDATE budgets SET spent_nano = 0 WHERE budget_id = 'project:poor'`)
  await eventually(async () => {
    const { status } = await poor.get(id)
    await tryAgain(database, id)
    assert.equal(status, 'completed')
  })
  const batch = await poor.get(id)
  assert.deepEqual(batch.request_counts, { total: LINES, completed: LINES, failed: 0 })
  const ids = (await poor.lines(batch.output_file_id)).map(({ custom_id }) => custom_id)
  assert.deepEqual([ids.length, new Set(ids).size], [LINES, LINES])
  const spent = await chargedUsd()
  assert.equal(spent, tokens)
  assert.equal(Number(batch.torana.cost_usd), spent)
})
