import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FAULTS } from '../fault/table.ts'
import { outcomeOf } from './request-outcome.ts'

test('every fault has an outcome that says whose fault it is', () => {
  for (const [code, { status }] of Object.entries(FAULTS))
    assert.notEqual(outcomeOf(status, code), 'answered', code)
  assert.equal(outcomeOf(200, undefined), 'answered')
  assert.equal(outcomeOf(202, undefined), 'answered')
  assert.equal(outcomeOf(401, 'invalid_api_key'), 'refused')
  assert.equal(outcomeOf(424, 'outcome_unknown'), 'unknown')
  assert.equal(outcomeOf(429, 'rate_limit_exceeded'), 'limited')
  assert.equal(outcomeOf(429, 'budget_exhausted'), 'limited')
  assert.equal(outcomeOf(429, 'upstream_rate_limited'), 'failed')
  assert.equal(outcomeOf(502, 'upstream_failed'), 'failed')
})
