import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { MANY_RUNS } from '#test/support/arbitraries.ts'
import { dedupe, split } from './batches.ts'
import type { Input } from './input.ts'

const weights = fc.array(fc.record({ tokens: fc.nat(50), bytes: fc.nat(200) }), { maxLength: 40 })
const caps = fc.record({
  maxInputs: fc.integer({ min: 1, max: 12 }),
  maxTokens: fc.option(fc.integer({ min: 1, max: 120 }), { nil: undefined }),
  maxBytes: fc.option(fc.integer({ min: -10, max: 500 }), { nil: undefined }),
})

test('split loses nothing, keeps the order and repeats nothing', () => {
  fc.assert(
    fc.property(weights, caps, (all, limits) => {
      const positions = split(all, limits).flatMap(([start, end]) => {
        assert.ok(end > start, 'an empty run')
        return Array.from({ length: end - start }, (_, index) => start + index)
      })
      assert.deepEqual(positions, [...all.keys()])
    }),
    MANY_RUNS,
  )
})

test('every run respects every cap, unless it is a single input that is too large alone', () => {
  fc.assert(
    fc.property(weights, caps, (all, { maxInputs, maxTokens = Infinity, maxBytes = Infinity }) => {
      for (const [start, end] of split(all, { maxInputs, maxTokens, maxBytes })) {
        const run = all.slice(start, end)
        if (run.length === 1) continue
        assert.ok(run.length <= maxInputs)
        assert.ok(run.reduce((sum, { tokens }) => sum + tokens, 0) <= maxTokens)
        assert.ok(run.reduce((sum, { bytes }) => sum + bytes, 0) <= maxBytes)
      }
    }),
    MANY_RUNS,
  )
})

test('no two neighbouring runs would have fitted into one call', () => {
  fc.assert(
    fc.property(weights, caps, (all, { maxInputs, maxTokens = Infinity, maxBytes = Infinity }) => {
      const runs = split(all, { maxInputs, maxTokens, maxBytes })
      for (const [index, [, end]] of runs.entries()) {
        const [start] = runs[index] as readonly [number, number]
        if (end === all.length) continue
        const longer = all.slice(start, end + 1)
        const fits =
          longer.length <= maxInputs &&
          longer.reduce((sum, { tokens }) => sum + tokens, 0) <= maxTokens &&
          longer.reduce((sum, { bytes }) => sum + bytes, 0) <= maxBytes
        assert.ok(!fits, `[${start}, ${end}) could have been longer`)
      }
    }),
    MANY_RUNS,
  )
})

const someInput: fc.Arbitrary<Input> = fc.oneof(
  fc
    .array(fc.constantFrom('a', 'b', 'c', 'A', '1', '1,2', '__proto__'), { minLength: 1 })
    .map((texts): Input => ({ kind: 'texts', texts })),
  fc
    .array(fc.array(fc.nat(12), { minLength: 1, maxLength: 3 }), { minLength: 1 })
    .map((tokens): Input => ({ kind: 'tokens', tokens })),
)

test('deduped inputs, put back by their slots, are the inputs; and no two of them are equal', () => {
  fc.assert(
    fc.property(someInput, (input) => {
      const all: readonly unknown[] =
        input.kind === 'texts' ? input.texts : input.kind === 'tokens' ? input.tokens : input.contents
      const { firsts, slots } = dedupe(input)
      const distinct = firsts.map((position) => all[position])
      assert.deepEqual(
        slots.map((slot) => distinct[slot]),
        all,
      )
      assert.equal(new Set(distinct.map((entry) => JSON.stringify(entry))).size, distinct.length)
      assert.deepEqual(
        firsts,
        firsts.toSorted((a, b) => a - b),
      )
    }),
    MANY_RUNS,
  )
})

test('token arrays that only look alike are kept apart', () => {
  const { firsts } = dedupe({ kind: 'tokens', tokens: [[1, 23], [12, 3], [123], [1, 2, 3], [1, 23]] })
  assert.deepEqual(firsts, [0, 1, 2, 3])
})
