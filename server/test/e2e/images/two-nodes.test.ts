/** Two nodes on one PostgreSQL: an SDK's own retry may come to another node than the request that it retries. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { startGateway, type GatewayOptions } from '#test/support/gateway.ts'
import { askImages, IMAGES_PATH, picturesIn, purchasesAt, SMALL } from '#test/support/image-answers.ts'
import { eventually } from '#test/support/process.ts'
import { testPostgres } from '#test/support/servers.ts'

const { url: databaseUrl } = await testPostgres()
const assets = mkdtempSync(join(tmpdir(), 'torana-two-nodes-'))
after(() => rmSync(assets, { recursive: true }))
/** Longer than it takes a node to say again that a caller waits. */
const SLOW = 'slow-7000'
const options: GatewayOptions = {
  env: {
    DATABASE_URL: databaseUrl,
    ASSETS_URL: `file://${assets}`,
    TORANA_SECRET: '0123456789abcdef'.repeat(4),
  },
  images: { 'slow-image': { on: SLOW } },
}
const [here, there] = [await startGateway(options), await startGateway(options)]
const retry = { headers: { 'x-stainless-retry-count': '1' } }

const purchases = (): number =>
  purchasesAt(here.provider, SLOW).length + purchasesAt(there.provider, SLOW).length

test('a retry on another node gets a picture of its own while the first client waits, and joins when it has left', async () => {
  const waiting = { model: 'slow-image', prompt: 'its client waits' }
  const first = askImages(here, waiting)
  const left = { model: 'slow-image', prompt: 'its client has left' }
  const leaving = new AbortController()
  const gone = fetch(`${here.url}${IMAGES_PATH}`, {
    method: 'POST',
    signal: leaving.signal,
    headers: { authorization: `Bearer ${here.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ ...left, size: SMALL }),
  })
  await eventually(async () => assert.equal(here.provider.counters().inFlight, 2))
  leaving.abort()
  await assert.rejects(gone)
  const answers = await Promise.all([
    first,
    askImages(there, waiting, retry),
    askImages(there, left, retry),
    askImages(there, left, retry),
  ])
  for (const answer of answers) assert.equal((await picturesIn(answer)).length, 1)
  const jobs = answers.map(({ headers }) => headers.get('x-torana-job'))
  assert.equal(new Set(jobs).size, 4)
  assert.equal(purchases(), 4)
})
