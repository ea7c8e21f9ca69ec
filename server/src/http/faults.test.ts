import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ThreadBusy } from '#ports/asker.ts'
import { faultHeaders, toFault } from './faults.ts'

test('a request whose turn at a thread did not come may be tried again, and the cause stays in the log', () => {
  const full = toFault(new ThreadBusy('full', 'inside words'))
  const late = toFault(new ThreadBusy('late', 'inside words'))
  assert.deepEqual(
    [full.code, full.entry.status, late.code, late.entry.status],
    ['node_overloaded', 503, 'upstream_timeout', 504],
  )
  for (const fault of [full, late]) {
    assert.equal(faultHeaders(fault, 'r')['x-should-retry'], 'true')
    assert.doesNotMatch(fault.message, /inside/)
    assert.ok(fault.cause instanceof ThreadBusy)
  }
  assert.equal(faultHeaders(full, 'r')['retry-after'], '1')
})
