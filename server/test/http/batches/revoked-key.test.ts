/** A key that is taken away while its batch runs. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startGatewayOnPostgres } from '#test/e2e/money/gateway-on-postgres.ts'
import { ADMIN, control } from '#test/e2e/spaces/guarded.ts'
import { BatchCaller, embeddingLines } from '#test/support/batches.ts'
import { eventually } from '#test/support/process.ts'

const { gateway, database } = await startGatewayOnPostgres({
  models: {
    'slow-w8': { on: 'slow-300', price: { usdPerMillionTokens: 1 }, deploymentLimits: { concurrency: 1 } },
  },
  env: ADMIN,
})

test('a batch goes on when its key is revoked: the key is refused, and the project has the results', async () => {
  const made = { project: 'default', name: 'nightly' }
  const { secret } = await control<{ secret: string }>(gateway, 'POST', '/keys', made)
  const nightly = new BatchCaller(gateway.url, secret)
  const texts = Array.from({ length: 1200 }, (_, line) => `text ${line}`)
  const { id } = await nightly.create(await nightly.upload(embeddingLines('slow-w8', texts)))
  await control(gateway, 'DELETE', '/keys/default/nightly')
  await eventually(async () => assert.equal((await nightly.fetch(`/batches/${id}`)).status, 401))
  const project = new BatchCaller(gateway.url)
  const begun = await project.get(id)
  assert.equal(begun.status, 'in_progress')
  const batch = await project.ended(id)
  assert.deepEqual(
    [batch.status, batch.request_counts],
    ['completed', { total: 1200, completed: 1200, failed: 0 }],
  )
  assert.equal((await project.lines(batch.output_file_id)).length, 1200)
  const booked = await database.query<{ key_id: string }>('SELECT DISTINCT key_id FROM usage_events')
  assert.deepEqual(
    booked.map(({ key_id }) => key_id),
    ['default/nightly'],
  )
})
