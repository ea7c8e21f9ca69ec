import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FAULTS } from '../fault/table.ts'
import { PAUSED_BY_PERSON, REMEDY_ROWS, remedyFor, type Remedy } from './remedy.ts'

const CASES: readonly (readonly [code: string, remedy: Remedy, retries: boolean])[] = [
  [PAUSED_BY_PERSON, 'resume', false],
  ['budget_exhausted', 'raise_budget', true],
  ['budget_reserved', 'raise_budget', true],
  ['key_revoked', 'continue', false],
  ['key_expired', 'continue', false],
  ['too_many_files', 'free_storage', true],
  ['disk_full', 'free_storage', true],
  ['space_quarantined', 'check_space', true],
  ['space_left', 'check_space', true],
  ['upstream_failed', 'check_upstream', true],
  ['upstream_timeout', 'check_upstream', true],
  ['no_healthy_deployment', 'check_upstream', true],
  ['key_store_unreachable', 'wait', true],
  ['rate_limit_exceeded', 'wait', true],
  ['a code of a later version', 'wait', true],
]

for (const [code, remedy, retries] of CASES)
  test(`a pause for ${code} names its next step: ${remedy}`, () => {
    const found = remedyFor(code)
    assert.deepEqual([found.remedy, found.retries], [remedy, retries])
    assert.match(found.text, /\.$/)
  })

test('each code of a fault is in one row, and is a fault', () => {
  const codes = REMEDY_ROWS.flatMap(({ codes: own }) => own)
  assert.equal(new Set(codes).size, codes.length)
  for (const code of codes) assert.ok(code === PAUSED_BY_PERSON || code in FAULTS, code)
})
