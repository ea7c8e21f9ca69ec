import assert from 'node:assert/strict'
import {
  existsSync,
  lutimesSync,
  mkdirSync,
  readFileSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { deliveryName, pictureName } from '#core/image/delivery.ts'
import { fileName, manifestName } from '#core/money/lake.ts'
import type { BlobStore } from '#ports/blobs.ts'
import { DiskBlobs } from '#stores/blobs/disk.ts'
import { MemoryBlobs } from '#stores/blobs/memory.ts'
import { placeOf } from '#stores/blobs/place.ts'
import { SpooledBlobs } from '#stores/blobs/spooled.ts'
import { systemClock } from '#runtime/clock.ts'
import { digestOf } from '#test/contract/blob-store.ts'
import { testFolder } from '#test/support/disk.ts'
import { deleteOldBlobs } from './old-blobs.ts'

const JOB = '01930000-0000-7000-8000-00000000000a'
const OLD = new Date(2020, 1)
const SINCE_MS = new Date(2024, 1).getTime()
const RECORD = deliveryName(JOB, 0)
const PICTURE = pictureName(digestOf('a lighthouse'))
const INPUT = `inputs/${JOB}/${digestOf('a mask')}.0`
const BYTES = Buffer.from('x')

/** Puts a foreign file below the folder, as old as ours. */
function foreignFile(folder: string, name: string): string {
  const path = join(folder, name)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, 'of somebody else')
  utimesSync(path, OLD, OLD)
  return path
}

function onDisk(folder: string, name: string): string {
  const digest = /^pictures\/((..).*)$/.exec(name)
  return join(folder, digest ? `pictures/${digest[2]}/${digest[1]}` : name)
}

async function putOld(blobs: BlobStore, folder: string, names: readonly string[]): Promise<void> {
  for (const name of names) {
    await blobs.put(name, BYTES)
    utimesSync(onDisk(folder, name), OLD, OLD)
  }
}

test('what is old and ours goes; files, folders and links of others stay, and so does the ledger', async () => {
  const folder = testFolder()
  const elsewhere = testFolder()
  const blobs = await DiskBlobs.open(folder)
  assert.equal(await placeOf(blobs), 'own')
  const ours = [RECORD, PICTURE, INPUT]
  await putOld(blobs, folder, ours)
  const fresh = pictureName(digestOf('of today'))
  await blobs.put(fresh, BYTES)

  const digest = digestOf('somewhere else')
  const foreign = [
    'holiday.jpg',
    'pictures/holiday.jpg',
    'pictures/2024/beach.jpg',
    `pictures/${digest}`,
    `pictures/ab/${'ab'.padEnd(63, '0')}`,
    `pictures/${digest.slice(0, 2)}/deep/${digest}`,
    'jobs/cv.pdf',
    `jobs/${JOB}/notes.json`,
    `jobs/${JOB}/0.json.bak`,
    // A UUIDv4: no job has one.
    'jobs/0d5d3ac6-6ee1-4c45-9a2d-0a9b2f2b1c11/0.json',
    `inputs/${JOB}/mask.png`,
    '~drafts/mine.txt',
    fileName('2020-01-01', 'entries', 1),
    manifestName('2020-01-01', 1),
  ].map((name) => foreignFile(folder, name))
  const target = foreignFile(elsewhere, '0.json')
  const link = join(folder, `jobs/${JOB}/1.json`)
  symlinkSync(target, link)
  lutimesSync(link, OLD, OLD)
  symlinkSync(elsewhere, join(folder, 'inputs', '01930000-0000-7000-8000-00000000000b'))

  assert.equal(await deleteOldBlobs(blobs, 'own', SINCE_MS), ours.length)
  for (const name of ours) assert.equal(await blobs.open(name), undefined, name)
  for (const path of [...foreign, target, link]) assert.ok(existsSync(path), path)
  assert.ok(existsSync(onDisk(folder, fresh)))
  await DiskBlobs.open(folder)
  for (const path of foreign) assert.ok(existsSync(path), path)
})

test('in a place where others had pictures before, no picture is deleted, but what belongs to our jobs is', async () => {
  const folder = testFolder()
  const theirs = foreignFile(folder, onDisk('', PICTURE))
  const blobs = await DiskBlobs.open(folder)
  assert.equal(await placeOf(blobs), 'shared')
  await putOld(blobs, folder, [RECORD, INPUT])
  // Also after a restart, although there is a record of ours by now.
  assert.equal(await placeOf(blobs), 'shared')
  assert.equal(await deleteOldBlobs(blobs, 'shared', SINCE_MS), 2)
  assert.ok(existsSync(theirs))
  // An operator declares the place to be this install's own.
  writeFileSync(join(folder, 'torana-place.txt'), 'own\n')
  assert.equal(await placeOf(blobs), 'own')
  writeFileSync(join(folder, 'torana-place.txt'), 'owned by accounting\n')
  assert.equal(await placeOf(blobs), 'shared')
})

test('an installation from before there were markers is taken for ours by the records in it', async () => {
  const folder = testFolder()
  const blobs = await DiskBlobs.open(folder)
  await putOld(blobs, folder, [RECORD, PICTURE])
  assert.equal(await placeOf(blobs), 'own')
  assert.match(readFileSync(join(folder, 'torana-place.txt'), 'utf8'), /^own\n/)
  assert.equal(await deleteOldBlobs(blobs, 'own', SINCE_MS), 2)
})

test('what others put into the spool is not carried to the store', async () => {
  const folder = testFolder()
  const spool = await DiskBlobs.open(folder)
  const store = new MemoryBlobs(systemClock)
  await spool.put(PICTURE, BYTES)
  const foreign = Array.from({ length: 120 }, (_, index) => foreignFile(folder, `mine/${index}.txt`))
  assert.equal(await new SpooledBlobs(store, spool).drain(), 1)
  assert.deepEqual(
    (await store.list({ prefix: '', limit: 10 })).map(({ name }) => name),
    [PICTURE],
  )
  for (const path of foreign) assert.ok(existsSync(path), path)
})
