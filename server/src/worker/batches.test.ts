import assert from 'node:assert/strict'
import { test } from 'node:test'
import { partName } from '#core/batch/part.ts'
import { blobsOfBatch } from '#request/images/batch-blobs.ts'
import { systemClock } from '#runtime/clock.ts'
import { MemoryBlobs } from '#stores/blobs/memory.ts'
import { aBatch, doneEnd, memoryBatches } from '#test/contract/batches-open.ts'
import { deleteDueBatches } from './batches.ts'
import { deleteOldBlobs } from './old-blobs.ts'

const HOUR_MS = 3_600_000

test('of a batch whose results were kept for their time nothing is left, its pictures included, and nothing of others goes', async () => {
  const { batches, passes } = await memoryBatches()
  const blobs = new MemoryBlobs(systemClock)
  const names = async (): Promise<string[]> =>
    (await blobs.list({ prefix: '', limit: 1000 })).map(({ name }) => name)
  const short = aBatch({ resultsKeptMs: HOUR_MS })
  const long = aBatch({ resultsKeptMs: 30 * 24 * HOUR_MS })
  for (const { id, ...batch } of [short, long]) {
    await batches.create({ id, ...batch }, 10)
    for (const held of await batches.claim('node', 10)) {
      await blobs.put(partName(id, held.hold.chunk, held.hold.token), Buffer.from('{}'))
      await blobsOfBatch(id, blobs).put(`pictures/${'0'.repeat(64)}`, Buffer.from('x'))
      await batches.finish(held.hold, doneEnd(held))
    }
  }
  assert.equal(await deleteDueBatches({ batches, blobs }), 0)
  await passes(2 * HOUR_MS)
  // The age of a batch's blobs depends on their batch alone.
  assert.equal(await deleteOldBlobs(blobs, 'own', systemClock.nowMs() + HOUR_MS), 0)
  assert.equal(await deleteDueBatches({ batches, blobs }), 1)
  assert.ok((await names()).length > 0)
  assert.ok((await names()).every((name) => name.startsWith(`batches/${long.id}/`)))
  assert.equal(await batches.find(short.id, short.project), undefined)
  assert.equal(await deleteDueBatches({ batches, blobs }), 0)
})
