import { test } from 'node:test'
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { nanoOf, shareOf, sumOf, usdOf } from './money.ts'

test('every amount comes back as it was sent, to the nano-dollar', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(10n ** 24n), max: 10n ** 24n }), (nano) => {
      assert.equal(nanoOf(usdOf(nano)), nano)
    }),
  )
})

test('sums are exact where doubles are not', () => {
  assert.equal(usdOf(sumOf(['0.100000000', '0.200000000'])), '0.300000000')
  assert.equal(usdOf(sumOf(['9007199254.740993000', '0.000000001', null, undefined])), '9007199254.740993001')
  assert.equal(usdOf(sumOf([])), '0.000000000')
})

test('what is no amount is refused, never taken for zero', () => {
  for (const text of ['', 'free', '1e-7', '0.0000000001', '1,000', ' 1'])
    assert.throws(() => nanoOf(text), RangeError, text)
})

test('a share of nothing is nothing', () => {
  assert.equal(shareOf('1.000000000', '0.000000000'), 0)
  assert.equal(shareOf('1.000000000', '4.000000000'), 0.25)
})
