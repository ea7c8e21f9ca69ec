import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FAULTS } from '../fault/table.ts'
import { headIn, headText, MAX_HEAD_BYTES, MAX_MAKERS, type PartHead } from './part.ts'

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
  done: { firstByte: MANY, bytes: MANY, firstLine: MANY, lines: MANY, without: 'A'.repeat(172) },
  rest: { firstByte: MANY, bytes: MANY, firstLine: MANY, lines: MANY, without: 'A'.repeat(172) },
  made: Array.from({ length: MAX_MAKERS + 8 }, (_, index) => ({
    space: `${'m'.repeat(500)}@1536:${index}`,
    deployment: `${'m'.repeat(500)}/${'u'.repeat(500)}`,
    fromMs: MANY,
    untilMs: MANY,
  })),
}

test('the head of a part in which lines failed in every way there is, with vectors of many makers, can be found again', () => {
  const text = headText(largest)
  assert.ok(text.length <= MAX_HEAD_BYTES, `${text.length} bytes`)
  assert.deepEqual(headIn(text), largest)
})

test('a part that an earlier version wrote is read: it names no faults, no tokens of answers and no makers', () => {
  const { faults: _, outputTokens: __, ...counts } = largest.counts
  const { made: ___, ...head } = { ...largest, counts: counts as PartHead['counts'] }
  const read = headIn(headText(head as PartHead))
  assert.deepEqual([read.counts.faults, read.counts.outputTokens, read.made], [{}, 0, []])
})
