/** What every `Uploads` promises, and what files on a disk promise beside it. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { DiskLow } from '#ports/disk-room.ts'
import { StoreUnreachable } from '#ports/store.ts'
import { diskSpace, MeasuredDisk } from '#runtime/disk-room.ts'
import type { Upload, Uploads, UploadWriter } from '#ports/uploads.ts'
import { DiskUploads } from '#stores/uploads/disk.ts'
import { MemoryUploads } from '#stores/uploads/memory.ts'
import { runs } from '#test/support/arbitraries.ts'
import { fillDisk, smallDisk, testFolder } from '#test/support/disk.ts'
import { openFiles } from '#test/support/system.ts'

interface CountedUploads extends Uploads {
  inUse(): { readonly files: number; readonly bytes: number }
}

const MEGABYTE = 1024 * 1024
const NOTHING = { files: 0, bytes: 0 }

async function written(uploads: Uploads, ...chunks: Uint8Array[]): Promise<Upload> {
  const writer = await uploads.create()
  for (const chunk of chunks) await writer.write(chunk)
  return writer.finish()
}

async function bytesOf(upload: Upload): Promise<Buffer> {
  return Buffer.concat(await Array.fromAsync(upload.open()))
}

function uploadsSuite(name: string, open: (maxBytes: number) => Promise<CountedUploads>): void {
  test(`${name}: what was written is read back, with its size and digest`, async () => {
    const uploads = await open(MEGABYTE)
    const chunks = fc.array(fc.uint8Array({ maxLength: 100_000 }), { maxLength: 6 })
    await fc.assert(
      fc.asyncProperty(chunks, async (pieces) => {
        const upload = await written(uploads, ...pieces)
        const bytes = Buffer.concat(pieces)
        assert.equal(upload.size, bytes.length)
        assert.equal(upload.sha256, createHash('sha256').update(bytes).digest('hex'))
        assert.ok((await bytesOf(upload)).equals(bytes))
        await upload.discard()
        assert.deepEqual(uploads.inUse(), NOTHING)
      }),
      runs(50),
    )
  })

  test(`${name}: readers side by side each get everything, and what one keeps does not change`, async () => {
    const uploads = await open(MEGABYTE)
    const bytes = randomBytes(500_000)
    const upload = await written(uploads, bytes)
    const all = await Promise.all(Array.from({ length: 8 }, () => bytesOf(upload)))
    for (const read of all) assert.ok(read.equals(bytes))
    // A reader that stops halfway holds nothing up.
    for await (const piece of upload.open()) {
      assert.ok(piece.length > 0)
      break
    }
    await upload.discard()
  })

  test(`${name}: what has been written does not change with the buffer it came in`, async () => {
    const uploads = await open(MEGABYTE)
    const writer = await uploads.create()
    const chunk = Buffer.alloc(1000, 'a')
    await writer.write(chunk)
    chunk.fill('b')
    const upload = await writer.finish()
    assert.equal((await bytesOf(upload)).toString(), 'a'.repeat(1000))
    await upload.discard()
  })

  test(`${name}: all files together hold no more than allowed, and what is discarded makes room`, async () => {
    const uploads = await open(1000)
    const first = await written(uploads, Buffer.alloc(600))
    const second = await uploads.create()
    await second.write(Buffer.alloc(400))
    await assert.rejects(second.write(Buffer.alloc(1)), StoreUnreachable)
    assert.deepEqual(uploads.inUse(), { files: 2, bytes: 1000 })
    await first.discard()
    await second.write(Buffer.alloc(600))
    await second.discard()
    assert.deepEqual(uploads.inUse(), NOTHING)
  })

  test(`${name}: discarding twice, by writer or reader, and while a write is under way, gives back once`, async () => {
    const uploads = await open(MEGABYTE)
    const writer = await uploads.create()
    const writing = writer.write(Buffer.alloc(500_000)).catch((error: unknown) => error)
    await Promise.all([writer.discard(), writer.discard()])
    const outcome = await writing
    assert.ok(outcome === undefined || outcome instanceof StoreUnreachable)
    await assert.rejects(writer.write(Buffer.alloc(1)), StoreUnreachable)
    await assert.rejects(writer.finish(), StoreUnreachable)

    const other = await uploads.create()
    await other.write(Buffer.alloc(10))
    const upload = await other.finish()
    await upload.discard()
    await upload.discard()
    await other.discard()
    assert.deepEqual(uploads.inUse(), NOTHING)
  })

  test(`${name}: a reader under way fails when the file is discarded, and never ends early instead`, async () => {
    const uploads = await open(MEGABYTE)
    const upload = await written(uploads, Buffer.alloc(200_000, 'a'), Buffer.alloc(200_000, 'b'))
    const reader = upload.open()[Symbol.asyncIterator]()
    assert.equal((await reader.next()).done, false)
    const failing = assert.rejects(async () => {
      for (;;) if ((await reader.next()).done) return
    }, StoreUnreachable)
    await upload.discard()
    await failing
    await assert.rejects(bytesOf(upload), StoreUnreachable)
  })

  test(`${name}: an end is an end`, async () => {
    const uploads = await open(MEGABYTE)
    const writer: UploadWriter = await uploads.create()
    const upload = await writer.finish()
    await assert.rejects(writer.write(Buffer.alloc(1)), /after its end/)
    await assert.rejects(writer.finish(), /twice/)
    assert.equal(upload.size, 0)
    assert.equal((await bytesOf(upload)).length, 0)
    await upload.discard()
  })
}

uploadsSuite('memory', async (maxBytes) => new MemoryUploads({ maxBytes }))
uploadsSuite('disk', (maxBytes) => DiskUploads.open(join(testFolder(), 'uploads'), { maxBytes }))

test('disk: no file ever has a name, and no handle is left', async () => {
  const folder = join(testFolder(), 'uploads')
  const uploads = await DiskUploads.open(folder, { maxBytes: MEGABYTE })
  assert.equal(statSync(folder).mode & 0o777, 0o700)
  const before = openFiles()
  const all = await Promise.all(
    Array.from({ length: 20 }, (_, index) => written(uploads, Buffer.alloc(index))),
  )
  assert.deepEqual(readdirSync(folder), [])
  assert.equal(openFiles(), before + 20)
  await Promise.all(all.map((upload) => upload.discard()))
  assert.equal(openFiles(), before)
})

test('disk: opening clears away the empty file of a process that was killed, and nothing of others', async () => {
  const folder = testFolder()
  const elsewhere = testFolder()
  const aName = (): string => randomBytes(16).toString('hex')
  const [ours, digestOfAnother, link, folderOfAnother] = [aName(), aName(), aName(), aName()]
  writeFileSync(join(folder, ours), '')
  writeFileSync(join(folder, digestOfAnother), 'a picture that somebody calls by its MD5')
  writeFileSync(join(folder, 'empty.pdf'), '')
  mkdirSync(join(folder, folderOfAnother))
  mkdirSync(join(folder, 'customers'))
  writeFileSync(join(folder, 'customers', '1.pdf'), 'x')
  writeFileSync(join(elsewhere, ours), '')
  symlinkSync(join(elsewhere, ours), join(folder, link))
  symlinkSync(elsewhere, join(folder, 'elsewhere'))
  const before = readdirSync(folder, { recursive: true })

  await DiskUploads.open(folder, { maxBytes: 1 })
  assert.deepEqual(
    readdirSync(folder, { recursive: true }),
    before.filter((name) => name !== ours),
  )
  assert.deepEqual(readdirSync(elsewhere), [ours])
})

test('disk: of a process that is killed while it writes, nothing is left', async () => {
  const folder = testFolder()
  const module = JSON.stringify(join(import.meta.dirname, '../../src/stores/uploads/disk.ts'))
  const script = `
    const { DiskUploads } = await import(${module})
    const uploads = await DiskUploads.open(${JSON.stringify(folder)}, { maxBytes: 1e9 })
    const writer = await uploads.create()
    await writer.write(Buffer.alloc(1e6))
    console.log('writing')
    for (;;) await writer.write(Buffer.alloc(100))`
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await once(child.stdout, 'data')
  child.kill('SIGKILL')
  await once(child, 'exit')
  assert.deepEqual(readdirSync(folder), [])
})

test('disk: files leave the reserve of the disk free, and are taken again once there is space', async (context) => {
  const folder = smallDisk(16 * 1024)
  if (folder === undefined) return context.skip('this user may not mount a disk')
  const disk = new MeasuredDisk(folder, 6 * MEGABYTE)
  const uploads = await DiskUploads.open(folder, { maxBytes: 100 * MEGABYTE, disk })
  const writer = await uploads.create()
  await assert.rejects(async () => {
    for (;;) await writer.write(Buffer.alloc(64 * 1024))
  }, DiskLow)
  // Between two looks at the disk, 4 MB may be written.
  assert.ok(((await diskSpace(folder))?.freeBytes ?? 0) >= 2 * MEGABYTE)
  await writer.discard()
  assert.deepEqual(uploads.inUse(), NOTHING)
  const upload = await written(uploads, Buffer.alloc(200_000, 'x'))
  await upload.discard()
})

test('disk: a full disk is trouble of the store, and the next file fits again', async (context) => {
  const folder = smallDisk(1024)
  if (folder === undefined) return context.skip('this user may not mount a disk')
  const uploads = await DiskUploads.open(folder, { maxBytes: 100 * MEGABYTE })
  const free = fillDisk(folder, 100_000)
  const writer = await uploads.create()
  await assert.rejects(
    async () => {
      for (;;) await writer.write(Buffer.alloc(64 * 1024))
    },
    (error) => error instanceof StoreUnreachable && (error.cause as NodeJS.ErrnoException).code === 'ENOSPC',
  )
  await writer.discard()
  assert.deepEqual(uploads.inUse(), NOTHING)
  free()
  const upload = await written(uploads, Buffer.alloc(200_000, 'x'))
  assert.equal((await bytesOf(upload)).length, 200_000)
  await upload.discard()
})

test('disk: a folder that is gone, or is none, is trouble of the store', async () => {
  const folder = join(testFolder(), 'uploads')
  const uploads = await DiskUploads.open(folder, { maxBytes: 1 })
  rmSync(folder, { recursive: true })
  await assert.rejects(uploads.create(), StoreUnreachable)
  writeFileSync(folder, 'a file')
  await assert.rejects(DiskUploads.open(folder, { maxBytes: 1 }), StoreUnreachable)
  assert.deepEqual(uploads.inUse(), NOTHING)
})
