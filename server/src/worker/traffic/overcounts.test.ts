import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Overcounts } from './overcounts.ts'

const HOUR_MS = 3_600_000

test('a deployment is forgotten a day after it last counted more than was expected, and few are remembered', () => {
  const overcounts = new Overcounts()
  overcounts.add('m/u', false, 0)
  overcounts.add('m/u', true, HOUR_MS)
  const known = { deployment: 'm/u', calls: 2, cutCalls: 1, sinceMs: 0, lastMs: HOUR_MS }
  assert.deepEqual(overcounts.lately(25 * HOUR_MS), [known])
  assert.deepEqual(overcounts.lately(25 * HOUR_MS + 1), [])
  for (let count = 0; count < 100; count += 1) overcounts.add(`m/${count}`, false, 26 * HOUR_MS)
  assert.equal(overcounts.lately(26 * HOUR_MS).length, 50)
})
