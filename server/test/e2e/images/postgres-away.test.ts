/** PostgreSQL is unreachable: images are not bought, because one could be bought twice or be lost; vectors are made as before. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { openPostgres } from '#stores/postgres/database.ts'
import { doorTo } from '#test/support/cluster.ts'
import { assertFault } from '#test/support/errors.ts'
import { startGateway } from '#test/support/gateway.ts'
import { askImages, assertImageFault, picturesIn, purchasesAt } from '#test/support/image-answers.ts'
import { eventually } from '#test/support/process.ts'
import { testPostgres } from '#test/support/servers.ts'

const { url: databaseUrl } = await testPostgres()
const behind = new URL(databaseUrl)
const door = await doorTo(Number(behind.port))
behind.port = String(door.port)
await door.open()
const gateway = await startGateway({
  models: { 'plain-w16': { on: 'plain' } },
  images: { 'plain-image': { on: 'plain+key-image' }, 'slow-image': { on: 'slow-1500' } },
  env: { DATABASE_URL: behind.href, TORANA_SECRET: 'the secret of this one node' },
})
const { provider } = gateway
const database = openPostgres(databaseUrl, { poolSize: 1 })
after(() => database.close())
const embed = () => gateway.ask({ model: 'plain-w16', input: 'a text' })

test('without PostgreSQL no picture is bought, and vectors are made; when it is back, so are the pictures', async () => {
  const kept = await askImages(gateway, { model: 'plain-image', response_format: 'url' })
  const [picture] = await picturesIn(kept)
  assert.equal((await embed()).status, 200)
  door.shut()

  const refused = await askImages(gateway, { model: 'plain-image' })
  assertImageFault(refused, 'image_store_unreachable', { words: /Nothing was bought/ })
  assert.equal(refused.headers.get('x-should-retry'), 'true')
  assert.equal(refused.headers.get('retry-after'), '6', 'an SDK would be back before PostgreSQL is')
  const queued = await askImages(gateway, { model: 'plain-image' }, { headers: { prefer: 'respond-async' } })
  assertImageFault(queued, 'image_store_unreachable')
  assert.equal(purchasesAt(provider, 'plain+key-image').length, 1, 'a picture was bought')
  const jobPath = `/v1/images/jobs/${kept.headers.get('x-torana-job')}`
  assertFault(await gateway.get(jobPath), 'image_store_unreachable')
  assert.equal((await embed()).status, 200)
  // Images are kept elsewhere.
  assert.deepEqual(await picturesIn(kept), [picture])

  await door.open()
  await eventually(async () => picturesIn(await askImages(gateway, { model: 'plain-image' })))
  assert.equal((await gateway.get(jobPath)).status, 200)
})

test('PostgreSQL goes while a picture is made: it is bought once, and the waiting caller gets it', async () => {
  const headers = { 'idempotency-key': 'while-it-is-made' }
  const waiting = askImages(gateway, { model: 'slow-image' }, { headers })
  await eventually(async () => assert.equal(provider.counters().inFlight, 1))
  door.shut()
  const [picture] = await picturesIn(await waiting)
  await door.open()
  // Its end could not be recorded. As if the fifteen seconds until the next check had passed:
  await database.query('UPDATE image_jobs SET lease_until = now() WHERE ended_at IS NULL')
  const again = await eventually(async () => {
    const answer = await askImages(gateway, { model: 'slow-image' }, { headers })
    return picturesIn(answer)
  })
  assert.deepEqual(again, [picture])
  assert.equal(purchasesAt(provider, 'slow-1500').length, 1)
})
