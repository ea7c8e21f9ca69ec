import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startGatewayOnPostgres } from '#test/e2e/money/gateway-on-postgres.ts'
import { askImages, purchasesAt } from '#test/support/image-answers.ts'

const MOST = 4

test('no more image jobs run at once than the limit says, also while PostgreSQL is asked about each', async () => {
  const { gateway } = await startGatewayOnPostgres({
    images: { 'slow-image': { on: 'slow-3000' } },
    limits: { maxImageJobs: MOST, queueWaitMs: 100 },
  })
  const answers = await Promise.all(
    Array.from({ length: 40 }, () => askImages(gateway, { model: 'slow-image' })),
  )
  const made = answers.filter(({ status }) => status === 200)
  assert.ok(made.length > 0 && made.length <= MOST, `${made.length} at once`)
  assert.equal(purchasesAt(gateway.provider, 'slow-3000').length, made.length)
})
