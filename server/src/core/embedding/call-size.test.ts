import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { runs } from '#test/support/arbitraries.ts'
import { coversSize, sizeIndex, sizeName, SIZES, type CallSize } from './call-size.ts'

const size = fc.record({
  inputs: fc.integer({ min: 1, max: 5000 }),
  tokens: fc.integer({ min: 0, max: 1_000_000 }),
})

test('two calls have one index exactly if they have one name: that is how calls are counted, and how probes are stored', () => {
  const indexOf = ({ inputs, tokens }: CallSize): number => sizeIndex(inputs, tokens)
  fc.assert(
    fc.property(size, size, (one, other) => {
      assert.ok(indexOf(one) > 0 && indexOf(one) < SIZES)
      assert.equal(indexOf(one) === indexOf(other), sizeName(one) === sizeName(other))
    }),
    runs(2000),
  )
  assert.equal(sizeIndex(0, 4000), 0, 'a call without texts')
})

test('a class covers the sizes of its own and of all smaller classes', () => {
  for (const [name, one, isCovered] of [
    ['1', { inputs: 1, tokens: 9000 }, true],
    ['1', { inputs: 2, tokens: 2 }, false],
    ['64x2048', { inputs: 100, tokens: 4095 }, true],
    ['64x2048', { inputs: 1, tokens: 9000 }, true],
    ['64x2048', { inputs: 128, tokens: 2048 }, false],
    ['64x2048', { inputs: 64, tokens: 4096 }, false],
  ] as const)
    assert.equal(coversSize(name, one), isCovered, `${name} ${one.inputs} ${one.tokens}`)
})
