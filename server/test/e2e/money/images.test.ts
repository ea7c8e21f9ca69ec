/** Images on three processes: each is bought once, whichever node gets the retry. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startCluster } from '#test/support/cluster.ts'
import type { Asked } from '#test/support/gateway.ts'
import { askPatiently } from '#test/support/patience.ts'
import { temporaryFolder } from '#test/support/process.ts'

const KEY = 'key-of-the-project-with-pictures'
const NANO_USD = 40_000_000
const price = { usdPerImage: NANO_USD / 1e9 }
const cluster = await startCluster({
  images: {
    'paid-image': { on: 'slow-300', price },
    // The provider charges, and its answer never arrives.
    'lost-image': { on: 'serves-then-resets', price },
  },
  projects: { shop: { keys: [{ name: 'k', secret: KEY }], budget: { usd: 1, per: 'total', hard: true } } },
  // As an S3 bucket would be, all nodes see it.
  env: { ASSETS_URL: `file://${temporaryFolder()}` },
})
const { database, provider } = cluster

function generate(model: string, idempotencyKey: string): Promise<Asked> {
  const headers = { 'idempotency-key': idempotencyKey, 'content-type': 'application/json' }
  return askPatiently(
    cluster,
    { model, prompt: 'A gate', size: '64x64' },
    { path: '/v1/images/generations', key: KEY, headers },
  )
}

async function rowsOf(model: string): Promise<string[]> {
  const rows = await database.query<{ kind: string; amount: number }>(
    'SELECT kind, amount_nano::float8 AS amount FROM usage_events WHERE model = $1 ORDER BY 1',
    [model],
  )
  return rows.map(({ kind, amount }) => `${kind} ${amount}`)
}

const purchases = (scenario: string): number =>
  provider.entries().filter((entry) => entry.scenario === scenario && entry.served).length

test('a replayed request gives the same bytes on every node, and no second image for nothing', async () => {
  const answers = await Promise.all(Array.from({ length: 30 }, () => generate('paid-image', 'same')))
  for (const { status, text } of answers) assert.equal(status, 200, text.slice(0, 300))
  answers.push(await generate('paid-image', 'same'), await generate('paid-image', 'same'))
  assert.equal(new Set(answers.map(({ text }) => text)).size, 1)
  assert.equal(purchases('slow-300'), 1)
  assert.deepEqual(await rowsOf('paid-image'), [`post ${NANO_USD}`])
})

test('an image whose answer was lost is not bought again, and stays counted until it is resolved', async () => {
  for (let time = 0; time < 6; time += 1) {
    const { status, headers, body } = await generate('lost-image', 'lost')
    assert.deepEqual([status, body.error.code], [424, 'outcome_unknown'])
    assert.equal(headers.get('x-should-retry'), 'false')
  }
  assert.equal(purchases('serves-then-resets'), 1)
  assert.deepEqual(await rowsOf('lost-image'), [`unknown ${NANO_USD}`])
})
