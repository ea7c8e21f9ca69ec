import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NOTHING } from '#core/batch/chunk.ts'
import type { LineRange } from '#core/batch/chunk.ts'
import { headText, partName, type PartRanges } from '#core/batch/part.ts'
import type { HeldChunk } from '#ports/batches.ts'
import { systemClock } from '#runtime/clock.ts'
import { MemoryBlobs } from '#stores/blobs/memory.ts'
import { ChunkResults } from './chunk-results.ts'
import { keepPart, partBefore } from './kept-part.ts'

const RANGE: LineRange = { firstByte: 100, bytes: 50, firstLine: 11, lines: 10 }
const REST: LineRange = { firstByte: 130, bytes: 20, firstLine: 16, lines: 5 }
const DONE: LineRange = { firstByte: 100, bytes: 30, firstLine: 11, lines: 5 }
const COUNTS = { ...NOTHING, completed: 5, costNanoUsd: 7n }
const hold = (token: number) => ({ batchId: 'b', chunk: 1, token })
const held = (token: number) => ({ ...RANGE, hold: hold(token) }) as HeldChunk

async function left(token: number, ranges: PartRanges, name = partName('b', 1, token)) {
  const blobs = new MemoryBlobs(systemClock)
  const head = headText({ counts: COUNTS, outputBytes: 6, errorBytes: 4, made: [], ...ranges })
  await blobs.put(name, new TextEncoder().encode(`${head}output\nerr`))
  return { blobs, part: { token, headBytes: head.length, outputBytes: 6, errorBytes: 4 } }
}

test('the part of an earlier holder is found, with the lines that it did and those that it left', async () => {
  for (const [ranges, done] of [
    [{ done: undefined, rest: undefined }, undefined],
    [{ done: DONE, rest: REST }, DONE],
    // An earlier version wrote only the rest at the end.
    [{ done: undefined, rest: REST }, DONE],
  ] as const) {
    const { blobs, part } = await left(3, ranges)
    const { rest } = ranges
    assert.deepEqual(await partBefore(held(4), blobs), { counts: COUNTS, part, done, rest, made: [] })
  }
})

test('a part of this holder, of a later one, of another chunk or without a token is not taken', async () => {
  const ranges = { done: undefined, rest: undefined }
  for (const [token, name] of [
    [4, undefined],
    [5, undefined],
    [3, partName('b', 11, 3)],
    [3, partName('other', 1, 3)],
    [3, `${partName('b', 1, 3)}x`],
  ] as const) {
    const { blobs } = await left(token, ranges, name)
    assert.equal(await partBefore(held(4), blobs), undefined)
    // The part of an earlier holder is found behind it.
    const { blobs: other } = await left(2, ranges)
    const bytes = await Array.fromAsync((await other.open(partName('b', 1, 2)))?.bytes ?? [])
    await blobs.put(partName('b', 1, 2), Buffer.concat(bytes))
    assert.equal((await partBefore(held(4), blobs))?.part?.token, 2)
  }
})

test('a part that is only a head is read to its last byte', async () => {
  const blobs = new MemoryBlobs(systemClock)
  const ranges = { done: undefined, rest: undefined }
  const head = headText({ counts: COUNTS, outputBytes: 0, errorBytes: 0, made: [], ...ranges })
  await blobs.put(partName('b', 1, 2), new TextEncoder().encode(head))
  assert.equal((await partBefore(held(3), blobs))?.part?.headBytes, head.length)
})

test('the first holder of a chunk looks for nothing', async () => {
  const { blobs } = await left(1, { done: undefined, rest: undefined })
  blobs.list = () => assert.fail('listed')
  assert.equal(await partBefore(held(1), blobs), undefined)
})

test('a part that was deleted since it was listed is passed over', async () => {
  const { blobs } = await left(2, { done: undefined, rest: undefined })
  const gone = { list: blobs.list.bind(blobs), open: async () => undefined }
  assert.equal(await partBefore(held(4), gone as unknown as MemoryBlobs), undefined)
})

test('what a holder keeps is what the next one finds', async () => {
  const blobs = new MemoryBlobs(systemClock)
  const results = new ChunkResults({
    batchId: 'b',
    firstLine: 11,
    docsUrl: 'http://docs',
    bytesOf: (text) => text.length,
  })
  const line = { firstByte: 0, number: 0, customId: 'c', request: undefined, fault: undefined }
  results.expired([line])
  const ranges = { done: DONE, rest: REST }
  const end = await keepPart(hold(2), results, ranges, blobs)
  assert.deepEqual([end.counts.expired, end.part?.token, end.done, end.rest], [1, 2, DONE, REST])
  const found = await partBefore(held(3), blobs)
  assert.deepEqual({ ...found }, { ...end })
  const [kept] = await blobs.list({ prefix: '', limit: 9 })
  const { headBytes = 0, outputBytes = 0, errorBytes = 0 } = end.part ?? {}
  assert.deepEqual([kept?.name, kept?.size], [partName('b', 1, 2), headBytes + outputBytes + errorBytes])
})
