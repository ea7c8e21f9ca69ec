/** What a caller wrote is what the upstream gets: texts that are not UTF-8 are refused, numbers keep their digits. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { after, test } from 'node:test'
import { aMask } from '#test/support/edits.ts'
import { startGateway, type Asked } from '#test/support/gateway.ts'
import { assertFault } from '#test/support/errors.ts'

/** Records every body, and answers with a vector or an image. */
const received: string[] = []
const picture = (await aMask(16, 16, () => false)).toString('base64')
const upstream = createServer((request, response) => void answer(request, response))
async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  received.push(await text(request))
  const vectors = { data: [{ index: 0, embedding: Array(16).fill(0.25) }], usage: { prompt_tokens: 1 } }
  const isPicture = request.url?.includes('images') === true
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify(isPicture ? { data: [{ b64_json: picture }] } : vectors))
}
upstream.listen(0, '127.0.0.1')
await once(upstream, 'listening')
after(() => upstream.close())
const last = (): string => received.at(-1) ?? ''
const at = { baseUrl: `http://127.0.0.1:${(upstream.address() as AddressInfo).port}/v1` }

const gateway = await startGateway({
  models: { 'plain-w16': { on: 'plain', upstream: at } },
  images: {
    'plain-image': { on: 'plain+key-image', upstream: at },
    'edit-image': {
      on: 'plain+key-edit',
      upstream: at,
      capabilities: { edits: { maxInputs: 4, bodies: ['json'] } },
    },
  },
})

async function sent(
  body: string | Buffer,
  path = '/v1/embeddings',
  type = 'application/json',
): Promise<Asked> {
  const answer = await fetch(`${gateway.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}`, 'content-type': type },
    body: typeof body === 'string' ? body : new Uint8Array(body),
  })
  const got = await answer.text()
  return { status: answer.status, headers: answer.headers, text: got, body: JSON.parse(got) as Asked['body'] }
}

const LATIN = Buffer.from('{"model":"plain-w16","prompt":"x","input":"caf\xe9"}', 'latin1')
const PLACE = LATIN.indexOf(0xe9)

test('a body that is not UTF-8 is refused with its place, and nothing is sent', async () => {
  const before = received.length
  for (const path of ['/v1/embeddings', '/v1/images/generations', '/v1/images/edits'])
    assertFault(await sent(LATIN, path), 'invalid_json', { words: new RegExp(`position ${PLACE} on`) })
  const large = Buffer.concat([LATIN, Buffer.alloc(2_000_000, ' ')])
  assertFault(await sent(large), 'invalid_json', { words: new RegExp(`position ${PLACE} on`) })
  assert.equal(received.length, before)
})

test('another charset than UTF-8 is refused by its name', async () => {
  const body = '{"model":"plain-w16","input":"a"}'
  for (const charset of ['iso-8859-1', 'utf-16', '"windows-1252"'])
    for (const path of ['/v1/embeddings', '/v1/images/generations', '/v1/images/edits'])
      assertFault(await sent(body, path, `application/json; charset=${charset}`), 'unsupported_media_type', {
        words: /charset/,
      })
  for (const charset of ['utf-8', 'UTF-8', '"utf-8"', 'us-ascii'])
    assert.equal((await sent(body, '/v1/embeddings', `application/json;charset=${charset}`)).status, 200)
})

test('a byte order mark before a request is skipped, in small bodies and in large ones', async () => {
  for (const padding of ['', ' '.repeat(2_000_000)]) {
    assert.equal((await sent(`\ufeff{"model":"plain-w16","input":"a"}${padding}`)).status, 200)
    assert.match(last(), /"input":\["a"\]/)
  }
})

const EXACT = '"seed":12345678901234567890,"scale":1.0,"limit":1e400,"deep":{"ids":[9007199254740993,7]}'

test('numbers in fields that Torana does not know reach the upstream digit by digit', async () => {
  for (const padding of ['', ' '.repeat(2_000_000)]) {
    const { status, text: words } = await sent(`{"model":"plain-w16",${EXACT},"input":"a"}${padding}`)
    assert.equal(status, 200, words)
    assert.ok(last().includes(EXACT), last())
  }
})

test('so do those of images and of edits', async () => {
  const made = await sent(`{"model":"plain-image","prompt":"a cat",${EXACT}}`, '/v1/images/generations')
  assert.equal(made.status, 200, made.text)
  assert.ok(last().includes('"seed":12345678901234567890,"scale":1.0'), last())
  const image = `{"image_url":"data:image/png;base64,${picture}"}`
  const edit = `{"model":"edit-image","prompt":"a cat","images":[${image}],${EXACT}}`
  const edited = await sent(edit, '/v1/images/edits')
  assert.equal(edited.status, 200, edited.text)
  assert.ok(last().includes('"seed":12345678901234567890'), last())
})

test('fields that Torana knows are read as numbers, however they are written', async () => {
  const { status, text: words } = await sent('{"model":"plain-w16","dimensions":1.6e1,"input":"a","x":1.0}')
  assert.equal(status, 200, words)
})
