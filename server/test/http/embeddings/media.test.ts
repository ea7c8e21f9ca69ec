/** Media in requests: what is refused, with which part, on the event loop and in the thread for large bodies; and what is left. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import type { FaultCode } from '#core/fault/fault.ts'
import { contentVector } from '../../../../lab/fake-provider/contents.ts'
import { eventually } from '#test/support/process.ts'
import { uploadsGone } from '#test/support/edits.ts'
import { assertFault } from '#test/support/errors.ts'
import { startGateway } from '#test/support/gateway.ts'
import { openFilesIn } from '#test/support/system.ts'
import { gifOf, pdfOf, pngOf, wavOf } from '#test/support/media.ts'

const KB = 1024
const limits = {
  embeddingsBodyBytes: 1500 * KB,
  contentsBodyBytes: 8 * KB * KB,
  contentPartBytes: 3 * KB * KB,
  maxContentSeconds: 10,
  maxContentPages: 4,
  maxPictureEdge: 100,
}
const contents = {
  wire: 'openrouter',
  inputs: ['text', 'image', 'audio', 'video', 'file'],
  fuses: true,
  maxParts: 8,
}
const taking = (on: string) => ({ on, upstream: { base: 'openrouter/api/v1' }, capabilities: { contents } })
const models = { 'plain-w16': { on: 'plain' }, 'all-w16': taking('plain'), 'slow-w16': taking('slow-1500') }
const gateway = await startGateway({ models, limits })

const png = await pngOf(20, 10)
const other = await pngOf(21, 10)
/** A body of its own size is parsed on the event loop; beside this one, in the thread. */
const large = Buffer.concat([png, Buffer.alloc(1200 * KB, 1)])
const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')
const url = (bytes: Uint8Array): string => `data:image/png;base64,${Buffer.from(bytes).toString('base64')}`
const contentOf = (image: string) => ({
  content: [
    { type: 'text', text: 'x' },
    { type: 'image_url', image_url: { url: image } },
  ],
})

for (const [what, bytes] of [
  ['small', png],
  ['large', large],
] as const)
  test(`a ${what} image arrives upstream byte by byte, and nothing is left on disk`, async () => {
    const answer = await gateway.ask({
      model: 'all-w16',
      input: [contentOf(url(bytes)), contentOf(url(other))],
    })
    assert.equal(answer.status, 200, answer.text)
    const notes = gateway.provider.entries().at(-1)?.contents
    const expected = [bytes, other].map((image) => ({
      kind: 'image',
      format: 'png',
      bytes: image.length,
      sha256: sha256(image),
    }))
    assert.deepEqual(
      notes?.map(([, image]) => image),
      expected,
    )
    const vectors = [bytes, other].map((image) => contentVector(['x', image], 16))
    assert.deepEqual(
      answer.body.data.map(({ embedding }) => Float32Array.from(embedding as number[])),
      vectors,
    )
    await uploadsGone(gateway)
  })

test('media in the wrong place are refused, not left out', async () => {
  const misplaced = { content: [{ type: 'text', text: 'x' }], image: url(png) }
  assertFault(await gateway.ask({ model: 'all-w16', input: [misplaced] }), 'invalid_input', {
    param: 'input[0]',
  })
})

test('a client that leaves while its image is on the way leaves no file once the call has ended', async () => {
  const leaving = new AbortController()
  const asked = fetch(`${gateway.url}/v1/embeddings`, {
    method: 'POST',
    signal: leaving.signal,
    headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'slow-w16', input: [contentOf(url(large))] }),
  })
  const uploads = join(dirname(gateway.configFile), 'data', 'uploads')
  await eventually(async () => assert.equal(openFilesIn(uploads).length, 1))
  leaving.abort()
  await assert.rejects(asked)
  await uploadsGone(gateway)
})

test('an address in the own network is unreachable, where addresses are fetched', async () => {
  const fetching = await startGateway({
    models: { 'all-w16': taking('plain') },
    limits: { fetchImageUrls: true },
  })
  for (const address of ['https://127.0.0.1/a.png', 'https://localhost/a.png', 'http://example.com/a.png']) {
    const answer = await fetching.ask({ model: 'all-w16', input: ['text', contentOf(address)] })
    assertFault(answer, 'media_unreachable', { param: 'input[1].content[1]' })
  }
  assert.equal(fetching.provider.counters().calls, 0)
})

const REFUSED: readonly (readonly [what: string, image: string, code: FaultCode, words: RegExp])[] = [
  ['what is not base64', 'data:image/png;base64,a cat', 'invalid_media', /neither base64 nor an address/],
  ['an HEIC', url(Buffer.from('\0\0\0\x18ftypheic0000')), 'invalid_media', /HEIC/],
  ['an animated GIF', url(await gifOf(9, 9, 2)), 'invalid_media', /animated/],
  ['half an image', url(png.subarray(0, 20)), 'invalid_media', /ends before/],
  ['an image with a long edge', url(await pngOf(101, 1)), 'media_too_large', /101x1 pixels/],
  ['a long sound', url(wavOf(11)), 'media_too_large', /takes 11 seconds; at most 10/],
  ['a long PDF', url(pdfOf(5)), 'media_too_large', /5 pages; at most 4/],
  [
    'a large file',
    url(Buffer.concat([png, Buffer.alloc(3 * KB * KB)])),
    'media_too_large',
    /at most 3145728 are allowed/,
  ],
]

for (const [what, image, code, words] of REFUSED)
  test(`${what} is refused with its part, alone and beside a large image`, async () => {
    const { calls } = gateway.provider.counters()
    const small = { model: 'plain-w16', input: ['text', contentOf(image)] }
    assertFault(await gateway.ask(small), code, { param: 'input[1].content[1]', words })
    const beside = { model: 'plain-w16', input: [contentOf(url(large)), contentOf(image)] }
    assertFault(await gateway.ask(beside), code, { param: 'input[1].content[1]', words })
    assert.equal(gateway.provider.counters().calls, calls)
    await uploadsGone(gateway)
  })

test('texts and tokens stay within their own limit, in the same words', async () => {
  const words = /^The body is larger than 1536000 bytes\. Send the inputs in several requests\.$/
  const text = 'x'.repeat(1500 * KB)
  assertFault(await gateway.ask({ model: 'plain-w16', input: text }), 'body_too_large', { words })
  const tokens = Array.from({ length: 800 * KB }, () => 1)
  assertFault(await gateway.ask({ model: 'plain-w16', input: tokens }), 'body_too_large', { words })
  const beside = { model: 'plain-w16', input: [{ content: [{ type: 'text', text }, contentOf(url(png))] }] }
  assertFault(await gateway.ask(beside), 'body_too_large', {
    words: /more than 1536000 characters beside its media/,
  })
})

test('a body with media has a limit too, and its announcement is enough', async () => {
  const body = JSON.stringify({ model: 'plain-w16', input: [contentOf(url(Buffer.alloc(6 * KB * KB)))] })
  assertFault(await gateway.ask(body), 'body_too_large', { words: /8388608 bytes/ })
})

test('texts up to their limit are embedded as before', async () => {
  const answer = await gateway.ask({ model: 'plain-w16', input: ['a', 'b'] })
  assert.equal(answer.status, 200)
})
