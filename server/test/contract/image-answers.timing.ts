/** The largest answers: the event loop goes on while they are read. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { after, test } from 'node:test'
import { setImmediate as yieldLoop } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import type { ImageAnswer, ImageUpstream } from '#ports/image-upstream.ts'
import { anImageCall, anImageDeployment } from '#test/support/images.ts'
import { longestRoundMs } from '#test/support/loop-watch.ts'
import { UpstreamHttp } from '#upstreams/connect/http.ts'
import { imageRegistry } from '#upstreams/image-registry.ts'
import { GuardedPictureFetcher } from '#upstreams/connect/picture-fetch.ts'

/** The most CPU time that one turn of the event loop may take. */
const MAX_ROUND_MS = 20

/** In a separate thread, so that only the reader is measured. */
const SERVER = `
const { createServer } = require('node:http')
const { parentPort, workerData: { picture } } = require('node:worker_threads')
const b64_json = Buffer.from(picture).toString('base64')
const json = Buffer.from(JSON.stringify({ data: Array(10).fill({ b64_json }) }))
const event = (type, n) => 'event: ' + type + '\\ndata: ' + JSON.stringify({ type, b64_json: b64_json.repeat(n) }) + '\\n\\n'
const stream = Buffer.from(event('image_generation.partial_image', 3) + event('image_generation.completed', 3))
createServer((request, response) => {
  if (request.url.startsWith('/stream')) response.writeHead(200, { 'content-type': 'text/event-stream' }).end(stream)
  else if (request.url.startsWith('/picture')) response.end(picture)
  else if (request.url.startsWith('/url')) response.end(JSON.stringify({ data: [{ url: 'http://' + request.headers.host + '/picture' }] }))
  else response.end(json)
}).listen(0, '127.0.0.1', function () { parentPort.postMessage(this.address().port) })`

/** A multiple of three bytes: repeated base64 of it is base64 of it repeated. */
const picture = randomBytes(7_999_998)
const worker = new Worker(SERVER, { eval: true, workerData: { picture } })
const [port] = (await once(worker, 'message')) as [number]
const http = new UpstreamHttp({ connectTimeoutMs: 5_000, answerBytes: 1, yieldOnSending: yieldLoop })
const unused: ImageUpstream = { generate: () => Promise.reject(new Error('not asked')) }
const images = imageRegistry(http, {
  fetcher: new GuardedPictureFetcher({ connectTimeoutMs: 5_000 }),
  answerBytes: 256 * 1024 * 1024,
  others: { 'ai-sdk': unused, demo: unused },
})
after(async () => {
  await http.close()
  await worker.terminate()
})

function generate(path: string): Promise<ImageAnswer> {
  const deployment = anImageDeployment({ upstream: { baseUrl: `http://127.0.0.1:${port}/${path}` } })
  return images.generate(anImageCall({ deployment, images: 10, partialImages: 1, timeoutMs: 60_000 }), {
    submitted: async () => {},
    partial: () => {},
  })
}

for (const [title, path, pictures, bytes] of [
  ['ten pictures of 8 MB in one piece of JSON', 'json', 10, picture.length],
  ['events of 24 MB', 'stream', 1, picture.length * 3],
  ['an address of 8 MB', 'url', 1, picture.length],
] as const) {
  test(`the event loop goes on: ${title}`, async () => {
    let made: ImageAnswer['pictures'] = []
    const longestMs = await longestRoundMs(MAX_ROUND_MS, async () => {
      made = (await generate(path)).pictures
    })
    assert.ok(longestMs < MAX_ROUND_MS, `held for ${longestMs} ms`)
    assert.equal(made.length, pictures)
    for (const one of made) {
      assert.equal(one.bytes.length, bytes)
      assert.ok(picture.equals(one.bytes.subarray(0, picture.length)))
    }
  })
}
