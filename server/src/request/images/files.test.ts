import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { GivenFile, GivenPictures } from '#core/image/given.ts'
import type { Upload } from '#ports/uploads.ts'
import { systemClock } from '#runtime/clock.ts'
import { MemoryBlobs } from '#stores/blobs/memory.ts'
import { MemoryUploads } from '#stores/uploads/memory.ts'
import { forgetFiles, keepFiles, keptFiles, uploadedFiles } from './files.ts'

const JOB = '0193a5f0-0000-7000-8000-000000000001'
const uploads = new MemoryUploads({ maxBytes: 2 ** 30 })

async function uploaded(bytes: Uint8Array): Promise<Upload> {
  const writer = await uploads.create()
  for (let at = 0; at < bytes.length; at += 1_000_003) await writer.write(bytes.subarray(at, at + 1_000_003))
  return writer.finish()
}

function given({ sha256, size }: Upload): GivenFile {
  const looks = { format: 'png', width: 1, height: 1, hasAlpha: false, isTurned: false } as const
  return { kind: 'file', sha256, bytes: size, ...looks }
}

async function read(bytes: AsyncIterable<Uint8Array>): Promise<Buffer> {
  return Buffer.concat(await Array.fromAsync(bytes))
}

async function anEdit(): Promise<{ edit: GivenPictures; files: Upload[]; bytes: Buffer[] }> {
  // Larger than a part, exactly a part, and one file that occurs twice.
  const bytes = [
    Buffer.alloc(9_000_000, 'first'),
    Buffer.alloc(8 * 1024 * 1024, 'second'),
    Buffer.from('mask'),
  ]
  const files = await Promise.all(bytes.map(uploaded))
  const [first, second, mask] = files.map(given) as [GivenFile, GivenFile, GivenFile]
  return { edit: { pictures: [first, second, first], mask, markup: undefined }, files, bytes }
}

test('the files of a job that nobody waits for are read from the store, byte for byte, by whoever takes it over', async () => {
  const blobs = new MemoryBlobs(systemClock)
  const { edit, files, bytes } = await anEdit()
  await keepFiles(JOB, edit, uploadedFiles(files), blobs)
  await Promise.all(files.map((file) => file.discard()))
  const kept = await keptFiles(JOB, edit, blobs)
  assert.ok(kept)
  for (const [index, file] of files.entries())
    assert.ok((await read(kept.open(file.sha256))).equals(bytes[index] as Buffer))
})

test('files of which a piece is missing are not there', async () => {
  const blobs = new MemoryBlobs(systemClock)
  const { edit, files } = await anEdit()
  await keepFiles(JOB, edit, uploadedFiles(files), blobs)
  const [piece] = await blobs.list({ prefix: 'inputs/', limit: 1 })
  await blobs.delete(piece?.name ?? '')
  assert.equal(await keptFiles(JOB, edit, blobs), undefined)
})

test('nothing is left in either place when the files are discarded and the copies forgotten', async () => {
  const blobs = new MemoryBlobs(systemClock)
  const before = uploads.inUse().files
  const { edit, files } = await anEdit()
  const uploaded = uploadedFiles(files)
  await keepFiles(JOB, edit, uploaded, blobs)
  assert.ok((await blobs.list({ prefix: '', limit: 100 })).length > 0)
  await uploaded.discard()
  await forgetFiles(JOB, blobs)
  assert.deepEqual(await blobs.list({ prefix: '', limit: 100 }), [])
  assert.equal(uploads.inUse().files, before)
})

test('an edit of addresses alone has nothing to lose', async () => {
  const blobs = new MemoryBlobs(systemClock)
  const address = { kind: 'address', url: 'https://pictures.example/a.png' } as const
  assert.ok(await keptFiles(JOB, { pictures: [address], mask: undefined, markup: undefined }, blobs))
})

test('a file that is not there is said to be lost', () => {
  assert.throws(() => uploadedFiles([]).open('0'.repeat(64)), { code: 'image_files_lost' })
})
