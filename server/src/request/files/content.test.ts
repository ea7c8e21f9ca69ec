import assert from 'node:assert/strict'
import { buffer } from 'node:stream/consumers'
import { test } from 'node:test'
import fc from 'fast-check'
import { chunksBlobName } from '#core/files/blob-names.ts'
import { chunkListText } from '#core/files/chunk-list.ts'
import { StoreUnreachable } from '#ports/store.ts'
import { systemClock } from '#runtime/clock.ts'
import { MemoryBlobs } from '#stores/blobs/memory.ts'
import { bytesOf, chunksOf, segmentsWithin } from './content.ts'

test('any range of a file is the bytes that stand there, however the file lies in its blobs', async () => {
  const lengthsOfSegments = fc.array(fc.record({ before: fc.nat(5), bytes: fc.nat(9), behind: fc.nat(5) }), {
    minLength: 1,
  })
  await fc.assert(
    fc.asyncProperty(lengthsOfSegments, fc.nat(), fc.nat(), async (lengths, one, another) => {
      const blobs = new MemoryBlobs(systemClock)
      let next = 0
      const whole: number[] = []
      const segments = []
      for (const [number, { before, bytes, behind }] of lengths.entries()) {
        const blob = Uint8Array.from({ length: before + bytes + behind }, () => (next += 1))
        await blobs.put(`b/${number}`, blob)
        whole.push(...blob.subarray(before, before + bytes))
        segments.push({ blob: `b/${number}`, firstByte: before, bytes })
      }
      fc.pre(whole.length > 0)
      const [first = 0, last = 0] = [one % whole.length, another % whole.length].toSorted((a, b) => a - b)
      const read = await buffer(bytesOf(segmentsWithin(segments, { first, last }), blobs))
      assert.deepEqual([...read], whole.slice(first, last + 1))
    }),
  )
})

test('a blob that is missing is told, and never left out', async () => {
  const blobs = new MemoryBlobs(systemClock)
  await blobs.put('b/0', Buffer.from('one'))
  const segments = ['b/0', 'b/1'].map((blob) => ({ blob, firstByte: 0, bytes: 3 }))
  await assert.rejects(buffer(bytesOf(segments, blobs)), StoreUnreachable)
  await assert.rejects(chunksOf('file-1', blobs), StoreUnreachable)
})

test('chunks are read as they were kept', async () => {
  const blobs = new MemoryBlobs(systemClock)
  const chunks = [
    { firstByte: 0, bytes: 40, firstLine: 1, lines: 2, inputs: 7 },
    { firstByte: 41, bytes: 8_000_000_000, firstLine: 4, lines: 1, inputs: 1 },
  ]
  await blobs.put(chunksBlobName('file-1'), Buffer.from(chunkListText(chunks)))
  assert.deepEqual(await chunksOf('file-1', blobs), chunks)
  await blobs.put(chunksBlobName('file-1'), Buffer.from(chunkListText([])))
  assert.deepEqual(await chunksOf('file-1', blobs), [])
})
