/** `/v1/files` and `/v1/uploads` as OpenAI's own SDK uses them, on a real PostgreSQL. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { createReadStream, existsSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import OpenAI, { toFile } from 'openai'
import { testFolder } from '#test/support/disk.ts'
import { GATEWAY_KEY, startGateway } from '#test/support/gateway.ts'
import { testPostgres } from '#test/support/servers.ts'

const OTHER_KEY = 'key-of-another-project-0000001'
const assets = testFolder()
const { url: DATABASE_URL } = await testPostgres()
const gateway = await startGateway({
  models: { 'plain-w8': { on: 'plain' } },
  projects: { other: { keys: [{ name: 'k', secret: OTHER_KEY }] } },
  env: { DATABASE_URL, TORANA_SECRET: '0123456789abcdef'.repeat(4), ASSETS_URL: `file://${assets}` },
})
const clientOf = (apiKey: string): OpenAI =>
  new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey, maxRetries: 0 })
const client = clientOf(GATEWAY_KEY)

const text = Array.from({ length: 3000 }, (_, index) =>
  JSON.stringify({
    custom_id: `id-${index}`,
    method: 'POST',
    url: '/v1/embeddings',
    body: { model: 'plain-w8', input: `text ${index} äöü` },
  }),
).join('\n')
const bytes = Buffer.from(text)
const md5 = createHash('md5').update(bytes).digest('hex')
const thirds = [0, 1, 2].map((third) =>
  bytes.subarray(Math.floor((third * bytes.length) / 3), Math.floor(((third + 1) * bytes.length) / 3)),
)

const begin = (size = bytes.length): Promise<OpenAI.Uploads.Upload> =>
  client.uploads.create({
    filename: 'corpus.jsonl',
    purpose: 'batch',
    bytes: size,
    mime_type: 'application/jsonl',
  })

async function partOf(uploadId: string, part: Uint8Array): Promise<string> {
  const data = await toFile(part, 'part')
  return (await client.uploads.parts.create(uploadId, { data })).id
}

const refusal = async (asked: Promise<unknown>): Promise<unknown[]> => {
  const error: unknown = await asked.then(
    () => assert.fail('was not refused'),
    (reason: unknown) => reason,
  )
  assert.ok(error instanceof OpenAI.APIError, String(error))
  return [error.status, error.code]
}

test('the SDK streams a file, waits for it, pages through the list, reads it and deletes it', async () => {
  const path = join(testFolder(), 'corpus.jsonl')
  writeFileSync(path, bytes)
  const file = await client.files.create({
    file: createReadStream(path),
    purpose: 'batch',
    expires_after: { anchor: 'created_at', seconds: 7200 },
  })
  assert.deepEqual(await client.files.waitForProcessing(file.id), file)
  assert.equal((file.expires_at ?? 0) - file.created_at, 7200)
  const second = await client.files.create({ file: await toFile(bytes, 'b.jsonl'), purpose: 'batch' })
  const seen: string[] = []
  for await (const listed of client.files.list({ limit: 1, order: 'asc' })) seen.push(listed.id)
  assert.deepEqual(seen, [file.id, second.id])
  assert.equal(await (await client.files.content(file.id)).text(), text)
  for (const { id } of [file, second]) assert.equal((await client.files.delete(id)).deleted, true)
  assert.deepEqual(await refusal(client.files.retrieve(file.id)), [404, 'not_found'])
})

test('parts that came in any order are one file in the order that is said, and parts that were lost leave nothing', async () => {
  const upload = await begin()
  assert.deepEqual([upload.status, upload.bytes, upload.purpose], ['pending', bytes.length, 'batch'])
  assert.equal(upload.expires_at - upload.created_at, 3600)
  const [third, first, second] = await Promise.all(
    [2, 0, 1].map((index) => partOf(upload.id, thirds[index] ?? Buffer.of())),
  )
  await partOf(upload.id, Buffer.from('sent again, and not used'))
  const complete = (): Promise<OpenAI.Uploads.Upload> =>
    client.uploads.complete(upload.id, { part_ids: [first, second, third] as string[], md5 })
  const completed = await complete()
  assert.equal(completed.status, 'completed')
  const file = completed.file
  assert.ok(file)
  assert.deepEqual((await complete()).file, file)
  assert.deepEqual(await client.files.retrieve(file.id), file)
  assert.equal(await (await client.files.content(file.id)).text(), text)
  assert.equal(readdirSync(join(assets, 'files', file.id)).length, 4)
  assert.deepEqual(await refusal(partOf(upload.id, Buffer.from('late'))), [400, 'upload_not_pending'])
  assert.deepEqual(await refusal(client.uploads.cancel(upload.id)), [400, 'upload_not_pending'])
  await client.files.delete(file.id)
})

test('parts that are not what was announced are refused, and can be sent again', async () => {
  const upload = await begin(6)
  const [good, other] = [
    await partOf(upload.id, Buffer.from('abcdef')),
    await partOf(upload.id, Buffer.from('xyz')),
  ]
  const complete = (partIds: string[], digest?: string): Promise<unknown[]> =>
    refusal(client.uploads.complete(upload.id, { part_ids: partIds, ...(digest && { md5: digest }) }))
  assert.deepEqual(await complete([other]), [400, 'upload_mismatch'])
  assert.deepEqual(await complete([good], md5), [400, 'upload_mismatch'])
  assert.deepEqual(await complete([other, other]), [400, 'invalid_parameter'])
  assert.deepEqual(await complete(['part_none']), [400, 'invalid_parameter'])
  assert.deepEqual(await refusal(partOf(upload.id, Buffer.alloc(4))), [400, 'upload_mismatch'])
  const { status } = await client.uploads.complete(upload.id, { part_ids: [good] })
  assert.equal(status, 'completed')
})

test('an upload that is cancelled takes no more, and no file comes of it', async () => {
  const upload = await begin(3)
  const part = await partOf(upload.id, Buffer.from('abc'))
  assert.equal((await client.uploads.cancel(upload.id)).status, 'cancelled')
  assert.deepEqual(await refusal(client.uploads.complete(upload.id, { part_ids: [part] })), [
    400,
    'upload_not_pending',
  ])
})

test('every route of uploads answers another project as if there were none', async () => {
  const upload = await begin(3)
  const part = await partOf(upload.id, Buffer.from('abc'))
  const other = clientOf(OTHER_KEY)
  const data = await toFile(Buffer.from('abc'), 'part')
  for (const asked of [
    () => other.uploads.parts.create(upload.id, { data }),
    () => other.uploads.complete(upload.id, { part_ids: [part] }),
    () => other.uploads.cancel(upload.id),
  ])
    assert.deepEqual(await refusal(asked()), [404, 'not_found'])
  await client.uploads.cancel(upload.id)
})

test('an upload that can not be kept is refused before any part comes', async () => {
  assert.deepEqual(await refusal(begin(9 * 1024 ** 3)), [413, 'file_too_large'])
  const wrong = { filename: 'a.jsonl', purpose: 'vision', bytes: 1, mime_type: 'x' } as const
  assert.deepEqual(await refusal(client.uploads.create(wrong)), [400, 'unsupported_file_purpose'])
  assert.ok(existsSync(join(assets, 'files')))
})
