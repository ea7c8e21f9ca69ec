/** `/v1/files` over HTTP, on a real PostgreSQL. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { request as httpRequest } from 'node:http'
import { test } from 'node:test'
import { BOUNDARY, formBody, type FormPart } from '#test/support/forms.ts'
import { GATEWAY_KEY, startGateway } from '#test/support/gateway.ts'
import { testFolder } from '#test/support/disk.ts'
import { eventually } from '#test/support/process.ts'
import { testPostgres } from '#test/support/servers.ts'

const OTHER_KEY = 'key-of-another-project-0000001'
const assets = testFolder()
const { url: DATABASE_URL } = await testPostgres()
const gateway = await startGateway({
  models: { 'plain-w8': { on: 'plain' } },
  limits: { fileBytes: 9 * 1024 * 1024, maxFiles: 12 },
  projects: { other: { keys: [{ name: 'k', secret: OTHER_KEY }] } },
  env: { DATABASE_URL, TORANA_SECRET: '0123456789abcdef'.repeat(4), ASSETS_URL: `file://${assets}` },
})

/** Deleted files, whose bytes are removed later. */
const deleted = new Set<string>()

interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly body: {
    readonly id: string
    readonly error: { readonly code: string; readonly param: string | null; readonly message: string }
    readonly data: readonly { readonly id: string }[]
    readonly [field: string]: unknown
  }
}

async function ask(
  path: string,
  { headers, ...init }: Omit<RequestInit, 'headers'> & { readonly headers?: Record<string, string> } = {},
  key = GATEWAY_KEY,
): Promise<Answer> {
  const answer = await fetch(`${gateway.url}${path}`, {
    ...init,
    headers: { authorization: `Bearer ${key}`, ...headers },
  })
  return { status: answer.status, headers: answer.headers, body: (await answer.json()) as Answer['body'] }
}

const PURPOSE: FormPart = { name: 'purpose', value: 'batch' }
const fileOf = (value: string | Uint8Array, filename = 'texts.jsonl'): FormPart => ({
  name: 'file',
  filename,
  value,
})

function send(parts: readonly FormPart[], key = GATEWAY_KEY): Promise<Answer> {
  const headers = { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` }
  return ask('/v1/files', { method: 'POST', headers, body: new Uint8Array(formBody(parts)) }, key)
}

const line = (id: string, input = 'text'): string =>
  `${JSON.stringify({ custom_id: id, method: 'POST', url: '/v1/embeddings', body: { model: 'plain-w8', input } })}\n`

function contentOf(id: string, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${gateway.url}/v1/files/${id}/content`, {
    headers: { authorization: `Bearer ${GATEWAY_KEY}`, ...headers },
  })
}

async function remove(id: string): Promise<void> {
  deleted.add(id)
  assert.deepEqual((await ask(`/v1/files/${id}`, { method: 'DELETE' })).body, {
    id,
    object: 'file',
    deleted: true,
  })
}

test('a file comes back as OpenAI has it, with its fields before or behind it, and byte for byte', async () => {
  const text = line('a') + line('b')
  for (const parts of [
    [PURPOSE, fileOf(text)],
    [
      fileOf(text),
      PURPOSE,
      { name: 'expires_after[anchor]', value: 'created_at' },
      { name: 'expires_after[seconds]', value: '3600' },
    ],
  ]) {
    const { status, body } = await send(parts)
    assert.equal(status, 200, JSON.stringify(body))
    const { id, created_at: createdAt, expires_at: expiresAt, ...rest } = body
    assert.match(id, /^file-[0-9a-f]{32}$/)
    assert.deepEqual(rest, {
      object: 'file',
      bytes: text.length,
      filename: 'texts.jsonl',
      purpose: 'batch',
      status: 'processed',
      status_details: null,
    })
    assert.equal(Number(expiresAt) - Number(createdAt), parts.length === 2 ? 2_592_000 : 3600)
    assert.deepEqual((await ask(`/v1/files/${id}`)).body, body)
    assert.equal(await (await contentOf(id)).text(), text)
    await remove(id)
    assert.equal((await ask(`/v1/files/${id}`)).status, 404)
    assert.equal((await contentOf(id)).status, 404)
  }
})

test('a file of several pieces is read whole or in any range, with a tag that names its bytes', async () => {
  const bytes = Buffer.from(
    Array.from({ length: 60_000 }, (_, index) => line(`id-${index}`, `text ${index}`)).join(''),
  )
  assert.ok(bytes.length > 4 * 1024 * 1024 && bytes.length < 9 * 1024 * 1024)
  const { body } = await send([fileOf(bytes), PURPOSE])
  const { id } = body
  const etag = `"${createHash('sha256').update(bytes).digest('hex')}"`
  const whole = await contentOf(id)
  assert.deepEqual([whole.status, whole.headers.get('etag')], [200, etag])
  assert.ok(bytes.equals(Buffer.from(await whole.arrayBuffer())))
  const border = 4 * 1024 * 1024
  for (const [asked, first, last] of [
    [`bytes=${border - 2}-${border + 1}`, border - 2, border + 1],
    ['bytes=-5', bytes.length - 5, bytes.length - 1],
    [`bytes=${bytes.length - 1}-`, bytes.length - 1, bytes.length - 1],
  ] as const) {
    const part = await contentOf(id, { range: asked, 'if-range': etag })
    assert.deepEqual(
      [part.status, part.headers.get('content-range')],
      [206, `bytes ${first}-${last}/${bytes.length}`],
    )
    assert.ok(bytes.subarray(first, last + 1).equals(Buffer.from(await part.arrayBuffer())))
  }
  assert.equal((await contentOf(id, { range: `bytes=${bytes.length}-` })).status, 416)
  assert.equal((await contentOf(id, { 'if-none-match': etag })).status, 304)
  const changed = await contentOf(id, { range: 'bytes=0-1', 'if-range': '"other"' })
  assert.equal(changed.status, 200)
  await changed.body?.cancel()
  await remove(id)
})

test('every route answers another project as if there were no such file', async () => {
  const { body } = await send([PURPOSE, fileOf(line('a'))])
  const { id } = body
  const asked: [string, string][] = [
    ['GET', `/v1/files/${id}`],
    ['DELETE', `/v1/files/${id}`],
    ['GET', `/v1/files/${id}/content`],
    ['GET', `/v1/files?after=${id}`],
  ]
  for (const [method, path] of asked) {
    const other = await ask(path, { method }, OTHER_KEY)
    assert.deepEqual([other.status, other.body.error.code], [404, 'not_found'], `${method} ${path}`)
  }
  assert.deepEqual((await ask('/v1/files', {}, OTHER_KEY)).body.data, [])
  assert.equal((await ask(`/v1/files/${id}`)).status, 200)
  await remove(id)
})

test('lists have pages in both orders, and say whether there is more', async () => {
  const ids: string[] = []
  for (let count = 0; count < 3; count += 1) ids.push((await send([PURPOSE, fileOf(line('a'))])).body.id)
  const sorted = ids.toSorted()
  const { body } = await ask('/v1/files?order=asc&limit=2&purpose=batch')
  assert.deepEqual(
    [body.data.map(({ id }) => id), body['first_id'], body['last_id'], body['has_more'], body['object']],
    [sorted.slice(0, 2), sorted[0], sorted[1], true, 'list'],
  )
  const rest = await ask(`/v1/files?order=asc&limit=2&after=${sorted[1]}`)
  assert.deepEqual([rest.body.data.map(({ id }) => id), rest.body['has_more']], [sorted.slice(2), false])
  const newest = await ask('/v1/files')
  assert.deepEqual(
    newest.body.data.map(({ id }) => id),
    sorted.toReversed(),
  )
  const none = await ask('/v1/files?purpose=fine-tune')
  assert.deepEqual([none.body.data, none.body['first_id'], none.body['has_more']], [[], null, false])
  for (const query of ['limit=0', 'limit=x', 'limit=10001', 'order=up'])
    assert.equal((await ask(`/v1/files?${query}`)).body.error.code, 'invalid_parameter')
  for (const id of ids) await remove(id)
})

test('a form that is wrong is refused by name, and leaves nothing in the store', async () => {
  const cases: [parts: readonly FormPart[], status: number, code: string, param: string | null][] = [
    [[fileOf(line('a'))], 400, 'missing_parameter', 'purpose'],
    [[PURPOSE], 400, 'missing_parameter', 'file'],
    [
      [fileOf(line('a')), { name: 'purpose', value: 'user_data' }],
      400,
      'unsupported_file_purpose',
      'purpose',
    ],
    [
      [{ name: 'purpose', value: 'fine-tune' }, fileOf(line('a'))],
      400,
      'unsupported_file_purpose',
      'purpose',
    ],
    [[PURPOSE, fileOf(line('a'), 'texts.csv')], 400, 'invalid_parameter', 'file'],
    [[PURPOSE, fileOf(line('a')), fileOf(line('b'))], 400, 'invalid_parameter', 'file'],
    [[PURPOSE, { name: 'tags', value: 'x' }, fileOf(line('a'))], 400, 'invalid_parameter', 'tags'],
    [
      [PURPOSE, { name: 'expires_after[seconds]', value: '60' }, fileOf(line('a'))],
      400,
      'invalid_parameter',
      'expires_after',
    ],
    [[PURPOSE, fileOf(Buffer.alloc(9 * 1024 * 1024 + 1, 32))], 413, 'file_too_large', 'file'],
    [[PURPOSE, fileOf(Buffer.alloc(10 * 1024 * 1024, 32))], 413, 'body_too_large', null],
  ]
  for (const [parts, status, code, param] of cases) {
    const { body, ...answer } = await send(parts)
    assert.deepEqual([answer.status, body.error.code, body.error.param], [status, code, param], code)
  }
  const headers = { 'content-type': 'application/json' }
  const wrongType = await ask('/v1/files', { method: 'POST', headers, body: '{}' })
  assert.deepEqual([wrongType.status, wrongType.body.error.code], [415, 'unsupported_media_type'])
  const keyless = await fetch(`${gateway.url}/v1/files`)
  assert.equal(keyless.status, 401)
  assert.deepEqual((await ask('/v1/files')).body.data, [])
  assert.deepEqual(blobsLeft(), [])
})

test('broken files are accepted, as OpenAI accepts them: the batch reports what is wrong', async () => {
  const contents = [
    '',
    '\n\n',
    '\ufeff',
    '{',
    `${line('a')}${line('a')}`,
    '\0',
    line('a').replaceAll('\n', '\r\n'),
  ]
  for (const content of [...contents, Buffer.from([0xff, 0xfe, 0x0a]), Buffer.alloc(8_000_000, 65)]) {
    const { status, body } = await send([PURPOSE, fileOf(content)])
    assert.equal(status, 200, JSON.stringify(body))
    assert.equal(body['bytes'], Buffer.byteLength(content))
    const read = await contentOf(body.id)
    assert.ok(Buffer.from(content).equals(Buffer.from(await read.arrayBuffer())))
    await remove(body.id)
  }
})

test('a sender that leaves in the middle leaves nothing in the store', async () => {
  const body = formBody([PURPOSE, fileOf(Buffer.alloc(6 * 1024 * 1024, 65))])
  const request = httpRequest(`${gateway.url}/v1/files`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${GATEWAY_KEY}`,
      'content-type': `multipart/form-data; boundary=${BOUNDARY}`,
      'content-length': body.length,
    },
  })
  request.on('error', () => {})
  await new Promise((resolve) => request.write(body.subarray(0, 5 * 1024 * 1024), resolve))
  await eventually(async () => assert.ok(blobsLeft().length > 0))
  request.destroy()
  await eventually(async () => assert.deepEqual(blobsLeft(), []))
  assert.deepEqual((await ask('/v1/files')).body.data, [])
})

test('a project at its maximum of files gets a fault that says so', async () => {
  const ids: string[] = []
  for (let count = 0; count < 12; count += 1) ids.push((await send([PURPOSE, fileOf(line('a'))])).body.id)
  const refused = await send([PURPOSE, fileOf(line('a'))])
  assert.deepEqual([refused.status, refused.body.error.code], [400, 'too_many_files'])
  const other = await send([PURPOSE, fileOf(line('a'))], OTHER_KEY)
  assert.equal(other.status, 200)
  for (const id of ids) await remove(id)
})

/** Blobs of files that were not deleted. */
function blobsLeft(): string[] {
  try {
    return readdirSync(`${assets}/files`, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && !deleted.has(entry.parentPath.split('/').at(-1) ?? ''))
      .map(({ name }) => name)
  } catch {
    return []
  }
}
