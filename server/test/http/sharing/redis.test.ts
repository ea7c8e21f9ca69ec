import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bitsOf } from '#test/support/arbitraries.ts'
import { startGateway, vectorsIn, type Gateway } from '#test/support/gateway.ts'
import { askPatiently } from '#test/support/patience.ts'
import { eventually } from '#test/support/process.ts'
import { startRedisServer } from '#test/support/servers.ts'
import { vectorOf } from '../../../../lab/fake-provider/vectors.ts'

const redis = await startRedisServer()
const start = (secret: string): Promise<Gateway> =>
  startGateway({
    env: { CACHE_URL: redis.url, TORANA_SECRET: secret.repeat(3) },
    models: { 'shared-w16': { on: 'plain', cache: { ttl: '30d' } } },
  })
const [one, other, stranger] = await Promise.all([
  start('one secret'),
  start('one secret'),
  start('another one'),
])
const texts = Array.from({ length: 100 }, (_, index) => `text ${index}`)

async function ask(gateway: Gateway, input: readonly string[]): Promise<string | null> {
  const answer = await askPatiently(gateway, { model: 'shared-w16', input })
  assert.equal(answer.status, 200, answer.text)
  assert.deepEqual(
    vectorsIn(answer).map(bitsOf),
    input.map((text) => bitsOf(vectorOf(text, 16))),
  )
  return answer.headers.get('x-torana-cache')
}

test('what one gateway has cached, another with the same secret need not ask for', async () => {
  // The cache is written after the answer, once Redis is ready.
  await eventually(async () => {
    await askPatiently(
      one,
      { model: 'shared-w16', input: texts },
      { headers: { 'cache-control': 'no-cache' } },
    )
    assert.equal(await ask(other, texts), 'hits=100, misses=0')
  })
  const made = other.provider.counters().calls
  assert.equal(await ask(other, texts.toReversed()), 'hits=100, misses=0')
  assert.equal(other.provider.counters().calls, made)
  assert.equal(await ask(stranger, texts), 'hits=0, misses=100', 'another secret makes other keys')
})

test('without Redis everybody is answered, from what is near and from upstreams; when it is back it is used again', async () => {
  await redis.kill9()
  assert.equal(await ask(one, [...texts, 'new']), 'hits=100, misses=1')
  assert.equal(await ask(other, ['new']), 'hits=0, misses=1')
  await redis.restart()
  await eventually(async () => {
    const fresh = [`back at ${process.hrtime.bigint()}`]
    await ask(one, fresh)
    assert.equal(await ask(other, fresh), 'hits=1, misses=0')
  })
})

test('a stalled Redis delays no request for good', async () => {
  redis.pause()
  try {
    assert.equal(await ask(one, ['while it stands still']), 'hits=0, misses=1')
  } finally {
    redis.resume()
  }
})
