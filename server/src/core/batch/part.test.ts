import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FAULTS } from '../fault/table.ts'
import { headIn, headText, MAX_HEAD_BYTES, type PartHead } from './part.ts'

const MANY = 999_999_999_999

const largest: PartHead = {
  counts: {
    completed: MANY,
    failed: MANY,
    expired: MANY,
    tokens: MANY,
    outputTokens: MANY,
    costNanoUsd: 2n ** 63n,
    faults: Object.fromEntries(Object.keys(FAULTS).map((code) => [code, 100_000])),
  },
  outputBytes: MANY,
  errorBytes: MANY,
  rest: { firstByte: MANY, bytes: MANY, firstLine: MANY, lines: MANY },
}

test('the head of a part in which lines failed in every way there is can be found again', () => {
  const text = headText(largest)
  assert.ok(text.length <= MAX_HEAD_BYTES, `${text.length} bytes`)
  assert.deepEqual(headIn(text), largest)
})

test('a part that an earlier version wrote is read: it names no faults and no tokens of answers', () => {
  const { faults: _, outputTokens: __, ...counts } = largest.counts
  const text = headText({ ...largest, counts: counts as PartHead['counts'] })
  const read = headIn(text).counts
  assert.deepEqual([read.faults, read.outputTokens], [{}, 0])
})
