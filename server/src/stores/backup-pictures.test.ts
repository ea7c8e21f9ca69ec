import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock } from '#runtime/clock.ts'
import { readLine, type BlobLine } from './backup-format.ts'
import { PictureWriter, writePictures } from './backup-pictures.ts'
import { MemoryBlobs } from './blobs/memory.ts'

/** Results of a batch can be larger than a line of a backup. */
const LARGE = `batches/batch_${'b'.repeat(32)}/0-1`
const SIZES = {
  [`files/file-${'a'.repeat(32)}/0`]: 0,
  [`pictures/${'c'.repeat(64)}`]: 1000,
  [LARGE]: 50 * 1024 * 1024 + 1,
}

async function backedUp(): Promise<{ from: MemoryBlobs; lines: BlobLine[]; count: number }> {
  const from = new MemoryBlobs(systemClock)
  for (const [name, size] of Object.entries(SIZES)) await from.put(name, Buffer.alloc(size, name))
  const lines: BlobLine[] = []
  const count = await writePictures(from, async (text) => {
    const line = readLine(text)
    assert.equal(line.kind, 'blob')
    if (line.kind === 'blob') lines.push(line.blob)
  })
  return { from, lines, count }
}

async function bytesOf(blobs: MemoryBlobs, name: string): Promise<Buffer> {
  const opened = await blobs.open(name)
  return Buffer.concat(await Array.fromAsync(opened?.bytes ?? []))
}

test('blobs of every size come back byte by byte, and are counted once', async () => {
  const { from, lines, count } = await backedUp()
  assert.deepEqual([count, lines.length], [3, 5])
  const to = new MemoryBlobs(systemClock)
  const writer = new PictureWriter(to)
  let put = 0
  for (const line of lines) if (await writer.put(line)) put += 1
  assert.equal(put, 3)
  for (const name of Object.keys(SIZES))
    assert.ok((await bytesOf(from, name)).equals(await bytesOf(to, name)), name)
})

test('a blob that lacks one of its lines is not put back', async () => {
  const { lines } = await backedUp()
  const writer = new PictureWriter(new MemoryBlobs(systemClock))
  const cut = lines.filter(({ from }) => from !== lines.find((line) => line.from !== undefined)?.from)
  await assert.rejects(
    async () => {
      for (const line of cut) await writer.put(line)
    },
    new RegExp(`${LARGE} is cut`),
  )
})

test('a backup has all that Torana names, and nothing that others put beside it', async () => {
  const job = '01900000-0000-7000-8000-000000000000'
  const own = [
    `batches/batch_${'b'.repeat(32)}/12-3`,
    `batches/batch_${'b'.repeat(32)}/jobs/${job}/1.json`,
    `batches/batch_${'b'.repeat(32)}/pictures/${'c'.repeat(64)}`,
    `files/file-${'a'.repeat(32)}/chunks`,
    `files/file-${'a'.repeat(32)}/upload_1-0`,
    `inputs/${job}/${'c'.repeat(64)}.0`,
    `jobs/${job}/1-0-104.webp`,
    `jobs/${job}/1.json`,
    `pictures/${'c'.repeat(64)}`,
  ]
  const others = [
    'payroll.xlsx',
    'files/payroll.xlsx',
    'pictures/cat.png',
    'batches/2026/list',
    'torana-place.txt',
  ]
  const blobs = new MemoryBlobs(systemClock)
  for (const name of [...own, ...others]) await blobs.put(name, Buffer.from(name))
  const names: string[] = []
  const count = await writePictures(blobs, async (text) => {
    const line = readLine(text)
    if (line.kind === 'blob') names.push(line.blob.blob)
  })
  assert.deepEqual([count, names], [own.length, own])
})
