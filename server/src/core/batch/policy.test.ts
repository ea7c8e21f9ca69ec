/** The policy of batches: a test for each row, and for the codes that it is about. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Fault, type FaultCode } from '../fault/fault.ts'
import { FAULTS } from '../fault/table.ts'
import {
  actionFor,
  kindOf,
  pauseAfter,
  POLICY,
  waitBefore,
  type Action,
  type FaultKind,
  type Situation,
} from './policy.ts'

/** The first attempt of many lines, with nothing known. */
const FIRST: Omit<Situation, 'kind'> = {
  lines: 256,
  payableLines: 0,
  isProbe: false,
  hasSucceeded: false,
  failuresBeside: 0,
  failuresInRow: 1,
  waits: 0,
}

const ROWS: readonly (readonly [
  row: string,
  kind: FaultKind,
  situation: Partial<Situation>,
  then: Action,
])[] = [
  ['every line would be refused', 'request', {}, 'fail'],
  ['every line would be refused', 'request', { isProbe: true, lines: 1 }, 'fail'],
  ['one of several inputs is refused', 'input', { lines: 2 }, 'split'],
  ['the only input is refused', 'input', { lines: 1 }, 'fail'],
  ['a call fails', 'call', {}, 'again'],
  ['a call fails', 'call', { lines: 1 }, 'again'],
  ['a call fails', 'call', { failuresInRow: 2 }, 'again'],
  ['a call fails', 'call', { lines: 1, failuresBeside: 2, hasSucceeded: true }, 'again'],
  ['the upstream is down', 'call', { failuresInRow: 3 }, 'pause'],
  ['the upstream is down', 'call', { failuresInRow: 1000, lines: 1 }, 'pause'],
  ['the upstream is down', 'call', { failuresInRow: 3, hasSucceeded: true }, 'pause'],
  ['the attempt after a pause fails', 'call', { isProbe: true, lines: 1 }, 'pause'],
  ['several lines fail, and the model answers others', 'call', { lines: 2, hasSucceeded: true }, 'split'],
  ['a line fails while others succeed', 'call', { lines: 1, failuresBeside: 3 }, 'fail'],
  ['a line fails while others succeed', 'call', { lines: 1, failuresBeside: 3, isProbe: true }, 'fail'],
  [
    'several lines fail, and the model answers others',
    'call',
    { lines: 2, failuresBeside: 8, hasSucceeded: true },
    'split',
  ],
  ['there is no room', 'moment', {}, 'again'],
  ['there is no room', 'moment', { waits: 29 }, 'again'],
  ['there has been no room for long', 'moment', { waits: 30 }, 'pause'],
  ['there is still no room after a pause', 'moment', { isProbe: true }, 'pause'],
  ['the budget is enough for some of the lines', 'budget', { payableLines: 1 }, 'split'],
  ['the budget is enough for some of the lines', 'budget', { payableLines: 255 }, 'split'],
  ['the budget is used up', 'budget', {}, 'pause'],
  ['the budget is used up', 'budget', { lines: 1, payableLines: 1 }, 'pause'],
  ['nothing of the kind can run', 'standstill', {}, 'pause'],
]

for (const [row, kind, situation, then] of ROWS)
  test(`${row} (${JSON.stringify(situation)}): ${then}`, () => {
    const all = { ...FIRST, kind, ...situation }
    assert.equal(actionFor(all), then)
    assert.equal(POLICY.find((one) => one.kind === kind && one.when(all))?.name, row)
  })

test('every row of the policy has a test', () => {
  const tested = new Set(ROWS.map(([row]) => row))
  assert.deepEqual(
    POLICY.filter(({ name }) => !tested.has(name)),
    [],
  )
})

const KINDS: readonly (readonly [kind: FaultKind, codes: readonly FaultCode[]])[] = [
  [
    'input',
    [
      'invalid_input',
      'empty_input',
      'input_too_long',
      'upstream_refused',
      'content_policy_violation',
      'part_unsupported',
      'parts_not_fusible',
      'too_many_parts',
      'invalid_media',
      'media_too_large',
      'media_unreachable',
    ],
  ],
  [
    'call',
    [
      'internal_error',
      'upstream_failed',
      'upstream_unreachable',
      'upstream_broken_answer',
      'upstream_timeout',
    ],
  ],
  [
    'moment',
    [
      'deployments_busy',
      'upstream_rate_limited',
      'budget_reserved',
      'space_left',
      'space_unprobed',
      'node_overloaded',
      'too_many_bodies',
      'client_closed_request',
    ],
  ],
  ['budget', ['budget_exhausted']],
  [
    'standstill',
    [
      'key_revoked',
      'key_expired',
      'project_deleted',
      'too_many_files',
      'disk_full',
      'ledger_unavailable',
      'space_quarantined',
      'key_store_unreachable',
      'budget_store_unreachable',
    ],
  ],
  [
    'request',
    ['model_not_found', 'model_not_allowed', 'model_unpriced', 'invalid_parameter', 'outcome_unknown'],
  ],
]

for (const [kind, codes] of KINDS)
  for (const code of codes)
    test(`${code} is about ${kind}`, () => assert.equal(kindOf(new Fault(code, 'x')), kind))

test('no fault of the table that a caller may retry fails a line at once', () => {
  for (const code of Object.keys(FAULTS) as FaultCode[]) {
    const { status } = FAULTS[code]
    if (status >= 500 || status === 429) assert.notEqual(kindOf(new Fault(code, 'x')), 'request', code)
  }
})

const PAUSES: readonly (readonly [code: FaultCode, seconds: readonly number[]])[] = [
  ['upstream_failed', [15, 30, 60, 60]],
  ['budget_exhausted', [60, 120, 240, 300, 300]],
  ['key_revoked', [60, 120]],
  ['too_many_files', [60, 120]],
]

for (const [code, seconds] of PAUSES)
  test(`pauses after ${code} grow up to a bound`, () => {
    let pauseMs: number | undefined
    for (const expected of seconds) {
      pauseMs = pauseAfter({ code }, pauseMs)
      assert.equal(pauseMs, expected * 1000)
    }
  })

test('a wait for room is what the fault says, within five seconds; after failures it grows', () => {
  assert.deepEqual(
    [
      waitBefore('moment', 0, undefined),
      waitBefore('moment', 0, 200),
      waitBefore('moment', 0, 60_000),
      waitBefore('call', 1, 60_000),
      waitBefore('call', 2, undefined),
      waitBefore('call', 9, undefined),
    ],
    [1000, 200, 5000, 1000, 3000, 3000],
  )
})
