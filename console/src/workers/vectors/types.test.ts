import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { nearestOf } from './neighbours.ts'
import { cosinesAt, runningTotals } from './running-totals.ts'
import { bytesOf, keptByType, toBits, toFloat16, typeWidths, unitVectors, VECTOR_TYPES } from './types.ts'

/** Texts in clusters, the same each time. */
function clustered(count: number, width: number): Float32Array {
  let state = 7
  const next = (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32 - 0.5
  }
  const centres = Array.from({ length: 6 }, () => Array.from({ length: width }, next))
  return Float32Array.from(
    { length: count * width },
    (_, at) => centres[Math.floor(at / width) % 6]![at % width]! + next(),
  )
}

test('float16 is the nearest one, and of two the even one, as the language has it', () => {
  const f16round = (Math as unknown as { f16round: (value: number) => number }).f16round
  fc.assert(
    fc.property(fc.float({ min: -1, max: 1, noNaN: true }), (value) => {
      assert.equal(toFloat16(value) + 0, f16round(value) + 0)
    }),
    { numRuns: 2000 },
  )
  for (const value of [
    0,
    1,
    -1,
    1 + 2 ** -11,
    1 + 3 * 2 ** -11,
    2 ** -24,
    2 ** -25,
    3 * 2 ** -25,
    -(2 ** -14),
  ])
    assert.equal(toFloat16(value) + 0, f16round(value) + 0)
})

test('bits are 1 above zero, never at zero, and the first is the highest of its byte', () => {
  const units = Float64Array.of(0.1, 0, -0.1, 0.2, -0, 0.3, 0.4, -1, 0, 0, 0, 0, 0, 0, 0, 1e-30)
  assert.deepEqual([...toBits(units)], [0b1001_0110, 0b0000_0001])
})

test('vectors are cut first and then brought to unit length', () => {
  const units = unitVectors(Float32Array.of(3, 4, 12, 0, 0, 7), { count: 2, width: 3, cut: 2 })
  assert.deepEqual([...units], [Math.fround(0.6), Math.fround(0.8), 0, 0])
})

test('float at full width keeps everything, float16 nearly so, and bits are helped by rescoring', () => {
  const [count, width] = [120, 64]
  const values = clustered(count, width)
  const totals = runningTotals(values, count)
  const nearest = nearestOf(cosinesAt(totals, totals.widths.indexOf(width)), count)
  const whole = keptByType({ count, width, values, tokens: 0 }, width, nearest)
  const cut = keptByType({ count, width, values, tokens: 0 }, 16, nearest)
  assert.deepEqual(whole.float, { mean: 1, plusMinus: 0 })
  assert.ok(whole.float16 && whole.float16.mean > 0.99)
  assert.ok(whole.binary && whole.rescored && cut.float)
  assert.ok(whole.rescored.mean > whole.binary.mean)
  assert.ok(cut.float.mean < 0.9 && cut.float.plusMinus > 0.005 && cut.float.plusMinus < 0.1)
  assert.deepEqual(keptByType({ count, width, values, tokens: 0 }, 16, nearest), cut)
  assert.equal(keptByType({ count, width, values, tokens: 0 }, 12, nearest).binary, undefined)
})

test('bytes are those of a vector in memory', () => {
  const sizes = VECTOR_TYPES.map((type) => bytesOf(type, 768))
  assert.deepEqual(sizes, [3072, 1536, 96, 96])
})

for (const [width, narrower, widths] of [
  [3072, 'any', [3072, 1536, 768, 256, 128]],
  [1536, 'any', [1536, 768, 256, 128, 64]],
  [96, 'any', [96, 32, 16, 8]],
  [512, 'none', [512]],
  [1024, [256, 512], [1024, 512, 256]],
  [2048, [64, 128, 256, 512, 1024, 1536], [2048, 1024, 512, 256, 128]],
] as const)
  test(`of a model of ${width} that takes ${String(narrower)}, the widths are ${widths.join()}`, () =>
    assert.deepEqual(typeWidths(width, narrower), widths))
