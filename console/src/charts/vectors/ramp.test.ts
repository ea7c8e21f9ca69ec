import { test } from 'node:test'
import assert from 'node:assert/strict'
import { rampOf, rgbOf, stepOf } from './ramp.ts'

test('a ramp goes from one colour to the other, and values outside have its ends', () => {
  const ramp = rampOf(rgbOf('#000000'), rgbOf('#4587e0'))
  assert.deepEqual(ramp[0], [0, 0, 0])
  assert.deepEqual(ramp.at(-1), [0x45, 0x87, 0xe0])
  assert.equal(stepOf(-3, 0, 1), 0)
  assert.equal(stepOf(7, 0, 1), ramp.length - 1)
  assert.equal(stepOf(Number.NaN, 0, 1), 0)
})
