/** A project with a small quota: its batches make nothing that could not be stored, and go on when there is room. */
import assert from 'node:assert/strict'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { systemClock } from '#runtime/clock.ts'
import { DiskBlobs } from '#stores/blobs/disk.ts'
import { PostgresFiles } from '#stores/postgres/jobs/files.ts'
import { startGatewayOnPostgres } from '#test/e2e/money/gateway-on-postgres.ts'
import { BatchCaller, requestLines, tryAgain } from '#test/support/batches.ts'
import { testFolder } from '#test/support/disk.ts'
import { eventually } from '#test/support/process.ts'
import { deleteDueFiles } from '#worker/files.ts'

const QUOTA = 4_000_000
const PICTURES_KEY = 'gateway-test-key-pictures-0004'
const assets = testFolder()
const { gateway, database } = await startGatewayOnPostgres({
  models: { 'plain-w3072': { on: 'plain' } },
  images: { 'plain-image': { on: 'plain' } },
  limits: { filesBytes: QUOTA },
  projects: { gallery: { keys: [{ name: 'k', secret: PICTURES_KEY }] } },
  env: { ASSETS_URL: `file://${assets}` },
})
const caller = new BatchCaller(gateway.url)
const files = new PostgresFiles(database, systemClock)

async function remove(fileId: string | null): Promise<void> {
  assert.equal((await caller.fetch(`/files/${fileId}`, { method: 'DELETE' })).status, 200)
}

function bytesIn(folder: string): number {
  if (!existsSync(folder)) return 0
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0)
}

const LINES = 40
const bodies = Array.from({ length: LINES }, (_, line) => ({ model: 'plain-w3072', input: `text ${line}` }))

test('a batch that fills the quota pauses within it, goes on when files are deleted, and loses no line', async () => {
  const ballast = await caller.upload(Buffer.alloc(3_000_000, ' '))
  const { id } = await caller.create(await caller.upload(requestLines('/v1/embeddings', bodies)))
  await eventually(async () => {
    const { status, request_counts, torana } = await caller.get(id)
    assert.deepEqual([status, request_counts.failed], ['in_progress', 0])
    assert.ok(request_counts.completed > 0)
    assert.equal(torana.pause?.code, 'too_many_files')
  })
  const { completed } = (await caller.get(id)).request_counts
  assert.ok(completed < LINES)
  assert.ok(bytesIn(assets) <= QUOTA, `${bytesIn(assets)} bytes on disk`)
  assert.ok((await files.kept('default')).bytes <= QUOTA)
  await tryAgain(database, id)
  await eventually(async () => assert.equal((await caller.get(id)).torana.pause?.code, 'too_many_files'))
  await remove(ballast)
  await eventually(async () => {
    await tryAgain(database, id)
    assert.equal((await caller.get(id)).status, 'completed')
  })
  const batch = await caller.get(id)
  assert.deepEqual(batch.request_counts, { total: LINES, completed: LINES, failed: 0 })
  const ids = (await caller.lines(batch.output_file_id)).map(({ custom_id }) => custom_id)
  assert.deepEqual([ids.length, new Set(ids).size], [LINES, LINES])
  const { bytes } = await files.kept('default')
  const folder = join(assets, 'batches', id)
  assert.ok(bytes >= bytesIn(folder), `${bytes} counted, ${bytesIn(folder)} on disk`)
  // The results are not needed any more: their bytes are deleted, and the room is free again.
  await remove(batch.output_file_id)
  await deleteDueFiles({ files, fileBlobs: await DiskBlobs.open(assets) })
  assert.equal(bytesIn(folder), 0)
  assert.ok((await files.kept('default')).bytes < 100_000)
  assert.equal((await caller.get(id)).status, 'completed')
})

test('a batch of pictures for which there is no room buys none, and says why', async () => {
  const gallery = new BatchCaller(gateway.url, PICTURES_KEY)
  const url = '/v1/images/generations'
  const lines = requestLines(url, [{ model: 'plain-image', prompt: 'a cat' }])
  const { id } = await gallery.create(await gallery.upload(lines), { endpoint: url })
  await eventually(async () => {
    const { status, torana } = await gallery.get(id)
    assert.deepEqual([status, torana.pause?.code], ['in_progress', 'too_many_files'])
  })
  const made = await database.query(`SELECT 1 FROM image_jobs WHERE project = 'gallery'`)
  assert.equal(made.length, 0)
})
