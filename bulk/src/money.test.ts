import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decimalOf, dollars, nanoUsdOf } from './money.ts'

const AMOUNTS = [
  ['0', 0n, '0.000000000', '$0.00'],
  ['0.000000020', 20n, '0.000000020', '$0.00000002'],
  ['12.5', 12_500_000_000n, '12.500000000', '$12.50'],
  ['1000000000.000000001', 1_000_000_000_000_000_001n, '1000000000.000000001', '$1000000000.000000001'],
] as const

test('amounts of the gateway are read, summed up and shown exactly', () => {
  for (const [usd, nanoUsd, decimal, shown] of AMOUNTS) {
    assert.equal(nanoUsdOf(usd), nanoUsd)
    assert.equal(decimalOf(nanoUsd), decimal)
    assert.equal(dollars(nanoUsd), shown)
  }
  for (const usd of ['', '-1', '1e-7', '0.0000000001']) assert.throws(() => nanoUsdOf(usd), RangeError, usd)
})
