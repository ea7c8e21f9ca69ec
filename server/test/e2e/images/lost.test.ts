/** A node that lost a job while several of its calls were out lives on, and whoever holds the job then buys only what is missing. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { rowsIn } from '#test/e2e/money/books.ts'
import { startGatewayOnPostgres } from '#test/e2e/money/gateway-on-postgres.ts'
import { askImages, billedPictures, picturesIn, purchasesAt, sha256 } from '#test/support/image-answers.ts'
import { eventually } from '#test/support/process.ts'

const SLOW = 'slow-1500'
const { gateway, database, quiet } = await startGatewayOnPostgres({
  images: {
    'several-image': {
      on: SLOW,
      capabilities: { maxImages: 1, maxParallelCalls: 2 },
      price: { usdPerImage: 0.04 },
    },
  },
})
const { provider } = gateway

test('a job that is lost with calls out: every picture arrives, each bought once, and the node lives', async () => {
  const asked = askImages(gateway, { model: 'several-image', n: 4 })
  await eventually(async () => assert.equal(provider.counters().inFlight, 2), 20_000)
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
  }, 20_000)
})
