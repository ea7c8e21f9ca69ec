/** Stored images: who may fetch them, for how long, and how they are delivered. */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { before, test } from 'node:test'
import { assertFault } from '#test/support/errors.ts'
import { GATEWAY_KEY, startGateway, type AskOptions, type Asked } from '#test/support/gateway.ts'
import { askImages, assertImageFault, billedPictures, eventsIn, sha256 } from '#test/support/image-answers.ts'

const OTHER_KEY = 'key-of-another-project-0000001'
const options = {
  images: {
    'plain-image': { on: 'plain', image: { answersWith: 'url' }, capabilities: { maxImages: 2 } },
    'base64-image': { on: 'plain+key-base64', capabilities: { stream: true } },
    'wordy-image': { on: 'revises+extra-fields' },
    'text-image': { on: 'not-a-picture', image: { answersWith: 'url' } },
  },
  projects: { other: { keys: [{ name: 'k', secret: OTHER_KEY }] } },
}
const gateway = await startGateway(options)
const { provider } = gateway

/** An image's own link, its path without the signature, and the bytes that the upstream sent. */
let link = ''
let path = ''
let picture: Buffer = Buffer.alloc(0)
before(async () => {
  const { body, text } = await askImages(gateway, { model: 'plain-image' })
  link = body.data[0]?.url ?? assert.fail(text)
  path = new URL(link).pathname
  picture = provider.picture(billedPictures(provider).at(-1) ?? '') ?? assert.fail('the picture is not known')
})

const get = (headers: Readonly<Record<string, string>> = {}, method = 'GET', url = link): Promise<Response> =>
  fetch(url, { method, headers })
const bytesOf = async (response: Response): Promise<Buffer> => Buffer.from(await response.arrayBuffer())
/** The folder in which the node stores its images. */
const folder = (): string => join(dirname(gateway.configFile), 'data/assets')
const kept = (): string[] => readdirSync(folder(), { recursive: true, encoding: 'utf8' })

test('no prompt rests in clear beside the pictures, though the upstream rewrote and returned it', async () => {
  const { body } = await askImages(gateway, { model: 'wordy-image', prompt: 'my private diagnosis' })
  assert.match(body.data[0]?.revised_prompt ?? '', /my private diagnosis/)
  const records = kept().filter((name) => name.startsWith('jobs/') && name.endsWith('.json'))
  assert.ok(records.length > 0)
  for (const name of records)
    assert.doesNotMatch(readFileSync(join(folder(), name), 'utf8'), /diagnosis|revised/)
})

test('a signed link opens the image to anyone who has it, without a key', async () => {
  const answer = await get()
  assert.equal(answer.status, 200)
  const bytes = await bytesOf(answer)
  assert.equal(sha256(bytes), sha256(picture))
  const headers = Object.fromEntries(
    [
      'content-type',
      'content-length',
      'etag',
      'accept-ranges',
      'x-content-type-options',
      'content-security-policy',
      'content-disposition',
      'cache-control',
    ].map((name) => [name, answer.headers.get(name)]),
  )
  assert.deepEqual(headers, {
    'content-type': 'image/png',
    'content-length': String(picture.length),
    etag: `"${sha256(picture)}"`,
    'accept-ranges': 'bytes',
    'x-content-type-options': 'nosniff',
    'content-security-policy': "default-src 'none'; sandbox",
    'content-disposition': null,
    'cache-control': 'private, max-age=86400, immutable',
  })
})

const changed: [name: string, change: (url: URL) => void][] = [
  ['a later end', ({ searchParams }) => searchParams.set('exp', String(Number(searchParams.get('exp')) + 1))],
  ['another signature', ({ searchParams }) => searchParams.set('sig', `${'A'.repeat(42)}E`)],
  ['an empty signature', ({ searchParams }) => searchParams.set('sig', '')],
  ['no end', ({ searchParams }) => searchParams.delete('exp')],
  ['an end that is no number', ({ searchParams }) => searchParams.set('exp', 'never')],
  ['another picture', (url) => (url.pathname = url.pathname.replace(/-0-0$/, '-0-1'))],
]
for (const [name, change] of changed) {
  test(`a link with ${name} is not one of ours, whatever key comes with it`, async () => {
    const url = new URL(link)
    change(url)
    const ask = (rest: AskOptions): Promise<Asked> => gateway.get(url.href.slice(gateway.url.length), rest)
    assertFault(await ask({ key: undefined }), 'asset_link_invalid')
    assertFault(await ask({ key: GATEWAY_KEY }), 'asset_link_invalid')
  })
}

test('a key of the project opens it without a signature; for another project’s key it does not exist', async () => {
  const ours = await get({ authorization: `Bearer ${GATEWAY_KEY}` }, 'GET', `${gateway.url}${path}`)
  assert.equal(sha256(await bytesOf(ours)), sha256(picture))
  assertFault(await gateway.get(path, { key: OTHER_KEY }), 'not_found', { words: /There is no asset/ })
  assertFault(await gateway.get(path, { key: undefined }), 'missing_api_key')
  assertFault(await gateway.get(path, { key: 'no-such-key' }), 'invalid_api_key')
})

test('what never was is not found', async () => {
  const next = path.replace(/-0-0$/, '-0-1')
  const elsewhere = path.replace(/-0-0$/, '-7-0')
  for (const missing of [next, elsewhere, '/v1/assets/x', '/v1/assets/..%2f..%2fsecret', `${path}-1`])
    assertFault(await gateway.get(missing), 'not_found')
})

test('HEAD says all that GET would, without the bytes', async () => {
  const [head, whole] = [await get({}, 'HEAD'), await get()]
  assert.equal(head.status, 200)
  assert.equal((await bytesOf(head)).length, 0)
  for (const name of ['content-length', 'content-type', 'etag', 'accept-ranges'])
    assert.equal(head.headers.get(name), whole.headers.get(name), name)
  await whole.body?.cancel()
})

test('parts can be fetched: a range, from an offset on, the last bytes', async () => {
  const last = picture.length - 1
  const ranges: [range: string, first: number, last: number][] = [
    ['bytes=0-0', 0, 0],
    ['bytes=10-19', 10, 19],
    ['bytes=10-', 10, last],
    ['bytes=-7', last - 6, last],
    [`bytes=5-${last + 1000}`, 5, last],
    [`bytes=-${picture.length + 1000}`, 0, last],
  ]
  for (const [range, from, to] of ranges) {
    const answer = await get({ range })
    assert.equal(answer.status, 206, range)
    assert.equal(answer.headers.get('content-range'), `bytes ${from}-${to}/${picture.length}`)
    assert.equal(answer.headers.get('content-length'), String(to - from + 1))
    assert.deepEqual(await bytesOf(answer), picture.subarray(from, to + 1), range)
  }
})

test('a part beyond the end is none, and what is no range is the whole', async () => {
  for (const range of [`bytes=${picture.length}-`, 'bytes=-0']) {
    const answer = await get({ range })
    assert.equal(answer.status, 416, range)
    assert.equal(answer.headers.get('content-range'), `bytes */${picture.length}`)
  }
  for (const range of ['bytes=5-2', 'bytes=0-1,5-6', 'lines=1-2', 'bytes=-', 'bytes=a-b']) {
    const answer = await get({ range })
    assert.equal(answer.status, 200, range)
    assert.equal((await bytesOf(answer)).length, picture.length)
  }
})

test('a client that has it already gets 304', async () => {
  const etag = `"${sha256(picture)}"`
  const answer = await get({ 'if-none-match': etag })
  assert.deepEqual([answer.status, answer.headers.get('etag')], [304, etag])
  assert.equal((await bytesOf(answer)).length, 0)
  for (const header of [`W/${etag}`, `"another", ${etag}`, `"another",W/${etag} , "third"`, '*'])
    assert.equal((await get({ 'if-none-match': header })).status, 304, header)
  const other = await get({ 'if-none-match': '"another"' })
  assert.equal(other.status, 200)
  await other.body?.cancel()
})

test('what is no picture is never shown as one', async () => {
  const { body } = await askImages(gateway, { model: 'text-image' })
  const answer = await get({}, 'GET', body.data[0]?.url)
  assert.deepEqual(
    ['content-type', 'content-disposition', 'x-content-type-options'].map((name) => answer.headers.get(name)),
    ['application/octet-stream', 'attachment', 'nosniff'],
  )
  await answer.body?.cancel()
})

test('the picture is on the disk under its digest', () => {
  const file = kept().find((name) => name.endsWith(sha256(picture))) ?? assert.fail(kept().join())
  assert.deepEqual(readFileSync(join(folder(), file)), picture)
})

test('a deleted image is reported as gone to requests for it, for its job and to the same request again', async () => {
  const headers = { 'idempotency-key': 'a-picture-that-goes' }
  const fields = { model: 'base64-image' }
  const first = await askImages(gateway, fields, { headers })
  const streamed = { 'idempotency-key': 'a-streamed-picture-that-goes' }
  eventsIn(await askImages(gateway, { ...fields, stream: true }, { headers: streamed }))
  const files = kept().filter((name) =>
    billedPictures(provider, 'plain+key-base64').some((sha) => name.endsWith(sha)),
  )
  assert.equal(files.length, 2)
  for (const name of files) rmSync(join(folder(), name))

  assertImageFault(await askImages(gateway, fields, { headers }), 'asset_gone')
  assertImageFault(await askImages(gateway, { ...fields, stream: true }, { headers: streamed }), 'asset_gone')
  const jobId = first.headers.get('x-torana-job') ?? ''
  assertFault(await gateway.get(`/v1/images/jobs/${jobId}`), 'asset_gone')
  assertFault(await gateway.get(`/v1/assets/${jobId}-0-0`), 'asset_gone')
  assert.equal(billedPictures(provider, 'plain+key-base64').length, 2, 'it was bought again')
})

test('when its time is over it is gone, and not merely missing; a link may end before', async () => {
  const brief = await startGateway({ ...options, limits: { assetRetentionMs: 1, assetLinkMs: 1 } })
  const { body, headers } = await askImages(brief, { model: 'plain-image' })
  const url = body.data[0]?.url ?? ''
  const expiresAtMs = Number(new URL(url).searchParams.get('exp')) * 1000
  await new Promise((resolve) => setTimeout(resolve, Math.max(0, expiresAtMs - Date.now()) + 1100))
  assertFault(await brief.get(url.slice(brief.url.length), { key: undefined }), 'asset_link_invalid', {
    words: /The link expired at \d{4}-/,
  })
  // As the node itself does, every ten minutes.
  rmSync(join(dirname(brief.configFile), 'data/assets/jobs'), { recursive: true })
  assertFault(await brief.get(`/v1/assets/${headers.get('x-torana-job')}-0-0`), 'asset_gone', {
    words: /retention time/,
  })
})
