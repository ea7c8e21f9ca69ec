/** Chunks and their batches are locked in one order, so that nodes never wait for each other. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { NOTHING } from '#core/batch/chunk.ts'
import { openPostgres } from '#stores/postgres/database.ts'
import { migrate } from '#stores/postgres/migrate.ts'
import { PostgresBatches } from '#stores/postgres/jobs/batches.ts'
import { testPostgres } from '#test/support/servers.ts'
import { aBatch, chunksOf } from './batches-open.ts'
import { nextId } from './image-jobs-open.ts'

const { url } = await testPostgres()
const [first, second] = [openPostgres(url), openPostgres(url)]
await migrate(first)
after(() => Promise.all([first.close(), second.close()]))

const [LATE, OTHER] = [nextId(), nextId()]

test('a claim that takes a lost chunk does not wait for the batch that its late holder ends', async () => {
  const batches = new PostgresBatches(first)
  const batch = aBatch({ project: 'locks', chunks: chunksOf(3) })
  await batches.create(batch, 10)
  const [held] = await batches.claim(LATE, 1)
  assert.equal(held?.hold.batchId, batch.id)
  await first.query(
    `UPDATE batch_chunks SET lease_until = now() - interval '1 s' WHERE batch_id = $1 AND chunk = 0`,
    [batch.id],
  )
  // The late holder has locked the batch, and will then end its chunk.
  const claimed = await second.transaction(async (sql) => {
    await sql.query('SELECT * FROM batches WHERE batch_id = $1 FOR UPDATE', [batch.id])
    return Promise.race([
      batches.claim(OTHER, 3),
      new Promise<'waits'>((resolve) => setTimeout(() => resolve('waits'), 1500)),
    ])
  })
  assert.notEqual(claimed, 'waits')
  assert.ok(Array.isArray(claimed))
  assert.deepEqual(
    claimed.map(({ hold }) => [hold.batchId, hold.chunk, hold.token]),
    [[batch.id, 0, 2]],
  )
  // The rest is there for the next look.
  assert.equal((await batches.claim(OTHER, 3)).length, 2)
  assert.ok(held)
  await assert.rejects(
    batches.finish(held.hold, { counts: NOTHING, part: undefined, rest: undefined }),
    /no longer/,
  )
})
