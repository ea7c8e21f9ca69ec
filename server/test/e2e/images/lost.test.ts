/** A node that lost a job during several of its calls lives on, and the next holder buys only what is missing. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { JOB_HOLD_MS } from '#ports/image-jobs.ts'
import { rowsIn } from '#test/e2e/money/ledger-rows.ts'
import { startGatewayOnPostgres } from '#test/e2e/money/gateway-on-postgres.ts'
import { askImages, billedPictures, picturesIn, purchasesAt, sha256 } from '#test/support/image-answers.ts'
import { eventually } from '#test/support/process.ts'

const SLOW = 'slow-1500'
/** Longer than a node takes to notice that a job has no holder. */
const SLOWER = 'slow-4000'
const several = { capabilities: { maxImages: 1, maxParallelCalls: 2 }, price: { usdPerImage: 0.04 } }
const { gateway, database, quiet } = await startGatewayOnPostgres({
  images: { 'several-image': { on: SLOW, ...several }, 'slower-image': { on: SLOWER, ...several } },
})
const { provider } = gateway

test('a job that is lost with calls out: every picture arrives, each bought once, and the node lives', async () => {
  const asked = askImages(gateway, { model: 'several-image', n: 4 })
  await eventually(async () => assert.equal(provider.counters().inFlight, 2))
  // As if another node had it: this one holds it no more.
  await database.query(
    `UPDATE image_jobs SET node_id = NULL, token = token + 1, lease_until = now() + interval '1 hour' WHERE ended_at IS NULL`,
  )
  await quiet()
  assert.equal(purchasesAt(provider, SLOW).length, 2, 'who does not hold it buys nothing more')
  await database.query('UPDATE image_jobs SET lease_until = now() WHERE ended_at IS NULL')

  const answer = await asked
  const pictures = await picturesIn(answer)
  assert.deepEqual(pictures.map(sha256).sort(), billedPictures(provider, SLOW).sort())
  assert.deepEqual([pictures.length, purchasesAt(provider, SLOW).length], [4, 4])
  await eventually(async () => {
    const rows = await rowsIn(database)
    const sum = rows.reduce((total, { nanoUsd }) => total + nanoUsd, 0)
    assert.deepEqual([rows.filter(({ kind }) => kind === 'post').length, sum], [4, 160_000_000])
  })
})

test('a job that comes back while its calls are out goes on when they have ended, and no picture is bought twice', async () => {
  const asked = askImages(gateway, { model: 'slower-image', n: 4 })
  await eventually(async () => assert.equal(provider.counters().inFlight, 2))
  // As if another node had held and released it.
  await database.query(
    `UPDATE image_jobs SET node_id = NULL, token = token + 1, lease_until = now() WHERE ended_at IS NULL`,
  )
  const startedMs = performance.now()
  const pictures = await picturesIn(await asked)
  assert.deepEqual(pictures.map(sha256).sort(), billedPictures(provider, SLOWER).sort())
  assert.deepEqual([pictures.length, purchasesAt(provider, SLOWER).length], [4, 4])
  assert.ok(performance.now() - startedMs < JOB_HOLD_MS / 2, 'nobody waits for the hold to end')
})
