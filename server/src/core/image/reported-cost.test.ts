import assert from 'node:assert/strict'
import { test } from 'node:test'
import { reportedNanoUsd } from './reported-cost.ts'

const CREDITS = { field: 'cost', usdPerUnit: 0.01 }
const DOLLARS = { field: 'usage.cost', usdPerUnit: 1 }

for (const [answer, at, expected] of [
  [{ cost: 4.5 }, CREDITS, 45_000_000n],
  [{ cost: 0 }, CREDITS, 0n],
  [{ usage: { cost: 0.0423 } }, DOLLARS, 42_300_000n],
  [{ usage: { cost: 0.000_000_000_4 } }, DOLLARS, 0n],
  [{ usage: 7 }, DOLLARS, undefined],
  [{ cost: '4.5' }, CREDITS, undefined],
  [{ cost: -1 }, CREDITS, undefined],
  [{ cost: null }, CREDITS, undefined],
  [{ cost: 1e308 }, { field: 'cost', usdPerUnit: 1000 }, undefined],
  [undefined, CREDITS, undefined],
  [{ cost: 4.5 }, undefined, undefined],
] as const) {
  test(`the cost that an answer names is read where and as the catalog says: ${JSON.stringify(answer)}`, () => {
    assert.equal(reportedNanoUsd(answer, at), expected)
  })
}
