import assert from 'node:assert/strict'
import { test } from 'node:test'
import { remarksFrom, storedRemarks } from './entry-remarks.ts'

test('remarks are stored under the names that ledgers and spools have always had, and read back', () => {
  const remarks = { what: '1 image', costBy: 'upstream', reportedTokens: 9, reportedNanoUsd: '7' } as const
  const stored = storedRemarks(remarks)
  assert.deepEqual(Object.keys(stored), ['what', 'costBy', 'toldTokens', 'toldNanoUsd'])
  assert.deepEqual(remarksFrom(stored), remarks)
})
