/** What every `Batches` promises about the space of results within their project's quota, whichever engine keeps it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fileIdOf } from '#core/files/blob-names.ts'
import { ChunkLost, CHUNK_HOLD_MS, type HeldChunk } from '#ports/batches.ts'
import { aBatch, chunksOf, doneEnd, type BatchesWorld } from './batches-open.ts'
import { nextId } from './image-jobs-open.ts'

const NODE = nextId()
const MAX_BYTES = 1000

const wanted = (leastBytes: number, mostBytes = leastBytes) => ({ leastBytes, mostBytes })

export function batchRoomSuite(name: string, open: () => Promise<BatchesWorld>): void {
  const held = async ({ batches }: BatchesWorld, chunks: number): Promise<readonly HeldChunk[]> => {
    await batches.create(aBatch({ chunks: chunksOf(chunks) }), 9)
    const claimed = await batches.claim(NODE, chunks)
    assert.equal(claimed.length, chunks)
    return claimed
  }
  const keptBytes = async ({ files }: BatchesWorld): Promise<number> => (await files.kept('shop')).bytes

  test(`${name}: results take room before they are made, and leave what they really have`, async () => {
    const world = await open()
    const { batches } = world
    const [first, second, third] = (await held(world, 3)) as [HeldChunk, HeldChunk, HeldChunk]
    assert.equal(await batches.takeRoom(first.hold, wanted(300, 700), MAX_BYTES), 700)
    assert.equal(await batches.takeRoom(second.hold, wanted(200, 700), MAX_BYTES), 300)
    assert.equal(await batches.takeRoom(third.hold, wanted(1), MAX_BYTES), 0)
    assert.equal(await keptBytes(world), 1000)
    // Its part has 5 bytes of head and 80 of output.
    await batches.finish(first.hold, { ...doneEnd(first), pictureBytes: 15 })
    assert.equal(await keptBytes(world), 400)
    assert.equal(await batches.takeRoom(second.hold, wanted(500), MAX_BYTES), 500)
    assert.equal(await keptBytes(world), 600)
    await batches.finish(second.hold, doneEnd(second))
    assert.equal(await keptBytes(world), 600, 'what is not known stays taken')
    assert.equal(await batches.takeRoom(third.hold, wanted(400, 900), MAX_BYTES), 400)
    await batches.giveBack(third.hold, 0)
    assert.equal(await keptBytes(world), 600)
  })

  test(`${name}: results and files share the room of their project, and of no other`, async () => {
    const world = await open()
    const { batches, files } = world
    const [chunk] = (await held(world, 1)) as [HeldChunk]
    const bounds = { maxFiles: 9, maxBytes: MAX_BYTES }
    const begin = (project: string, announcedBytes: number): Promise<string> =>
      files.begin({ id: fileIdOf(nextId()), project, keyId: 'k', announcedBytes }, bounds)
    assert.equal(await begin('shop', 600), 'begun')
    assert.equal(await begin('other', 1000), 'begun')
    assert.equal(await batches.takeRoom(chunk.hold, wanted(401), MAX_BYTES), 0)
    assert.equal(await batches.takeRoom(chunk.hold, wanted(400), MAX_BYTES), 400)
    assert.equal(await begin('shop', 1), 'too-many-bytes')
    await batches.finish(chunk.hold, { ...doneEnd(chunk), pictureBytes: 0 })
    assert.equal(await begin('shop', 315), 'begun')
    assert.equal(await begin('shop', 1), 'too-many-bytes')
  })

  test(`${name}: of many chunks and files at once, none gets the byte beyond the last`, async () => {
    const world = await open()
    const { batches, elsewhere, files } = world
    const chunks = await held(world, 12)
    const bounds = { maxFiles: 99, maxBytes: MAX_BYTES }
    const [taken, begun] = await Promise.all([
      Promise.all(
        chunks.map(({ hold }, index) =>
          (index % 2 === 0 ? batches : elsewhere).takeRoom(hold, wanted(90), MAX_BYTES),
        ),
      ),
      Promise.all(
        chunks.map(() =>
          files.begin({ id: fileIdOf(nextId()), project: 'shop', keyId: 'k', announcedBytes: 90 }, bounds),
        ),
      ),
    ])
    const got = taken.filter((bytes) => bytes > 0).length + begun.filter((one) => one === 'begun').length
    assert.equal(got, 11)
    assert.equal(await keptBytes(world), 990)
  })

  test(`${name}: the room of a node that died is its successor's, and is not taken twice`, async () => {
    const world = await open()
    const { batches, passes } = world
    const [lost] = (await held(world, 1)) as [HeldChunk]
    assert.equal(await batches.takeRoom(lost.hold, wanted(900), MAX_BYTES), 900)
    await passes(CHUNK_HOLD_MS + 1)
    const [next] = (await batches.claim(NODE, 1)) as [HeldChunk]
    assert.equal(next.hold.token, 2)
    await assert.rejects(batches.takeRoom(lost.hold, wanted(1), MAX_BYTES), ChunkLost)
    assert.equal(await batches.takeRoom(next.hold, wanted(800), MAX_BYTES), 800)
    assert.equal(await keptBytes(world), 800)
    await batches.cancel(next.hold.batchId, 'shop')
    await batches.finish(next.hold, { counts: doneEnd(next).counts, part: undefined })
    assert.equal(await keptBytes(world), 0)
  })

  test(`${name}: results whose last file was deleted go once their batch has ended, and give their room back`, async () => {
    const world = await open()
    const { batches, files } = world
    const chunks = (await held(world, 2)) as [HeldChunk, HeldChunk]
    const { batch } = chunks[0]
    const errors = (one: HeldChunk) => {
      const end = doneEnd(one)
      return { ...end, part: end.part && { ...end.part, errorBytes: 20 }, pictureBytes: 0 }
    }
    await batches.finish(chunks[0].hold, errors(chunks[0]))
    assert.equal(await files.delete(batch.outputFileId, 'shop'), true)
    assert.deepEqual(await files.due(9), [], 'an open batch still writes to it')
    await batches.finish(chunks[1].hold, errors(chunks[1]))
    assert.equal(await keptBytes(world), 210)
    const about = { project: 'shop', batchId: batch.id }
    assert.deepEqual(await files.due(9), [{ id: batch.outputFileId, ...about, endsResults: false }])
    await files.forgotten(batch.outputFileId)
    assert.equal(await keptBytes(world), 210, 'the error file is still there')
    await files.delete(batch.errorFileId, 'shop')
    assert.deepEqual(await files.due(9), [{ id: batch.errorFileId, ...about, endsResults: true }])
    await files.forgotten(batch.errorFileId)
    assert.equal(await keptBytes(world), 0)
    assert.ok(await batches.find(batch.id, 'shop'))
  })
}
