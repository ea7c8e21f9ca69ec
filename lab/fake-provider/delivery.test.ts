import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { startFakeProvider } from './server.ts'
import { embed, question } from './test-client.ts'

const provider = await startFakeProvider()
after(() => provider.close())

describe('traits about time, state and connections', () => {
  it('slow-N waits', async () => {
    const startMs = performance.now()
    await embed(`${provider.url}/slow-120`)
    // A timer may fire up to a millisecond early.
    assert.ok(performance.now() - startMs >= 119)
  })

  it('rate-limited-N lets N calls a second through, for each key', async () => {
    const statuses = async (key: string) => {
      const answers = await Promise.all(
        [1, 2, 3, 4].map(() => embed(`${provider.url}/rate-limited-3`, {}, { 'api-key': key })),
      )
      return answers.map(({ status }) => status).sort((left, right) => left - right)
    }
    assert.deepEqual(await statuses('one'), [200, 200, 200, 429])
    assert.deepEqual(await statuses('two'), [200, 200, 200, 429])
    const refused = await embed(`${provider.url}/rate-limited-0`)
    assert.equal(refused.headers.get('retry-after'), '1')
  })

  it('fails-first-N fails N times, for each key and each key-<word>', async () => {
    const statuses = async (scenario: string, key: string) => {
      const first = await embed(`${provider.url}/${scenario}`, {}, { authorization: key })
      const second = await embed(`${provider.url}/${scenario}`, {}, { authorization: key })
      const third = await embed(`${provider.url}/${scenario}`, {}, { authorization: key })
      return [first.status, second.status, third.status]
    }
    assert.deepEqual(await statuses('fails-first-2', 'one'), [500, 500, 200])
    assert.deepEqual(await statuses('fails-first-2', 'two'), [500, 500, 200])
    assert.deepEqual(await statuses('fails-first-2+key-mine', 'one'), [500, 500, 200])
    assert.deepEqual(await statuses('fails-first-2', 'one'), [200, 200, 200])
  })

  it('leaks-key repeats the credential', async () => {
    const answer = await embed(`${provider.url}/leaks-key`, {}, { authorization: 'Bearer sk-very-secret' })
    assert.equal(answer.status, 400)
    assert.match(answer.json().error?.message ?? '', /Bearer sk-very-secret/)
  })

  for (const trait of ['reset', 'serves-then-resets']) {
    it(`${trait} resets the connection before any byte`, async () => {
      await assert.rejects(embed(`${provider.url}/${trait}`), (error: Error) => {
        assert.equal((error.cause as NodeJS.ErrnoException).code, 'ECONNRESET')
        return true
      })
    })
  }

  for (const trait of ['half-body', 'half-body-chunked']) {
    it(`${trait} ends in the middle`, async () => {
      const { text } = await embed(`${provider.url}/plain`)
      const answer = await fetch(`${provider.url}/${trait}/v1/embeddings`, {
        method: 'POST',
        body: JSON.stringify(question),
      })
      assert.equal(answer.status, 200)
      assert.equal(answer.headers.has('content-length'), trait === 'half-body')
      let received = ''
      const reading = async () => {
        for await (const chunk of answer.body ?? []) received += Buffer.from(chunk).toString('latin1')
      }
      await assert.rejects(reading)
      assert.equal(received, text.slice(0, Math.floor(text.length / 2)))
    })
  }

  it('never never answers', async () => {
    const waiting = fetch(`${provider.url}/never/v1/embeddings`, {
      method: 'POST',
      body: JSON.stringify(question),
      signal: AbortSignal.timeout(200),
    })
    await assert.rejects(waiting, { name: 'TimeoutError' })
    const entry = provider.entries().at(-1)
    assert.deepEqual([entry?.scenario, entry?.served, entry?.status], ['never', false, null])
  })
})
