import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resultSegments } from './result-segments.ts'

test('the file of a batch has the halves of all its parts in order, page after page', async () => {
  const parts = Array.from({ length: 2005 }, (_, index) => ({
    // Numbers have gaps.
    number: 3 * index,
    chunk: index,
    token: 1,
    headBytes: 10,
    outputBytes: 100 + index,
    errorBytes: 7,
    firstLine: 1 + index,
  }))
  const asked: (number | undefined)[] = []
  const batches = {
    parts: async (_id: string, { after, limit }: { after?: number | undefined; limit: number }) => {
      asked.push(after)
      return parts.filter(({ number }) => number > (after ?? -1)).slice(0, limit)
    },
  }
  for (const [half, firstByte, bytes] of [
    ['output', 10, 100 + 2004],
    ['error', 10 + 100 + 2004, 7],
  ] as const) {
    asked.length = 0
    const segments = await resultSegments({ kind: 'batch', batchId: 'batch_1', half }, batches)
    assert.deepEqual(asked, [undefined, 3 * 999, 3 * 1999])
    assert.equal(new Set(segments.map(({ blob }) => blob)).size, 2005)
    assert.deepEqual(segments.at(-1), { blob: 'batches/batch_1/2004-1', firstByte, bytes })
  }
})
