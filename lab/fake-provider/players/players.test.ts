import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startFakeProvider } from '../server.ts'
import { fixedPath } from './fixed.ts'

const provider = await startFakeProvider()
after(() => provider.close())

function post(path: string, body: object): Promise<Response> {
  return fetch(`${provider.url}/${path}`, { method: 'POST', body: JSON.stringify(body) })
}

test('a fixed upstream answers as many vectors as texts, and counts calls since it was last asked', async () => {
  const played = fixedPath({ width: 8, parallel: 2, callMs: 1, inputMs: 1 })
  const answer = await post(`${played}/v1/embeddings`, { input: ['a', 'b', 'c'] })
  const { data } = (await answer.json()) as { data: { embedding: string }[] }
  assert.deepEqual(
    data.map(({ embedding }) => Buffer.from(embedding, 'base64').length),
    [32, 32, 32],
  )
  await post(`${played}/v1/embeddings`, { input: 'a' })
  const counters = async (): Promise<unknown> => {
    const { several, single } = (await (await fetch(`${provider.url}/${played}/counters`)).json()) as Record<
      'several' | 'single',
      { calls: number; inputs: number; busyMs: number }
    >
    return [several.calls, several.inputs, several.busyMs, single.calls, single.busyMs]
  }
  assert.deepEqual(await counters(), [1, 3, 4, 1, 2])
  assert.deepEqual(await counters(), [0, 0, 0, 0, 0])
})

test('calls beyond `parallel` queue', async () => {
  const played = fixedPath({ width: 8, parallel: 1, callMs: 30, inputMs: 0 })
  const startMs = performance.now()
  await Promise.all(Array.from({ length: 3 }, () => post(`${played}/v1/embeddings`, { input: 'a' })))
  assert.ok(performance.now() - startMs >= 88)
})

test('hostile, quoting and soak answer, and none is in the log', async () => {
  assert.equal((await post('hostile/v1/embeddings', { input: '@@fail@@' })).status, 500)
  assert.equal((await post('hostile/v1/embeddings', { input: 'a' })).status, 200)
  await post('quoting/v1/embeddings', { input: 'a' })
  assert.equal((await post('quoting/v1/embeddings', { input: 'a' })).status, 200)
  assert.deepEqual(await (await fetch(`${provider.url}/quoting/`)).json(), { calls: 2, shared: 0 })
  assert.equal((await post('soak/steady/v1/embeddings', { input: 'a' })).status, 200)
  const records = (await (await fetch(`${provider.url}/soak/_calls`)).json()) as { served: boolean }[]
  assert.deepEqual(
    records.map(({ served }) => served),
    [true],
  )
  assert.deepEqual(provider.entries(), [])
})
