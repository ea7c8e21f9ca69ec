import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SentPart } from '../sender.ts'
import { isQuiet, noiseOf } from './noise-verdict.ts'
import { flatness, isSustained, slopePerHour } from './steady-verdict.ts'

const GOOD: SentPart = { sent: 1000, answered: 1000, failures: {}, p50Ms: 3, p99Ms: 20 }

const HELD: readonly (readonly [what: string, part: SentPart, isHeld: boolean])[] = [
  ['all answered in time', GOOD, true],
  ['one request failed', { ...GOOD, answered: 999, failures: { '503 busy': 1 } }, false],
  ['a slow hundredth', { ...GOOD, p99Ms: 300 }, false],
  ['a sender that did not keep up', { ...GOOD, sent: 900, answered: 900 }, false],
]
for (const [what, part, isHeld] of HELD)
  test(`a rate is${isHeld ? '' : ' not'} held: ${what}`, () =>
    assert.equal(isSustained([part], { rate: 100, seconds: 10 }), isHeld))

test('p99 is flat when the last tenths are like the first, whatever one tenth met', () => {
  assert.ok(flatness([10, 11, 10, 10, 10, 90, 10, 12, 80, 11]).isFlat)
  assert.ok(!flatness([10, 11, 10, 12, 14, 15, 16, 18, 19, 20]).isFlat)
})

test('the slope of memory is that of the line through all samples', () => {
  const growing = Array.from({ length: 720 }, (_, index) => 200 + index / 72 + (index % 3))
  assert.ok(Math.abs(slopePerHour(growing, 5000) - 10) < 0.1)
  assert.equal(slopePerHour([200, 200, 200], 5000), 0)
})

test('the noise is the usual distance of two equal programs, in both directions', () => {
  assert.ok(isQuiet([0.97, 1.02, 1.05, 0.99, 1.3]))
  assert.ok(!isQuiet([0.85, 1.2, 0.8]))
  assert.ok(Math.abs(noiseOf([0.9, 0.9, 0.9]) - noiseOf([1 / 0.9, 1 / 0.9, 1 / 0.9])) < 1e-9)
})
