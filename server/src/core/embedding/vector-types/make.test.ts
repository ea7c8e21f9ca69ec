import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { float32Array, MANY_RUNS } from '#test/support/arbitraries.ts'
import { binaryOf, fitsFloat16, float16Of, ubinaryOf } from './make.ts'
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
  const views: readonly (readonly [TypeView, string])[] = [
    [{ type: 'float' }, ''],
    [{ type: 'float16' }, '/float16'],
    [{ type: 'binary', scale: 'gt0' }, '/binary:gt0'],
    [{ type: 'ubinary', scale: 'gt0' }, '/ubinary:gt0'],
    [{ type: 'int8', scale: 'native' }, '/int8:native'],
    [{ type: 'uint8', scale: 'native' }, '/uint8:native'],
  ]
  const values = Float32Array.from({ length: 16 }, (_, index) => (index - 8) / 16)
  for (const [view, suffix] of views) {
    assert.equal(suffixOf(view), suffix)
    if (!suffix.endsWith(':native')) assert.equal(typedOf(values, view).byteLength, bytesOf(view.type, 16))
  }
  assert.deepEqual([...typedOf(Float32Array.of(-3, 4), { type: 'int8', scale: 'native' })], [-3, 4])
  assert.deepEqual(new Set(views.map(([{ type }]) => type)), new Set(VECTOR_TYPES))
})
