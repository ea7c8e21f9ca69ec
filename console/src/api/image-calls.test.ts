import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { FaultError } from './faults.ts'
import { readStream } from './image-calls.ts'

const PNG = btoa('\x89PNG')
const JPEG = btoa('\xff\xd8\xff\xe0')
const event = (name: string, data: object) => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`
const PREVIEW = event('image_generation.partial_image', { partial_image_index: 1, b64_json: JPEG })
const COMPLETED = event('image_generation.completed', { b64_json: PNG })

function responseOf(pieces: readonly Uint8Array<ArrayBuffer>[]): Response {
  const body = new ReadableStream({
    start(controller) {
      for (const piece of pieces) controller.enqueue(piece)
      controller.close()
    },
  })
  return new Response(body, { headers: { 'x-torana-job': 'job-1' } })
}

test('previews and images are the same wherever the stream is cut', async () => {
  const bytes = new TextEncoder().encode(`: alive\n\n${PREVIEW}${COMPLETED.replaceAll('\n', '\r\n')}`)
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(bytes.length), { maxLength: 8 }), async (cuts) => {
      const borders = [0, ...cuts.toSorted((a, b) => a - b), bytes.length]
      const pieces = borders.slice(1).map((end, index) => bytes.slice(borders[index], end))
      const previews: unknown[] = []
      const outcome = await readStream(responseOf(pieces), ({ index, image }) =>
        previews.push([index, image.type]),
      )
      assert.deepEqual(previews, [[1, 'image/jpeg']])
      assert.deepEqual(
        outcome.images.map(({ type, size }) => [type, size]),
        [['image/png', 4]],
      )
      assert.equal(outcome.requestId, 'job-1')
    }),
  )
})

test('an event that has not ended is ignored, and an error event is thrown', async () => {
  const read = (text: string) => readStream(responseOf([new TextEncoder().encode(text)]), () => {})
  assert.deepEqual((await read(COMPLETED.trimEnd())).images, [])
  await assert.rejects(
    read(event('error', { error: { message: 'The upstream refused.', code: 'upstream_refused' } })),
    (error) => error instanceof FaultError && error.code === 'upstream_refused',
  )
})
