/** Batches that end before all of their lines are done: cancelled early and late, and at the end of their window. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startGatewayOnPostgres } from '#test/e2e/money/gateway-on-postgres.ts'
import {
  BatchCaller,
  chunkLines,
  chunkTexts,
  type BatchAnswer,
  type ResultLine,
} from '#test/support/batches.ts'
import { eventually } from '#test/support/process.ts'

const LINES = 100
const { gateway, database } = await startGatewayOnPostgres({
  models: {
    'slow-w8': { on: 'slow-50', price: { usdPerMillionTokens: 1 }, deploymentLimits: { concurrency: 1 } },
  },
})
const caller = new BatchCaller(gateway.url)

async function begun(word: string): Promise<string> {
  const texts = Array.from({ length: LINES }, (_, line) => `${word} ${line}`)
  return (await caller.create(await caller.upload(chunkLines('slow-w8', texts)))).id
}

async function hasDone(id: string, lines: number): Promise<void> {
  await eventually(async () => {
    const { completed } = (await caller.get(id)).request_counts
    assert.ok(completed >= lines, `${completed}`)
  }, 60_000)
}

/** Lines that the upstream has embedded, each as often as it is paid for. */
function served(): number {
  const calls = gateway.provider.entries().filter((entry) => entry.served)
  return calls.reduce((sum, { inputs }) => sum + inputs, 0) / chunkTexts('').length
}

const idsOf = (lines: readonly ResultLine[]): string[] => lines.map(({ custom_id }) => custom_id)

async function resultsOf({ output_file_id, error_file_id }: BatchAnswer) {
  const [output, errors] = await Promise.all([caller.lines(output_file_id), caller.lines(error_file_id)])
  const ids = idsOf([...output, ...errors])
  assert.equal(new Set(ids).size, ids.length, 'no line comes twice')
  return { output, errors }
}

for (const share of [10, 50, 99])
  test(`a batch that is cancelled at ${share} % ends within a minute, and everything that was paid is in its output`, async () => {
    const before = served()
    const id = await begun(`at ${share}`)
    await hasDone(id, share)
    const cancelled = await caller.fetch(`/batches/${id}/cancel`, { method: 'POST' })
    assert.equal(cancelled.status, 200)
    const batch = await caller.ended(id, 60_000)
    // The last line may have been in progress.
    if (share < 99 || batch.request_counts.completed < LINES) assert.equal(batch.status, 'cancelled')
    const { output, errors } = await resultsOf(batch)
    assert.deepEqual([output.length, errors.length], [batch.request_counts.completed, 0])
    assert.ok(output.length >= share)
    assert.equal(served() - before, output.length)
  })

test('a batch whose window ends in the middle has expired: each line is done or failed as expired', async () => {
  const before = served()
  const id = await begun('expires')
  await hasDone(id, 5)
  await database.query('UPDATE batches SET expires_at = now() WHERE batch_id = $1', [id])
  const batch = await caller.ended(id, 60_000)
  assert.equal(batch.status, 'expired')
  const { output, errors } = await resultsOf(batch)
  assert.ok(output.length >= 5 && errors.length > 0, `${output.length} and ${errors.length} lines`)
  assert.equal(output.length + errors.length, LINES)
  assert.deepEqual(batch.request_counts, { total: LINES, completed: output.length, failed: errors.length })
  for (const { response, error } of errors) assert.deepEqual([response, error?.code], [null, 'batch_expired'])
  assert.equal(served() - before, output.length, 'nothing is bought for a line whose time was up')
})
