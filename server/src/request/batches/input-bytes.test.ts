import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FileSegment } from '#ports/files.ts'
import { StoreUnreachable } from '#ports/store.ts'
import { systemClock } from '#runtime/clock.ts'
import { MemoryBlobs } from '#stores/blobs/memory.ts'
import { InputBytes } from './input-bytes.ts'

async function fileInPieces(pieces: readonly string[]) {
  const blobs = new MemoryBlobs(systemClock)
  let segments: FileSegment[] = []
  for (const [number, text] of pieces.entries()) {
    await blobs.put(`f/${number}`, Buffer.from(text))
    segments.push({ blob: `f/${number}`, firstByte: 0, bytes: text.length })
  }
  let asked = 0
  const files = {
    async segments() {
      asked += 1
      return segments
    },
  }
  const textAt = async (firstByte: number, bytes: number): Promise<string | undefined> => {
    const read = await input.read('file-a', { firstByte, bytes })
    return read && Buffer.from(read).toString()
  }
  const input = new InputBytes(files, blobs)
  return { textAt, blobs, asked: () => asked, forget: () => (segments = []) }
}

test('however many chunks are read of a file, its store is asked once where it lies', async () => {
  const { textAt, asked } = await fileInPieces(['abcd', 'efgh', 'ij'])
  const read = []
  for (let first = 0; first < 10; first += 1) read.push(await textAt(first, 1))
  assert.equal(read.join(''), 'abcdefghij')
  assert.equal(await textAt(2, 7), 'cdefghi')
  assert.equal(asked(), 1)
})

test('a file whose bytes are gone is told, and then asked for anew', async () => {
  const { textAt, blobs, forget } = await fileInPieces(['abcd'])
  assert.equal(await textAt(0, 4), 'abcd')
  await blobs.delete('f/0')
  forget()
  await assert.rejects(textAt(0, 4), StoreUnreachable)
  assert.equal(await textAt(0, 4), undefined)
})
