/** A blob store with a spool in front of it: whatever the store does, reads return the newest bytes of a name. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { BlobStore } from '#ports/blobs.ts'
import { StoreUnreachable } from '#ports/store.ts'
import { systemClock } from '#runtime/clock.ts'
import { DiskBlobs } from '#stores/blobs/disk.ts'
import { MemoryBlobs } from '#stores/blobs/memory.ts'
import { SpooledBlobs } from '#stores/blobs/spooled.ts'
import { runs } from '#test/support/arbitraries.ts'
import { testFolder } from '#test/support/disk.ts'
import { blobStoreSuite, bytesOf } from './blob-store.ts'

const JOB = '01a1de10-530c-7b10-9d92-5f1a7c04212d'
const RECORD = `jobs/${JOB}/0.json`
const PIECE = `inputs/${JOB}/${'a'.repeat(64)}.0`

/** A store that can become unreachable, and whose puts can be delayed. */
class Remote extends MemoryBlobs {
  isAway = false
  held: Promise<unknown> | undefined
  puts = 0

  constructor() {
    super(systemClock)
  }

  override async put(name: string, bytes: Uint8Array): Promise<void> {
    const { held, isAway } = this
    this.puts += 1
    await held
    if (isAway) throw new StoreUnreachable('away')
    await super.put(name, bytes)
  }

  override async open(...asked: Parameters<BlobStore['open']>): ReturnType<BlobStore['open']> {
    if (this.isAway) throw new StoreUnreachable('away')
    return super.open(...asked)
  }
}

function opened(): { readonly blobs: SpooledBlobs; readonly remote: Remote; readonly spool: MemoryBlobs } {
  const [remote, spool] = [new Remote(), new MemoryBlobs(systemClock)]
  return { blobs: new SpooledBlobs(remote, spool), remote, spool }
}

const textIn = async (store: BlobStore, name: string): Promise<string> =>
  (await bytesOf(await store.open(name))).toString()

blobStoreSuite({
  name: 'spooled, store there',
  open: async () => new SpooledBlobs(new MemoryBlobs(systemClock), new MemoryBlobs(systemClock)),
  histories: 100,
})

test('a record that comes while an older one waits is read at once, and the older one never comes back', async () => {
  const { blobs, remote } = opened()
  remote.isAway = true
  await blobs.put(RECORD, Buffer.from('old'))
  assert.equal(await textIn(blobs, RECORD), 'old')
  remote.isAway = false
  await blobs.put(RECORD, Buffer.from('new'))
  assert.equal(await textIn(blobs, RECORD), 'new')
  assert.equal(await blobs.drain(), 0)
  assert.equal(await textIn(blobs, RECORD), 'new')
  assert.equal(await textIn(remote, RECORD), 'new')
})

test('what is spooled again while the older one is carried over is not deleted with it', async () => {
  const { blobs, remote } = opened()
  remote.isAway = true
  await blobs.put(RECORD, Buffer.from('old'))
  remote.isAway = false
  const { promise, resolve } = Promise.withResolvers<void>()
  remote.held = promise
  const putsBefore = remote.puts
  const draining = blobs.drain()
  while (remote.puts === putsBefore) await new Promise(setImmediate)
  remote.held = undefined
  remote.isAway = true
  const putting = blobs.put(RECORD, Buffer.from('new'))
  for (let turn = 0; turn < 10; turn += 1) await new Promise(setImmediate)
  resolve()
  await draining
  await putting
  remote.isAway = false
  await blobs.drain()
  assert.equal(await textIn(blobs, RECORD), 'new')
  assert.equal(await textIn(remote, RECORD), 'new')
})

test('what waits in the spool is listed with the rest, in order, and once', async () => {
  const { blobs, remote } = opened()
  await blobs.put(RECORD, Buffer.from('in the store'))
  remote.isAway = true
  await blobs.put(PIECE, Buffer.from('in the spool'))
  await blobs.put(RECORD, Buffer.from('newer, in the spool'))
  remote.isAway = false
  const names = async (options: { prefix: string; limit: number; after?: string }): Promise<string[]> =>
    (await blobs.list(options)).map(({ name }) => name)
  assert.deepEqual(await names({ prefix: '', limit: 10 }), [PIECE, RECORD])
  assert.deepEqual(await names({ prefix: '', limit: 1 }), [PIECE])
  assert.deepEqual(await names({ prefix: '', after: PIECE, limit: 10 }), [RECORD])
  assert.deepEqual(await names({ prefix: `inputs/${JOB}/`, limit: 10 }), [PIECE])
  const [record] = await blobs.list({ prefix: RECORD, limit: 1 })
  assert.equal(record?.size, 'newer, in the spool'.length)
})

test('any history of puts, deletions, drains and a store that comes and goes: the last word of each name counts', async () => {
  const picture = `pictures/${'b'.repeat(64)}`
  const batch = `batches/batch_${'c'.repeat(32)}/`
  const names = [RECORD, PIECE, picture, batch + RECORD, batch + picture]
  const step = fc.oneof(
    fc.record({ kind: fc.constant('put' as const), name: fc.constantFrom(...names), text: fc.string() }),
    fc.record({ kind: fc.constant('delete' as const), name: fc.constantFrom(...names) }),
    fc.record({ kind: fc.constant('drain' as const) }),
    fc.record({ kind: fc.constant('away' as const), isAway: fc.boolean() }),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
      const { blobs, remote } = opened()
      const expected = new Map<string, string>()
      for (const each of steps) {
        if (each.kind === 'put') {
          await blobs.put(each.name, Buffer.from(each.text))
          expected.set(each.name, each.text)
        } else if (each.kind === 'delete') {
          await blobs.delete(each.name)
          expected.delete(each.name)
        } else if (each.kind === 'away') remote.isAway = each.isAway
        else await blobs.drain().catch((error: unknown) => assert.ok(error instanceof StoreUnreachable))
      }
      remote.isAway = false
      await blobs.drain()
      for (const name of names) {
        const blob = await remote.open(name)
        assert.equal(blob && (await bytesOf(blob)).toString(), expected.get(name))
      }
      const listed = (await blobs.list({ prefix: '', limit: 10 })).map(({ name }) => name)
      assert.deepEqual(listed, [...expected.keys()].toSorted())
    }),
    runs(200),
  )
})

test('what waits survives the process', async () => {
  const [remote, folder] = [new Remote(), testFolder()]
  remote.isAway = true
  await new SpooledBlobs(remote, await DiskBlobs.open(folder)).put(RECORD, Buffer.from('paid'))
  remote.isAway = false
  const next = new SpooledBlobs(remote, await DiskBlobs.open(folder))
  assert.equal(await next.drain(), 1)
  assert.equal(await textIn(remote, RECORD), 'paid')
})
