import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { bitsOf, float32, float32Array, MANY_RUNS } from '#test/support/arbitraries.ts'
import { numberTextOf } from './number-text.ts'

function textOf(values: Float32Array): string {
  return Buffer.from(numberTextOf(values)).toString('latin1')
}

test('the JSON text of any float32 values reads back as the same bits', () => {
  fc.assert(
    fc.property(float32Array(0, 24), (values) => {
      const read = Float32Array.from(JSON.parse(textOf(values)) as number[])
      assert.deepEqual(bitsOf(read), bitsOf(values))
    }),
    MANY_RUNS,
  )
})

test('no value takes more than nine significant digits', () => {
  fc.assert(
    fc.property(float32, (value) => {
      const [mantissa = ''] = textOf(Float32Array.of(value)).slice(1, -1).toLowerCase().split('e')
      const digits = mantissa.replaceAll(/[-.]/g, '').replace(/^0+/, '')
      assert.ok(digits.length <= 9, mantissa)
    }),
    MANY_RUNS,
  )
})

for (const [value, text] of [
  [0, '0'],
  [-0, '-0'],
  [0.5, '0.5'],
  [-0.25, '-0.25'],
  [0.1, '0.1'],
] as const) {
  test(`${text} is written plainly`, () =>
    assert.equal(JSON.parse(textOf(Float32Array.of(value)))[0], JSON.parse(text)))
}

test('every float32 around a power of ten is exact: there the number of digits changes', () => {
  for (let exponent = -8; exponent <= 1; exponent += 1) {
    const bits = new Uint32Array(Float32Array.of(10 ** exponent).buffer)[0] as number
    const around = new Float32Array(
      Uint32Array.from({ length: 4001 }, (_, index) => bits - 2000 + index).buffer,
    )
    const read = Float32Array.from(JSON.parse(textOf(around)) as number[])
    assert.deepEqual(bitsOf(read), bitsOf(around))
  }
})
