import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { after, test } from 'node:test'
import { buildConnector } from 'undici'
import { hasMedia, identityOf } from '#core/content/content.ts'
import { FairShare } from '#core/schedule/fair-share.ts'
import { defaultLimits } from '#core/settings.ts'
import { DiskUploads } from '#stores/uploads/disk.ts'
import { pngOf, wavOf } from '#test/support/media.ts'
import { GuardedPictureFetcher } from '#upstreams/connect/picture-fetch.ts'
import { readContents } from './read-contents.ts'
import type { TakenMedia } from './take-media.ts'

const folder = mkdtempSync(join(tmpdir(), 'torana-contents-'))
after(() => rmSync(folder, { recursive: true }))
const uploads = await DiskUploads.open(folder, { maxBytes: 64 * 1024 * 1024 })
const png = await pngOf(30, 20)
const large = Buffer.concat([png, Buffer.alloc(300 * 1024)])
const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

const accepted: unknown[] = []
const serve: RequestListener = ({ url, headers }, response) => {
  accepted.push(headers.accept)
  if (url === '/small.png') response.end(png)
  else if (url === '/large.png') response.end(large)
  else if (url === '/sound') response.end(wavOf(1))
  else response.writeHead(404).end()
}
const site = createServer(serve).listen(0, '127.0.0.1')
after(() => site.close())
await once(site, 'listening')
const port = String((site.address() as AddressInfo).port)

/** Every address leads to the site. */
const connect = buildConnector({ timeout: 2000 })
const fetcher = new GuardedPictureFetcher({
  connectTimeoutMs: 2000,
  allowHttp: true,
  lookup: async () => [{ address: '93.184.215.14', family: 4 }],
  connectTo: () => (options, callback) => connect({ ...options, hostname: '127.0.0.1', port }, callback),
})
const memory = new FairShare({ capacity: 64 * 1024 * 1024, headroom: 3, maxWaiting: 10 })
const outside = { uploads, fetcher, memory, wait, yieldOnArrival: async () => {} }

async function read(addresses: readonly string[], limits: Partial<typeof defaultLimits>) {
  let taken: TakenMedia | undefined
  const content = addresses.map((url) => ({ type: 'image_url', image_url: { url } }))
  const parsed = {
    value: { model: 'm', input: [{ content }] },
    exact: undefined,
    media: { files: [], characters: 100 },
  }
  const reading = { project: 'p', path: undefined, hold: (media: TakenMedia) => void (taken = media) }
  try {
    const { asked } = await readContents(parsed, reading, {
      ...outside,
      limits: { ...defaultLimits, ...limits },
    })
    assert.ok(asked.input.kind === 'contents')
    const [parts = []] = asked.input.contents.map(({ parts: all }) => all)
    const sizes = parts.map((part) => (hasMedia(part) ? part.media.size : 'address'))
    return { sizes, files: uploads.inUse().files, identity: identityOf({ parts }) }
  } finally {
    await taken?.[Symbol.asyncDispose]()
    assert.deepEqual([uploads.inUse().files, memory.free], [0, 64 * 1024 * 1024])
  }
}

test('addresses are fetched where the operator allows it, and stay addresses elsewhere', async () => {
  const both = ['http://public.example/small.png', 'http://public.example/large.png']
  assert.deepEqual(await read(both, { fetchImageUrls: true }), {
    sizes: [png.length, large.length],
    files: 1,
    // By their bytes, as if they had come in the body: the cache and requests that share a call know them by it.
    identity: [png, large].map((bytes) => `image png ${sha256(bytes)}\n`).join(''),
  })
  assert.equal(accepted.at(-1), 'image/*, audio/*, video/*, application/pdf')
  const asked = accepted.length
  assert.deepEqual(await read(both, {}), { sizes: ['address', 'address'], files: 0, identity: undefined })
  assert.deepEqual(await read(['gs://bucket/a.png'], { fetchImageUrls: true }), {
    sizes: ['address'],
    files: 0,
    identity: undefined,
  })
  assert.equal(accepted.length, asked)
})

const FAULTS: readonly (readonly [address: string, limits: Partial<typeof defaultLimits>, code: string])[] = [
  ['http://public.example/none.png', {}, 'media_unreachable'],
  ['http://public.example/large.png', { contentPartBytes: 1000 }, 'media_unreachable'],
  ['http://public.example/sound', {}, 'invalid_media'],
  ['http://public.example/small.png', { maxPictureEdge: 20 }, 'media_too_large'],
]
for (const [address, limits, code] of FAULTS)
  test(`${address} with ${JSON.stringify(limits)}: ${code}, and nothing is left`, () =>
    assert.rejects(
      read(['http://public.example/large.png', address].slice(code === 'media_unreachable' ? 1 : 0), {
        ...limits,
        fetchImageUrls: true,
      }),
      { code },
    ))
