import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isOldFact } from './fact-age.ts'

test('a fact is old after 120 days', () => {
  const at = (day: string): number => Date.parse(day)
  assert.equal(isOldFact('2026-07-21', at('2026-11-18')), false)
  assert.equal(isOldFact('2026-07-20', at('2026-11-18')), true)
  assert.equal(isOldFact(undefined, at('2026-11-18')), false)
})
