import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import OpenAI from 'openai'
import sharp from 'sharp'
import { startFakeProvider } from '../server.ts'
import { assertLogged, generate, lastPurchase, order } from './test-client.ts'

const provider = await startFakeProvider()
after(() => provider.close())

type StreamEvent = Awaited<ReturnType<typeof eventsOf>>[number]

/** What the official client makes of the stream. */
async function eventsOf(traits: string, fields: { n?: number; partial_images?: number } = {}) {
  const client = new OpenAI({ baseURL: `${provider.url}/${traits}/v1`, apiKey: 'sk', maxRetries: 0 })
  const stream = await client.images.generate({ ...order, size: '512x512', ...fields, stream: true })
  return await Array.fromAsync(stream)
}

function finished(events: StreamEvent[]) {
  return events.filter((event) => event.type === 'image_generation.completed')
}

describe('a stream of pictures', () => {
  for (const traits of [
    'plain',
    'sse-done',
    'sse-comments',
    'sse-crlf',
    'chunked-97',
    'chunked-5000',
    'event-gap-10',
  ]) {
    it(`${traits}: the official client reads previews, then the picture that is in the log`, async () => {
      const events = await eventsOf(traits, { partial_images: 2, n: 2 })
      const partial = 'image_generation.partial_image'
      const completed = 'image_generation.completed'
      assert.deepEqual(
        events.map(({ type }) => type),
        [partial, partial, completed, partial, partial, completed],
      )
      const previews = events.filter((event) => event.type === partial)
      assert.deepEqual(
        previews.map((event) => event.partial_image_index),
        [0, 1, 0, 1],
      )
      for (const { b64_json } of previews) {
        const { width, height } = await sharp(Buffer.from(b64_json, 'base64')).metadata()
        assert.deepEqual([width, height], [512, 512])
      }
      const pictures = finished(events).map(({ b64_json }) => Buffer.from(b64_json, 'base64'))
      await assertLogged(pictures, lastPurchase(provider))
    })
  }

  it('the usage of all events together is that of the same answer in one piece, and the previews', async () => {
    const whole = (await generate(`${provider.url}/plain`, { size: '512x512', n: 2 })).json().usage
    const usages = finished(await eventsOf('plain', { n: 2, partial_images: 3 })).map(({ usage }) => usage)
    const sum = (name: 'input_tokens' | 'output_tokens' | 'total_tokens') =>
      usages.reduce((total, usage) => total + usage[name], 0)
    assert.equal(sum('input_tokens'), whole?.input_tokens)
    assert.equal(sum('output_tokens'), (whole?.output_tokens ?? 0) + 2 * 3 * 100)
    assert.equal(sum('total_tokens'), sum('input_tokens') + sum('output_tokens'))
    assert.ok(!('usage' in (finished(await eventsOf('no-usage'))[0] ?? {})))
  })

  it('usage-first, usage-last: one event counts for all', async () => {
    const whole = (await generate(`${provider.url}/plain`, { size: '512x512', n: 2 })).json().usage
    const usages = async (trait: string) =>
      finished(await eventsOf(trait, { n: 2 })).map(({ usage }) => usage)
    assert.deepEqual(await usages('usage-first'), [whole, undefined])
    assert.deepEqual(await usages('usage-last'), [undefined, whole])
  })

  it('has the bytes of an SSE: an event name, one line of data, a blank line', async () => {
    const { text, headers } = await generate(`${provider.url}/sse-done`, { stream: true, partial_images: 1 })
    assert.equal(headers.get('content-type'), 'text/event-stream')
    assert.match(
      text,
      /^event: image_generation\.partial_image\ndata: \{.*\}\n\nevent: image_generation\.completed\ndata: \{.*\}\n\ndata: \[DONE\]\n\n$/,
    )
  })

  it('sse-error: one preview, then an error that the client throws; charged', async () => {
    await assert.rejects(eventsOf('sse-error', { partial_images: 2 }), /The server had an error/)
    assert.deepEqual([lastPurchase(provider)?.served, lastPurchase(provider)?.pictures?.length], [true, 1])
    const { text } = await generate(`${provider.url}/sse-error`, { stream: true, partial_images: 2 })
    assert.equal(text.match(/event: image_generation.partial_image/g)?.length, 1)
    assert.match(text, /event: error\ndata: \{"type":"error","error":\{"message"/)
  })

  it('sse-cut: one preview, then the connection is gone; charged', async () => {
    await assert.rejects(eventsOf('sse-cut', { partial_images: 2 }))
    assert.deepEqual([lastPurchase(provider)?.served, lastPurchase(provider)?.pictures?.length], [true, 1])
  })

  it('an error before the stream is an ordinary answer', async () => {
    const answer = await generate(`${provider.url}/status-503`, { stream: true })
    assert.equal(answer.status, 503)
    assert.equal(answer.json().error?.type, 'server_error')
  })
})
