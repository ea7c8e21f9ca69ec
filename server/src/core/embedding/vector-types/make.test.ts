import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { float32Array, MANY_RUNS } from '#test/support/arbitraries.ts'
import { calibrationId, faultInRanges } from './calibration.ts'
import { binaryOf, fitsFloat16, float16Of, int8Of, RangeCollector, ubinaryOf, uint8Of } from './make.ts'
import { bytesOf, faultInTyped, numbersOf, VECTOR_TYPES } from '../../catalog/vector-type.ts'
import { suffixOf, typedOf, type TypeView } from './view.ts'

test('float16 is the nearest value, ties go to the even one, and what would overflow is found', () => {
  fc.assert(
    fc.property(float32Array(1, 16), (values) => {
      const made = float16Of(values)
      assert.equal(fitsFloat16(values), made.every(Number.isFinite))
      const bits = new Uint16Array(made.buffer)
      for (const [index, value] of values.entries()) {
        const size = Math.abs(value)
        if (size >= 65_520) continue
        const half = made[index] as number
        const own = (bits[index] as number) & 0x7f_ff
        const neighbours = new Float16Array(Uint16Array.of(Math.max(own - 1, 0), own + 1).buffer)
        for (const other of neighbours) {
          const gap = Math.abs(Math.abs(half) - size)
          const otherGap = Math.abs(other - size)
          assert.ok(gap <= otherGap, `${value} became ${half}, and ${other} is nearer`)
          if (gap === otherGap && other !== Math.abs(half)) assert.equal(own & 1, 0, `${value} is a tie`)
        }
      }
    }),
    MANY_RUNS,
  )
})

test('binary has a bit for each dimension, the first one most significant, 1 where the value is above zero', () => {
  fc.assert(
    fc.property(float32Array(1, 40), (values) => {
      const bytes = ubinaryOf(values)
      assert.equal(bytes.length, numbersOf('ubinary', values.length))
      const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('')
      const expected = [...values].map((value) => (value > 0 ? '1' : '0')).join('')
      assert.equal(bits, expected.padEnd(bytes.length * 8, '0'))
      assert.deepEqual(
        [...binaryOf(values)],
        [...bytes].map((byte) => byte - 128),
      )
    }),
    MANY_RUNS,
  )
})

test('int8 and uint8 stay within their steps: the least value is the first, the greatest the last, others between', () => {
  const vectors = fc
    .integer({ min: 1, max: 8 })
    .chain((width) => fc.array(float32Array(width, width), { minLength: 2, maxLength: 20 }))
  fc.assert(
    fc.property(vectors, (rows) => {
      const ranges = new RangeCollector(rows[0]?.length ?? 0)
      for (const row of rows) ranges.add(row)
      for (const row of rows) {
        const bytes = uint8Of(row, ranges)
        assert.deepEqual(
          [...int8Of(row, ranges)],
          [...bytes].map((byte) => byte - 128),
        )
        for (const [index, value] of row.entries()) {
          const min = ranges.mins[index] as number
          const max = ranges.maxs[index] as number
          if (value === min) assert.equal(bytes[index], 0)
          const step = Math.fround(Math.fround(max - min) / 255)
          // A step near the smallest float32 is not 1/255 of its range any more.
          if (value === max && step > 1e-30 && Number.isFinite(step))
            assert.ok((bytes[index] as number) >= 254)
        }
      }
    }),
    MANY_RUNS,
  )
})

test('a value outside its range gets the first or the last step, and a range without width the first', () => {
  const ranges = { mins: Float32Array.of(0, 0, 1), maxs: Float32Array.of(1, 1, 1) }
  assert.deepEqual([...uint8Of(Float32Array.of(-5, 5, 1), ranges)], [0, 255, 0])
})

test('an id of a calibration changes with model, space, width and any range', () => {
  const ranges = { mins: Float32Array.of(0, 0), maxs: Float32Array.of(1, 1) }
  const other = { mins: Float32Array.of(0, 0), maxs: Float32Array.of(1, Math.fround(1.0000001)) }
  const ids = [
    calibrationId('m', 's', 2, ranges),
    calibrationId('n', 's', 2, ranges),
    calibrationId('m', 't', 2, ranges),
    calibrationId('m', 's', 2, other),
  ]
  assert.equal(new Set(ids).size, ids.length)
  for (const id of ids) assert.match(id, /^[0-9a-f]{8}$/)
})

for (const [title, mins, maxs, words] of [
  ['too few values', [0], [1], /1 least/],
  ['a value that is not finite', [0, Number.NaN], [1, 1], /not finite/],
  ['a least value above the greatest', [0, 2], [1, 1], /above/],
  ['hardly any range', [1, 1], [1, 1], /one value only/],
] as const) {
  test(`ranges with ${title} are refused`, () => {
    const ranges = { mins: Float32Array.from(mins), maxs: Float32Array.from(maxs) }
    assert.match(faultInRanges(ranges, 2) ?? '', words)
  })
}

test('numbers of an upstream that are no bytes of the type are found', () => {
  for (const [type, good, bad] of [
    ['int8', [-128, 127], [128]],
    ['uint8', [0, 255], [-1]],
    ['binary', [-128, 127], [0.5]],
    ['ubinary', [0, 255], [256]],
  ] as const) {
    assert.equal(faultInTyped(Float32Array.from(good), type), undefined)
    assert.match(faultInTyped(Float32Array.from(bad), type) ?? '', /no whole number/)
  }
})

test('every view has its own suffix, and its values have the bytes that the type promises', () => {
  const calibration = {
    id: '9f31abcd',
    model: 'm',
    space: 's',
    width: 16,
    vectors: 1000,
    madeAtMs: 0,
    madeBy: 'a',
    mins: new Float32Array(16).fill(-1),
    maxs: new Float32Array(16).fill(1),
  }
  const views: readonly (readonly [TypeView, string])[] = [
    [{ type: 'float' }, ''],
    [{ type: 'float16' }, '/float16'],
    [{ type: 'int8', scale: calibration }, '/int8:cal-9f31abcd'],
    [{ type: 'uint8', scale: calibration }, '/uint8:cal-9f31abcd'],
    [{ type: 'binary', scale: 'gt0' }, '/binary:gt0'],
    [{ type: 'ubinary', scale: 'gt0' }, '/ubinary:gt0'],
    [{ type: 'int8', scale: 'native' }, '/int8:native'],
  ]
  const values = Float32Array.from({ length: 16 }, (_, index) => (index - 8) / 16)
  for (const [view, suffix] of views) {
    assert.equal(suffixOf(view), suffix)
    if (suffix !== '/int8:native') assert.equal(typedOf(values, view).byteLength, bytesOf(view.type, 16))
  }
  assert.deepEqual([...typedOf(Float32Array.of(-3, 4), { type: 'int8', scale: 'native' })], [-3, 4])
  assert.deepEqual(new Set(views.map(([{ type }]) => type)), new Set(VECTOR_TYPES))
})
