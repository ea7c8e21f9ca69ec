import assert from 'node:assert/strict'
import { test } from 'node:test'
import { chunksBlobName, fileBlobName, fileIdOf } from '#core/files/blob-names.ts'
import { systemClock } from '#runtime/clock.ts'
import { uuidv7Identifiers } from '#runtime/identifiers.ts'
import { MemoryBlobs } from '#stores/blobs/memory.ts'
import { MemoryFiles } from '#test/support/stores/files.ts'
import { MemoryFileUploads } from '#test/support/stores/file-uploads.ts'
import { SetTerms } from '#test/support/terms.ts'
import { deleteDueFiles, dropUploads, startFileWorker } from './files.ts'
import { deleteOldBlobs } from './old-blobs.ts'

const identifiers = uuidv7Identifiers(systemClock)
const BOUNDS = { maxFiles: 1000, maxBytes: 1000 }

async function world() {
  const files = new MemoryFiles(systemClock)
  const fileBlobs = new MemoryBlobs(systemClock)
  const keep = async (): Promise<string> => {
    const id = fileIdOf(identifiers.next())
    await files.begin({ id, project: 'shop', keyId: 'shop/ci', announcedBytes: 0 }, BOUNDS)
    const segments = [{ blob: fileBlobName(id, '0'), firstByte: 0, bytes: 1 }]
    const scan = { lines: 0, inputs: 0, chunks: 0, url: undefined, models: [], errors: [], errorCount: 0 }
    const filename = 'a.jsonl'
    const known = { purpose: 'batch', filename, bytes: 1, sha256: '', scan, segments } as const
    await files.arrived(id, { ...known, expiresAfterMs: undefined, keptBytes: 1 })
    for (const name of [fileBlobName(id, '0'), chunksBlobName(id)])
      await fileBlobs.put(name, Buffer.from('x'))
    return id
  }
  const names = async (): Promise<string[]> =>
    (await fileBlobs.list({ prefix: '', limit: 10_000 })).map(({ name }) => name)
  return { files, fileBlobs, keep, names }
}

test('of a deleted file nothing is left, and nothing of anybody else is touched', async () => {
  const { files, fileBlobs, keep, names } = await world()
  const [one, other] = [await keep(), await keep()]
  // Another install may keep its files in the same place: no row of this one leads to them.
  const foreign = fileBlobName(fileIdOf(identifiers.next()), '0')
  await fileBlobs.put(foreign, Buffer.from('x'))
  assert.equal(await deleteDueFiles({ files, fileBlobs }), 0)
  await files.delete(one, 'shop')
  assert.equal(await deleteDueFiles({ files, fileBlobs }), 1)
  assert.deepEqual(await names(), [fileBlobName(other, '0'), chunksBlobName(other), foreign].toSorted())
  assert.deepEqual(await files.due(9), [])
})

test('one node deletes the bytes of deleted files every half minute, and no other does', async (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] })
  const { files, fileBlobs, keep, names } = await world()
  const [fileUploads, terms] = [new MemoryFileUploads(), new SetTerms()]
  const started = (isEldest: boolean) => {
    const { promise, resolve } = Promise.withResolvers<number>()
    const parts = { files, fileBlobs, fileUploads, terms, mustForget: async () => isEldest }
    return { deleted: promise, worker: startFileWorker(parts, { deleted: resolve, failed: assert.fail }) }
  }
  await files.delete(await keep(), 'shop')
  const other = started(false)
  context.mock.timers.tick(30_000)
  await other.worker.stop()
  assert.equal((await names()).length, 2)
  const { deleted, worker } = started(true)
  context.mock.timers.tick(30_000)
  assert.equal(await deleted, 1)
  await worker.stop()
  assert.deepEqual(await names(), [])
})

test('more files than are taken at once are all deleted', async () => {
  const { files, fileBlobs, keep, names } = await world()
  for (let count = 0; count < 250; count += 1) await files.delete(await keep(), 'shop')
  assert.equal(await deleteDueFiles({ files, fileBlobs }), 250)
  assert.deepEqual(await names(), [])
})

test('the walk that deletes old pictures does not find files, however old they are', async () => {
  const { fileBlobs, keep, names } = await world()
  await keep()
  assert.equal(await deleteOldBlobs(fileBlobs, 'own', Infinity), 0)
  assert.equal((await names()).length, 2)
})

for (const [what, now, state] of [
  ['of a deleted project is dropped', { standing: 'revoked', isProjectDeleted: true }, 'cancelled'],
  ['of a leaked key is dropped', { standing: 'leaked', isProjectDeleted: false }, 'cancelled'],
  [
    'of a revoked key waits: another key goes on with it',
    { standing: 'revoked', isProjectDeleted: false },
    'pending',
  ],
  ['waits while the store is away', { standing: 'unreachable', isProjectDeleted: false }, 'pending'],
  ['of a good key waits for its parts', undefined, 'pending'],
] as const)
  test(`an upload ${what}`, async () => {
    const { files } = await world()
    const [fileUploads, terms] = [new MemoryFileUploads(), new SetTerms()]
    const fileId = fileIdOf(identifiers.next())
    await files.begin({ id: fileId, project: 'shop', keyId: 'shop/ci', announcedBytes: 1 }, BOUNDS)
    const owner = { keyId: 'shop/ci', project: 'shop', player: undefined }
    const upload = { id: 'upload_1', ...owner, fileId, filename: 'a', bytes: 1 }
    const times = { expiresAfterMs: 1, createdAtMs: 0, expiresAtMs: Infinity }
    await fileUploads.begin({ ...upload, ...times, state: 'pending' })
    terms.now = now
    await dropUploads({ files, fileUploads, terms })
    assert.equal((await fileUploads.find(upload.id, 'shop'))?.state, state)
    assert.equal((await files.due(9)).length, state === 'cancelled' ? 1 : 0)
  })
