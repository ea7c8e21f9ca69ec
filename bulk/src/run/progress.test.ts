import assert from 'node:assert/strict'
import { test } from 'node:test'
import { progressText } from './progress.ts'

const PART = { done: 25_000, total: 100_000, isExact: true, costNanoUsd: 12_500_000n, pause: undefined }

test('the line shows rows done, rate, cost and time left', () => {
  assert.equal(
    progressText(PART, 1250),
    '[######------------------] 25 %  25,000 of 100,000  1,250/s  $0.0125  60 s left',
  )
  assert.equal(
    progressText({ ...PART, total: 10_000_000, isExact: false }, 250),
    '[------------------------] 0 %  25,000 of about 10,000,000  250/s  $0.0125  11 h 5 min left',
  )
})

test('a paused run shows the reason, and no time left', () => {
  assert.equal(
    progressText({ ...PART, pause: 'budget_exhausted' }, 0),
    '[######------------------] 25 %  25,000 of 100,000  0/s  $0.0125  paused: budget_exhausted',
  )
})

test('without a rate the line shows no time left', () => {
  assert.equal(
    progressText({ ...PART, done: 0, total: undefined, costNanoUsd: 0n }, undefined),
    '[------------------------] 0 %  0  $0.00',
  )
})
