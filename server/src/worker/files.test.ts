import assert from 'node:assert/strict'
import { test } from 'node:test'
import { chunksBlobName, fileBlobName, fileIdOf } from '#core/files/blob-names.ts'
import { systemClock } from '#runtime/clock.ts'
import { uuidv7Identifiers } from '#runtime/identifiers.ts'
import { MemoryBlobs } from '#stores/blobs/memory.ts'
import { MemoryFiles } from '#stores/memory/files.ts'
import { deleteDueFiles } from './files.ts'
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
