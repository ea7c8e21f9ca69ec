import assert from 'node:assert/strict'
import { test } from 'node:test'
import { VECTOR_TYPES, type KeptByType } from '../../workers/vectors/types.ts'
import { measuredOf, smallestOf } from './smallest.ts'

const kept = (...means: (number | undefined)[]): KeptByType =>
  Object.fromEntries(
    VECTOR_TYPES.map((type, place) => {
      const mean = means[place]
      return [type, mean === undefined ? undefined : { mean, plusMinus: 0.01 }]
    }),
  ) as unknown as KeptByType

const WIDTHS = [3072, 768, 256]
/** float, float16, rescored, binary at each width. */
const MEASURED = measuredOf(WIDTHS, [
  kept(1, 1, 0.992, 0.896),
  kept(0.959, 0.958, 0.951, 0.783),
  kept(0.887, 0.887, 0.842, 0.604),
])

for (const [title, wish, oneStep, rescored] of [
  ['one step and rescoring each have their smallest', 0.95, ['float16', 768, 1536], ['rescored', 768, 96]],
  ['a smaller wish takes what is smaller', 0.85, ['binary', 3072, 384], ['rescored', 768, 96]],
  ['a wish that only half of the bytes fulfil', 0.995, ['float16', 3072, 6144], undefined],
  ['rescoring that is no smaller than one step is left out', 0.6, ['binary', 256, 32], undefined],
  ['a wish that nothing smaller fulfils', 1.01, undefined, undefined],
] as const)
  test(title, () => {
    const smallest = smallestOf(MEASURED, wish)
    const said = (one = smallest.oneStep) => one && [one.type, one.width, one.bytes]
    assert.deepEqual(said(), oneStep)
    assert.deepEqual(smallest.rescored && said(smallest.rescored), rescored)
  })

test('a width without whole bytes of bits has no binary', () => {
  const types = measuredOf([12], [kept(1, 1, undefined, undefined)]).map(({ type }) => type)
  assert.deepEqual(types, ['float', 'float16'])
})
