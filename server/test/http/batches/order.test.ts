/** The order of batches: projects take turns, and so do the batches of a project. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startGatewayOnPostgres } from '#test/e2e/money/gateway-on-postgres.ts'
import { BatchCaller, chunkLines, embeddingLines, type BatchAnswer } from '#test/support/batches.ts'
import { eventually } from '#test/support/process.ts'

const SMALL_KEY = 'gateway-test-key-small-001'
const { gateway, database } = await startGatewayOnPostgres({
  models: {
    'slow-w8': { on: 'slow-40', deploymentLimits: { concurrency: 1 } },
    'slower-w8': { on: 'slow-300', deploymentLimits: { concurrency: 1 } },
  },
  projects: { small: { keys: [{ name: 'k', secret: SMALL_KEY }] } },
})
/**
 * Chunks of others that may end before a batch has its first result. They are counted instead of time, which a busy machine
 * stretches: about two seconds of calls beside another project, five behind larger batches of its own.
 */
const MAX_BESIDE = { 'slower-w8': 7, 'slow-w8': 50 }
const MAX_BEHIND = 125
/** Maximum of chunks on one node. */
const CHUNKS = 48
const large = new BatchCaller(gateway.url)
const small = new BatchCaller(gateway.url, SMALL_KEY)

async function begun(
  caller: BatchCaller,
  lines: number,
  window: string,
  model = 'slow-w8',
): Promise<BatchAnswer> {
  const texts = Array.from({ length: lines }, (_, line) => `text ${line} of ${window}`)
  return caller.create(await caller.upload(chunkLines(model, texts)), { completion_window: window })
}

async function assertBegunSoon({ id }: BatchAnswer, caller: BatchCaller, maxOthers: number): Promise<void> {
  await eventually(async () => assert.ok((await caller.get(id)).request_counts.completed > 0), 60_000)
  const [before] = await database.query<{ others: number }>(
    `SELECT count(*)::integer AS others FROM batch_chunks AS other, (
       SELECT min(done_at) AS first_at, batches.created_at FROM batch_chunks JOIN batches USING (batch_id)
       WHERE batch_id = $1 GROUP BY batches.created_at
     ) AS own
     WHERE other.batch_id <> $1 AND other.done_at BETWEEN own.created_at AND own.first_at`,
    [id],
  )
  assert.ok(before && before.others <= maxOthers, `${before?.others} chunks of others ended first`)
}

/** This test comes first: calls of batches are small at the beginning, and chunks take several of them. */
test('a small project begins soon beside a large one, though the node is full of chunks that end much later', async () => {
  const texts = Array.from({ length: 20_000 }, (_, line) => `text ${line}`)
  const { id } = await large.create(await large.upload(embeddingLines('slower-w8', texts)))
  await eventually(async () => {
    const [held] = await database.query<{ count: number }>(
      `SELECT count(*)::integer AS count FROM batch_chunks WHERE batch_id = $1 AND state = 'held'`,
      [id],
    )
    assert.equal(held?.count, CHUNKS)
  }, 60_000)
  await assertBegunSoon(await begun(small, 3, '24h', 'slower-w8'), small, MAX_BESIDE['slower-w8'])
  await large.fetch(`/batches/${id}/cancel`, { method: 'POST' })
  assert.equal((await large.ended(id)).status, 'cancelled')
})

test('of the batches of a project the one whose window ends first ends first, and a small one behind them begins soon', async () => {
  // Several times as much as a node takes at once.
  const day = await begun(large, 150, '24h')
  await eventually(async () => assert.ok((await large.get(day.id)).request_counts.completed > 0))
  // More than can begin before the next one comes.
  const later = [await begun(large, 100, '2h'), await begun(large, 3, '1h')]
  const last = await begun(large, 3, '168h')
  const one = await begun(small, 3, '24h')
  await assertBegunSoon(one, small, MAX_BESIDE['slow-w8'])
  await assertBegunSoon(last, large, MAX_BEHIND)
  for (const { id } of [...later, day, last]) assert.equal((await large.ended(id)).status, 'completed')
  assert.equal((await small.ended(one.id)).status, 'completed')
  const ended = await database.query<{ batch_id: string }>(
    'SELECT batch_id FROM batches WHERE batch_id = ANY ($1::text[]) ORDER BY ended_at',
    [[...later, day].map(({ id }) => id)],
  )
  assert.equal(ended[0]?.batch_id, later[1]?.id)
})
