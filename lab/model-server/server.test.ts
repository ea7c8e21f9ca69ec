import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import OpenAI from 'openai'
import { fromBase64 } from '../fake-provider/vectors.ts'
import { sampleTexts } from './ceiling.ts'
import { startModelServer, type Ceiling, type ModelServer } from './server.ts'

let server: ModelServer
let client: OpenAI

before(async () => {
  server = await startModelServer()
  client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: 'none', maxRetries: 0 })
})
after(() => server.close())

const model = 'demo-embed'

describe('the model server', () => {
  it('puts texts of like meaning close together', async () => {
    const { data, usage } = await client.embeddings.create({ model, input: ['cat', 'kitten', 'car'] })
    const [cat = [], kitten = [], car = []] = data.map(({ embedding }) => embedding)
    assert.equal(cat.length, 512)
    assert.ok(cosine(cat, kitten) > cosine(cat, car) + 0.1)
    assert.equal(usage.prompt_tokens, 3)
  })

  it('answers the same float32 values as floats and as base64', async () => {
    const input = 'a string on its own'
    const floats = await client.embeddings.create({ model, input, encoding_format: 'float' })
    const base64 = await client.embeddings.create({ model, input, encoding_format: 'base64' })
    const text = base64.data[0]?.embedding as unknown as string
    assert.deepEqual(Float32Array.from(floats.data[0]?.embedding ?? []), fromBase64(text))
  })

  it('keeps order and vectors when a request takes several runs', async () => {
    const input = Array.from({ length: 70 }, (_, position) => `sentence ${position}`)
    const [many, alone] = await Promise.all([
      client.embeddings.create({ model, input }),
      client.embeddings.create({ model, input: 'sentence 69' }),
    ])
    assert.equal(many.data.length, 70)
    assert.deepEqual(many.data[69]?.embedding, alone.data[0]?.embedding)
  })

  it('runs the texts of one call together, and those of different calls never', async () => {
    const runsOf = async (work: () => Promise<unknown>) => {
      const before = server.counters()
      await work()
      const after = server.counters()
      return { runs: after.runs - before.runs, texts: after.texts - before.texts }
    }
    const input = sampleTexts(16)
    const apart = async () =>
      Promise.all(input.map((text) => client.embeddings.create({ model, input: text })))
    assert.deepEqual(await runsOf(apart), { runs: 16, texts: 16 })
    const together = async () => client.embeddings.create({ model, input })
    assert.deepEqual(await runsOf(together), { runs: 1, texts: 16 })
    assert.deepEqual(await (await fetch(`${server.url}/counters`)).json(), server.counters())
  })

  it('answers the same vector from a batch as alone', async () => {
    const input = sampleTexts(9)
    const { data } = await client.embeddings.create({ model, input })
    const { data: alone } = await client.embeddings.create({ model, input: input[4] ?? '' })
    assert.ok(cosine(data[4]?.embedding ?? [], alone[0]?.embedding ?? []) > 0.999999)
  })

  it('measures its ceiling by the size of the batch', async () => {
    const answer = await fetch(`${server.url}/ceiling`)
    const { words, ceiling } = (await answer.json()) as Ceiling
    assert.equal(words, 4)
    assert.deepEqual(
      ceiling.map(({ batch }) => batch),
      [1, 8, 16, 32, 64],
    )
    for (const { runs, runMs, textsPerSecond } of ceiling) {
      assert.ok(runs >= 5 && runMs > 0 && textsPerSecond > 0)
    }
    assert.equal((await fetch(`${server.url}/ceiling?words=0`)).status, 400)
  })

  it('works on one core', async () => {
    const ratios: number[] = []
    for (let round = 0; round < 3; round += 1) {
      const before = server.counters()
      const startCpu = process.cpuUsage()
      await client.embeddings.create({ model, input: sampleTexts(128) })
      const { user, system } = process.cpuUsage(startCpu)
      ratios.push((user + system) / 1000 / (server.counters().cpuMs - before.cpuMs))
    }
    // The rest is HTTP, JSON, the compiler and the garbage collector, which do not work in every round; a second thread of the model would.
    assert.ok(Math.min(...ratios) < 1.7, ratios.join(', '))
  })

  it('lists its model', async () => {
    const { data } = await client.models.list()
    assert.deepEqual(
      data.map(({ id }) => id),
      [model],
    )
    assert.equal((await client.models.retrieve(model)).id, model)
  })

  const refused: [title: string, body: object, status: number][] = [
    ['another model', { model: 'other', input: 'x' }, 404],
    ['an empty text', { model, input: '' }, 400],
    ['tokens', { model, input: [1, 2, 3] }, 400],
    ['dimensions', { model, input: 'x', dimensions: 64 }, 400],
    ['a text of 8001 characters', { model, input: 'x'.repeat(8001) }, 400],
  ]
  for (const [title, body, status] of refused) {
    it(`refuses ${title} with ${status} in OpenAI's shape`, async () => {
      const answer = await fetch(`${server.url}/v1/embeddings`, {
        method: 'POST',
        body: JSON.stringify(body),
      })
      assert.equal(answer.status, status)
      const { error } = (await answer.json()) as { error: object }
      assert.deepEqual(Object.keys(error).sort(), ['code', 'message', 'param', 'type'])
    })
  }

  // The last test: it leaves a request behind that only closing the server ends.
  it('answers 429 at once when more texts would wait than its queue holds', async () => {
    const input = Array.from({ length: 1025 }, () => 'x')
    const requests = [1, 2].map(async () => client.embeddings.create({ model, input }))
    await assert.rejects(Promise.race(requests), { status: 429 })
    for (const request of requests) request.catch(() => {})
  })
})

/** Vectors have unit length. */
function cosine(left: number[], right: number[]): number {
  return left.reduce((sum, value, position) => sum + value * (right[position] ?? 0), 0)
}
