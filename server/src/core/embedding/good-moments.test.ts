import assert from 'node:assert/strict'
import { test } from 'node:test'
import { goodBefore, type LookedAt } from './good-moments.ts'

const LARGE = { inputs: 64, tokens: 2048 }
const SIZES = { '8x128': 100, '64x2048': 200, '16x512': 300 }
const GOODS = [100, 200, 300, 400]

for (const [what, probe, since] of [
  ['one short text: by any probe', { isInUse: true }, 400],
  ['all texts, at their interval: by any probe of all texts', {}, 300],
  ['calls of a size: by calls of that size', { isInUse: true, size: LARGE }, 200],
  ['calls of a smaller size: by larger ones too', { isInUse: true, size: { inputs: 32, tokens: 512 } }, 200],
  [
    'calls of a size that was never good: by nothing',
    { isInUse: true, size: { inputs: 64, tokens: 9000 } },
    undefined,
  ],
  ['one short text, late', { isInUse: true, atMs: 250 }, 200],
  ['calls of a size, late', { isInUse: true, size: LARGE, atMs: 150 }, undefined],
  ['all texts, late', { atMs: 50 }, undefined],
] as const)
  test(`what a bad probe shows was not so yet, by its last witness: ${what}`, () => {
    const looked: LookedAt = { atMs: 500, ...probe }
    assert.equal(goodBefore(looked, GOODS, SIZES), since)
  })
