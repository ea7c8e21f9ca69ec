import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deliveryName, pictureName } from '#core/image/delivery.ts'
import { StoreUnreachable } from '#ports/store.ts'
import { systemClock } from '#runtime/clock.ts'
import { jobKeysOf } from '#runtime/secret.ts'
import { bytesOf, digestOf } from '#test/contract/blob-store.ts'
import { MemoryBlobs } from './memory.ts'
import { SealedBlobs } from './sealed.ts'

const JOB = '01930000-0000-7000-8000-00000000000a'
const RECORD = deliveryName(JOB, 0)
const TEXT = JSON.stringify({ project: 'shop', pictures: [{ revisedPrompt: 'my private diagnosis 赤い' }] })
const keys = jobKeysOf({ current: 'the secret of today', previous: undefined })

function opened() {
  const store = new MemoryBlobs(systemClock)
  return { store, sealed: new SealedBlobs(store, keys) }
}

test('a delivery record rests sealed, and reads as it was written', async () => {
  const { store, sealed } = opened()
  await sealed.put(RECORD, Buffer.from(TEXT))
  const resting = (await bytesOf(await store.open(RECORD))).toString()
  assert.doesNotMatch(resting, /diagnosis|shop|revised/)
  const blob = await sealed.open(RECORD)
  assert.equal(blob?.size, Buffer.byteLength(TEXT))
  assert.equal((await bytesOf(blob)).toString(), TEXT)
  const part = await bytesOf(await sealed.open(RECORD, { first: 2, last: 8 }))
  assert.equal(part.toString(), TEXT.slice(2, 9))
  await sealed.delete(RECORD)
  assert.equal(await sealed.open(RECORD), undefined)
})

test('records from before are read as they are, and pictures are never touched', async () => {
  const { store, sealed } = opened()
  await store.put(RECORD, Buffer.from(TEXT))
  assert.equal((await bytesOf(await sealed.open(RECORD))).toString(), TEXT)
  const picture = pictureName(digestOf('x'))
  await sealed.put(picture, Buffer.from('bytes'))
  assert.equal((await bytesOf(await store.open(picture))).toString(), 'bytes')
  assert.equal((await sealed.list({ prefix: '', limit: 10 })).length, 2)
})

test('a rotated secret still opens records; another one, or another place, is trouble, not absence', async () => {
  const { store, sealed } = opened()
  await sealed.put(RECORD, Buffer.from(TEXT))
  const rotated = new SealedBlobs(store, jobKeysOf({ current: 'new', previous: 'the secret of today' }))
  assert.equal((await bytesOf(await rotated.open(RECORD))).toString(), TEXT)
  const stranger = new SealedBlobs(store, jobKeysOf({ current: 'new', previous: undefined }))
  await assert.rejects(stranger.open(RECORD), StoreUnreachable)
  const moved = deliveryName(JOB, 1)
  await store.put(moved, await bytesOf(await store.open(RECORD)))
  await assert.rejects(sealed.open(moved), StoreUnreachable)
})
