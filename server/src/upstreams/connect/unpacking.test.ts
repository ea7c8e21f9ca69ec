import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import { setImmediate as yieldLoop } from 'node:timers/promises'
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { BrokenAnswer } from '#core/fault/broken-answer.ts'
import { HttpTooLarge, UpstreamHttp, type HttpAnswer } from './http.ts'
import { GuardedPictureFetcher } from './picture-fetch.ts'

const PACKED: Readonly<Record<string, readonly [coding: string, pack: (bytes: Buffer) => Buffer]>> = {
  gzip: ['gzip', gzipSync],
  'x-gzip in capitals': ['X-GZIP', gzipSync],
  brotli: ['br', brotliCompressSync],
  zstd: ['zstd', zstdCompressSync],
  deflate: ['deflate', deflateSync],
  'deflate without its format': ['deflate', deflateRawSync],
  'identity beside gzip': ['identity, gzip', gzipSync],
  identity: ['identity', (bytes) => bytes],
}

const ANSWER_BYTES = 1_000_000
const TEXT = Buffer.from(
  JSON.stringify(Array.from({ length: 5000 }, (_, index) => `number ${index * index}`)),
)

interface Plan {
  readonly status?: number
  readonly coding: string
  readonly body: Buffer
  /** Bytes of each write; undefined for all at once. */
  readonly step?: number
}

let plan: Plan
async function write(response: ServerResponse, { status = 200, coding, body, step = body.length }: Plan) {
  response.writeHead(status, { 'content-encoding': coding })
  for (let at = 0; at < body.length; at += step) {
    response.write(body.subarray(at, at + step))
    await yieldLoop()
  }
  response.end()
}
const server = createServer((request, response) => {
  request.resume().on('end', () => void write(response, plan))
}).listen(0, '127.0.0.1')
await once(server, 'listening')
// Packing a bomb takes longer than the server would wait for the next call.
server.keepAliveTimeout = 600_000
const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
const http = new UpstreamHttp({
  connectTimeoutMs: 5000,
  answerBytes: ANSWER_BYTES,
  yieldOnSending: yieldLoop,
})
after(async () => {
  server.closeAllConnections()
  server.close()
  await http.close()
})

async function asked(next: Plan): Promise<HttpAnswer & { readonly bytes: Buffer }> {
  plan = next
  const chunks: Uint8Array[] = []
  const call = { origin, path: '/', headers: [], body: '{}', timeoutMs: 60_000 }
  const answer = await http.post(call, { push: (chunk) => void chunks.push(chunk) })
  return { ...answer, bytes: Buffer.concat(chunks) }
}

const picturesOf = (maxBytes: number): Promise<Uint8Array> =>
  new GuardedPictureFetcher({ connectTimeoutMs: 5000 }).fetch(`${origin}/picture`, {
    trustedOrigin: origin,
    timeoutMs: 60_000,
    maxBytes,
  })

for (const [title, [coding, pack]] of Object.entries(PACKED)) {
  test(`an answer in ${title} is read, however it is cut`, async () => {
    const body = pack(TEXT)
    for (const step of [undefined, 4099, 7]) {
      const { bytes } = await asked({ coding, body, ...(step === undefined ? {} : { step }) })
      assert.ok(bytes.equals(TEXT), `in steps of ${step}: ${bytes.length} bytes`)
    }
    const small = Buffer.from('{"a":1}')
    assert.ok((await asked({ coding, body: pack(small), step: 1 })).bytes.equals(small))
  })

  test(`an error in ${title} keeps its words`, async () => {
    const words = Buffer.from('{"error":{"message":"no such model"}}')
    const { status, errorBody } = await asked({ status: 404, coding, body: pack(words), step: 1 })
    assert.deepEqual([status, errorBody], [404, String(words)])
    assert.equal((await asked({ status: 500, coding, body: Buffer.alloc(0) })).errorBody, '')
  })

  test(`a picture in ${title} is fetched, up to its limit`, async () => {
    plan = { coding, body: pack(TEXT), step: 4099 }
    assert.ok(Buffer.from(await picturesOf(TEXT.length)).equals(TEXT))
    await assert.rejects(picturesOf(TEXT.length - 1), HttpTooLarge)
  })
}

test('a bomb ends at the limit of what is read, counted as it unpacks', async () => {
  const bomb = Buffer.alloc(16 * 1024 * 1024, '1')
  for (const [coding, pack] of [PACKED['gzip'], PACKED['brotli'], PACKED['zstd']].filter(
    (entry) => entry !== undefined,
  )) {
    plan = { coding, body: pack(bomb) }
    let taken = 0
    const call = { origin, path: '/', headers: [], body: '{}', timeoutMs: 60_000 }
    await assert.rejects(http.post(call, { push: ({ length }) => void (taken += length) }), HttpTooLarge)
    assert.ok(taken <= ANSWER_BYTES, `${taken} bytes`)
    const { errorBody } = await asked({ ...plan, status: 500 })
    assert.equal(errorBody.length, 64 * 1024)
  }
})

test('an answer that is cut off, or is not what it says, is broken; of an error, what was read is kept', async () => {
  for (const [title, [coding, pack]] of Object.entries(PACKED)) {
    if (coding === 'identity') continue
    const body = pack(TEXT)
    const half = body.subarray(0, Math.floor(body.length / 2))
    await assert.rejects(asked({ coding, body: half }), BrokenAnswer, title)
    assert.equal((await asked({ coding, body: half, status: 500 })).status, 500)
    const cut = { trustedOrigin: origin, timeoutMs: 60_000, maxBytes: ANSWER_BYTES }
    plan = { coding, body: half }
    await assert.rejects(
      new GuardedPictureFetcher({ connectTimeoutMs: 5000 }).fetch(origin, cut),
      BrokenAnswer,
    )
  }
  await assert.rejects(asked({ coding: 'gzip', body: TEXT }), /not gzip, as it says/)
})

test('a coding that nobody knows, and one within another, are named; the status of an error is kept', async () => {
  for (const coding of ['compress', 'gzip, br', '__proto__']) {
    await assert.rejects(asked({ coding, body: TEXT }), (error: unknown) => {
      assert.ok(error instanceof BrokenAnswer && error.isLasting)
      assert.ok(error.message.includes(`content coding "${coding}"`), error.message)
      return true
    })
    const { status, errorBody } = await asked({ status: 429, coding, body: TEXT })
    assert.deepEqual([status, errorBody], [429, ''])
  }
})
