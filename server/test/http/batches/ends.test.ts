/** Batches that end before all of their lines are done: cancelled early and late, and at the end of their window. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { startGatewayOnPostgres } from '#test/e2e/money/gateway-on-postgres.ts'
import {
  BatchCaller,
  chunkLines,
  chunkTexts,
  type BatchAnswer,
  type ResultLine,
} from '#test/support/batches.ts'
import { HeldUpstream } from '#test/support/held-upstream.ts'
import { eventually } from '#test/support/process.ts'

const price = { price: { usdPerMillionTokens: 1 }, deploymentLimits: { concurrency: 1 } }
const LINES = 20
/** More chunks than a node takes at once. */
const MANY = 60
const { gateway, database } = await startGatewayOnPostgres({
  models: Object.fromEntries(
    ['early', 'halfway', 'late', 'expired'].map((name) => [`${name}-w8`, { on: `mode-${name}`, ...price }]),
  ),
})
const caller = new BatchCaller(gateway.url)

/** A batch of which each line is a chunk, and an upstream that holds its calls. */
async function begun(name: string, count: number) {
  const upstream = new HeldUpstream(gateway.provider, name)
  await upstream.hold()
  const texts = Array.from({ length: count }, (_, line) => `${name} ${line}`)
  const { id } = await caller.create(await caller.upload(chunkLines(`${name}-w8`, texts)))
  return { id, upstream }
}

async function hasDone(id: string, lines: number): Promise<void> {
  await eventually(async () => assert.equal((await caller.get(id)).request_counts.completed, lines))
}

async function hasHeld(id: string, chunks: number): Promise<void> {
  await eventually(async () => {
    const held = await database.query(
      `SELECT 1 FROM batch_chunks WHERE batch_id = $1 AND state = 'held' AND node_id IS NOT NULL`,
      [id],
    )
    assert.equal(held.length, chunks)
  })
}

/** Lines that the upstream has embedded, each as often as it is paid for. */
function served(name: string): number {
  const calls = gateway.provider.entries().filter((entry) => entry.served && entry.model === `${name}-w8`)
  return calls.reduce((sum, { inputs }) => sum + inputs, 0) / chunkTexts('').length
}

const idsOf = (lines: readonly ResultLine[]): string[] => lines.map(({ custom_id }) => custom_id)

async function resultsOf({ output_file_id, error_file_id }: BatchAnswer) {
  const [output, errors] = await Promise.all([caller.lines(output_file_id), caller.lines(error_file_id)])
  const ids = idsOf([...output, ...errors])
  assert.equal(new Set(ids).size, ids.length, 'no line comes twice')
  return { output, errors }
}

/** Beside each other: each of them waits for a renewal of claims. */
describe('a batch that ends before all of its lines are done', { concurrency: true }, () => {
  for (const [name, done] of [
    ['early', 2],
    ['halfway', LINES / 2],
    ['late', LINES - 1],
  ] as const)
    test(`a batch that is cancelled after ${done} of ${LINES} lines ends, and everything that was paid is in its output`, async () => {
      const { id, upstream } = await begun(name, LINES)
      await upstream.serve(done)
      await hasDone(id, done)
      await upstream.isAsked()
      const cancelled = await caller.fetch(`/batches/${id}/cancel`, { method: 'POST' })
      assert.equal(cancelled.status, 200)
      // All but the one in progress end without a call.
      await hasHeld(id, 1)
      await upstream.release()
      const batch = await caller.ended(id)
      if (done + 1 < LINES) assert.equal(batch.status, 'cancelled')
      const { output, errors } = await resultsOf(batch)
      assert.deepEqual([output.length, errors.length], [batch.request_counts.completed, 0])
      assert.equal(output.length, done + 1)
      assert.equal(served(name), output.length)
    })

  test('a batch whose window ends in the middle has expired: each line is done or failed as expired', async () => {
    const { id, upstream } = await begun('expired', MANY)
    await upstream.serve(5)
    await hasDone(id, 5)
    await database.query('UPDATE batches SET expires_at = now() WHERE batch_id = $1', [id])
    await upstream.release()
    const batch = await caller.ended(id)
    assert.equal(batch.status, 'expired')
    const { output, errors } = await resultsOf(batch)
    assert.ok(output.length >= 5 && errors.length > 0, `${output.length} and ${errors.length} lines`)
    assert.equal(output.length + errors.length, MANY)
    assert.deepEqual(batch.request_counts, { total: MANY, completed: output.length, failed: errors.length })
    for (const { response, error } of errors)
      assert.deepEqual([response, error?.code], [null, 'batch_expired'])
    assert.equal(served('expired'), output.length, 'nothing is bought for a line whose time was up')
  })
})
