/** `limits.filesBytes`: what one project keeps in files, uploads in progress and results, on a real PostgreSQL. */
import assert from 'node:assert/strict'
import { readdirSync, statSync } from 'node:fs'
import { request as httpRequest } from 'node:http'
import { join } from 'node:path'
import { test } from 'node:test'
import OpenAI, { toFile } from 'openai'
import { PostgresFiles } from '#stores/postgres/jobs/files.ts'
import { systemClock } from '#runtime/clock.ts'
import { startGatewayOnPostgres } from '#test/e2e/money/gateway-on-postgres.ts'
import { testFolder } from '#test/support/disk.ts'
import { BOUNDARY, formBody } from '#test/support/forms.ts'
import { eventually } from '#test/support/process.ts'

const QUOTA = 20_000_000
const assets = testFolder()
const keyOf = (project: string): string => `key-of-project-${project}-0000001`
const projects = ['forms', 'chunked', 'begun', 'cancelled', 'resent', 'broken', 'racing']
const { gateway, database } = await startGatewayOnPostgres({
  models: { 'plain-w8': { on: 'plain' } },
  limits: { filesBytes: QUOTA },
  projects: Object.fromEntries(
    projects.map((project) => [project, { keys: [{ name: 'k', secret: keyOf(project) }] }]),
  ),
  env: { ASSETS_URL: `file://${assets}` },
})
const files = new PostgresFiles(database, systemClock)

const clientOf = (project: string): OpenAI =>
  new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: keyOf(project), maxRetries: 0 })
const fileOf = async (bytes: number): Promise<{ file: File; purpose: 'batch' }> => ({
  file: await toFile(Buffer.alloc(bytes, ' '), 'a.jsonl'),
  purpose: 'batch',
})
const uploadOf = (client: OpenAI, bytes: number): Promise<OpenAI.Uploads.Upload> =>
  client.uploads.create({ filename: 'a.jsonl', purpose: 'batch', bytes, mime_type: 'application/jsonl' })
const partOf = async (client: OpenAI, id: string, bytes: number): Promise<string> =>
  (await client.uploads.parts.create(id, { data: await toFile(Buffer.alloc(bytes, ' '), 'part') })).id

async function refusal(asked: Promise<unknown>): Promise<unknown[]> {
  const error: unknown = await asked.then(
    () => assert.fail('was not refused'),
    (reason: unknown) => reason,
  )
  assert.ok(error instanceof OpenAI.APIError, String(error))
  return [error.status, error.code]
}

const FULL = [400, 'too_many_files']
const keptBytes = async (project: string): Promise<number> => (await files.kept(project)).bytes

test('a file that does not fit is refused by its announced size, and one that fits to the byte is taken', async () => {
  const client = clientOf('forms')
  assert.deepEqual(await refusal(client.files.create(await fileOf(QUOTA + 1))), FULL)
  assert.equal(await keptBytes('forms'), 0)
  const { id } = await client.files.create(await fileOf(QUOTA))
  assert.deepEqual(await refusal(client.files.create(await fileOf(1))), FULL)
  await client.files.delete(id)
  await client.files.create(await fileOf(QUOTA))
})

test('a file whose size was not announced is refused where it leaves the quota, and gives its room back', async () => {
  const body = formBody([
    { name: 'purpose', value: 'batch' },
    { name: 'file', filename: 'a.jsonl', value: Buffer.alloc(QUOTA + 1, ' ') },
  ])
  const { status, text } = await new Promise<{ status?: number | undefined; text: string }>(
    (resolve, reject) => {
      const headers = {
        authorization: `Bearer ${keyOf('chunked')}`,
        'content-type': `multipart/form-data; boundary=${BOUNDARY}`,
        'transfer-encoding': 'chunked',
      }
      const request = httpRequest(`${gateway.url}/v1/files`, { method: 'POST', headers }, (answer) => {
        let text = ''
        answer.on('data', (piece) => (text += String(piece)))
        answer.on('end', () => resolve({ status: answer.statusCode, text }))
      })
      request.on('error', reject)
      request.end(body)
    },
  )
  assert.equal(status, 400)
  assert.match(text, /too_many_files.*/)
  assert.match(text, /keeps 16777216 bytes.*no room for \d+ more: it may keep 20000000/)
  assert.equal(await keptBytes('chunked'), 0)
})

test('an upload takes its announced size when it begins: nothing else gets that room', async () => {
  const client = clientOf('begun')
  assert.deepEqual(await refusal(uploadOf(client, QUOTA + 1)), FULL)
  const upload = await uploadOf(client, QUOTA - 100)
  assert.deepEqual(await refusal(uploadOf(client, 101)), FULL)
  assert.deepEqual(await refusal(client.files.create(await fileOf(101))), FULL)
  const part = await partOf(client, upload.id, QUOTA - 100)
  const { file } = await client.uploads.complete(upload.id, { part_ids: [part] })
  assert.ok(file)
  assert.equal(await keptBytes('begun'), QUOTA - 100)
  await client.files.delete(file.id)
  assert.equal((await uploadOf(client, QUOTA)).status, 'pending')
})

test('an upload that is cancelled gives its room back at once', async () => {
  const client = clientOf('cancelled')
  const upload = await uploadOf(client, QUOTA)
  await partOf(client, upload.id, QUOTA)
  await client.uploads.cancel(upload.id)
  assert.equal((await uploadOf(client, QUOTA)).status, 'pending')
})

test('a part that is sent again needs room of its own, and one larger than the upload is refused', async () => {
  const client = clientOf('resent')
  const upload = await uploadOf(client, 12_000_000)
  assert.deepEqual(await refusal(partOf(client, upload.id, 12_000_001)), [400, 'upload_mismatch'])
  await partOf(client, upload.id, 6_000_000)
  const parts = [await partOf(client, upload.id, 6_000_000), await partOf(client, upload.id, 6_000_000)]
  assert.equal(await keptBytes('resent'), 18_000_000)
  assert.deepEqual(await refusal(partOf(client, upload.id, 2_000_001)), FULL)
  assert.equal(await keptBytes('resent'), 18_000_000)
  await client.uploads.complete(upload.id, { part_ids: parts })
  assert.equal(await keptBytes('resent'), 12_000_000)
})

test('a part that breaks off gives back what was beyond the announced size', async () => {
  const client = clientOf('broken')
  const upload = await uploadOf(client, 10_000_000)
  await partOf(client, upload.id, 10_000_000)
  const body = formBody([{ name: 'data', filename: 'part', value: Buffer.alloc(9_900_000, ' ') }])
  const headers = {
    authorization: `Bearer ${keyOf('broken')}`,
    'content-type': `multipart/form-data; boundary=${BOUNDARY}`,
    'content-length': String(body.length),
  }
  const request = httpRequest(`${gateway.url}/v1/uploads/${upload.id}/parts`, { method: 'POST', headers })
  request.on('error', () => {})
  request.write(body.subarray(0, 9_000_000))
  await eventually(async () => assert.ok((await keptBytes('broken')) > 10_000_000))
  request.destroy()
  await eventually(async () => assert.equal(await keptBytes('broken'), 10_000_000))
})

test('of uploads that begin at once, no two get the same room', async () => {
  const client = clientOf('racing')
  const begun = await Promise.allSettled(Array.from({ length: 8 }, () => uploadOf(client, 6_000_000)))
  assert.equal(begun.filter(({ status }) => status === 'fulfilled').length, 3)
  const onDisk = readdirSync(assets, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0)
  assert.ok(onDisk <= projects.length * QUOTA, `${onDisk} bytes on disk`)
})
