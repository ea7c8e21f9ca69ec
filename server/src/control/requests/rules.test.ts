import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { LoggedCall, LoggedTrace } from '#ports/request-reports.ts'
import { amountsOf, stepsOf } from './rules.ts'

test('the lines of a call sum to what was posted for it, rounded up once', () => {
  const count = fc.record({
    of: fc.constant('tokens' as const),
    count: fc.integer({ min: 0, max: 10_000_000 }),
    nanoUsd: fc.bigInt({ min: 0n, max: 10n ** 12n }),
    per: fc.constantFrom(1 as const, 1_000_000 as const),
  })
  fc.assert(
    fc.property(fc.array(count, { minLength: 1, maxLength: 6 }), (counts) => {
      const millionths = counts.reduce(
        (sum, one) => sum + BigInt(one.count) * one.nanoUsd * (one.per === 1 ? 1_000_000n : 1n),
        0n,
      )
      const posted = (millionths + 999_999n) / 1_000_000n
      const amounts = amountsOf(counts, posted)
      assert.equal(
        amounts?.reduce<bigint>((sum, one) => sum + (one ?? 0n), 0n),
        posted,
      )
    }),
  )
})

test('counts that do not add up to the amount are not shown as if they did', () => {
  const counts = [{ of: 'tokens', count: 100, nanoUsd: 20_000_000n, per: 1_000_000 }] as const
  assert.deepEqual(amountsOf(counts, 2000n), [2000n])
  assert.equal(amountsOf(counts, 1999n), undefined)
  assert.equal(amountsOf([], 0n), undefined)
  assert.deepEqual(amountsOf(counts, undefined), [undefined])
})

const CALL: LoggedCall = {
  attempt: 0,
  callId: '',
  deployment: 'small/openai',
  part: 0,
  inputs: 101,
  startMs: 8,
  durationMs: 185,
  waitedMs: 1,
  firstByteMs: undefined,
  outcome: 'ok',
  status: undefined,
  reason: undefined,
  retryAfterMs: undefined,
  upstreamRequestId: undefined,
  insteadOf: undefined,
  sharedWith: 0,
  counts: [],
}

const TRACE = {
  moments: { authenticated: 0.1, read: 3.3, admitting: 3.4, admitted: 4.3, gathered: 197, settled: 199 },
  attempts: [CALL],
  bytesIn: 1_900_000,
  bytesOut: 3_900_000,
  width: 1536,
  encoding: 'base64',
}
const ROW = { duration_ms: 207, inputs: 640, hits: 412 }

test('the steps of a request follow each other, with its calls between gathering and checking', () => {
  assert.deepEqual(
    stepsOf(TRACE, ROW).map(({ name, start_ms, duration_ms }) => [name, start_ms, duration_ms]),
    [
      ['authenticate', 0, 0.1],
      ['read', 0.1, 3.2],
      ['negotiate', 3.3, 0.1],
      ['admit', 3.4, 0.9],
      ['gather', 4.3, 2.7],
      ['shape', 193, 4],
      ['settle', 197, 2],
      ['answer', 199, 8],
    ],
  )
  assert.deepEqual(stepsOf(TRACE, ROW).at(-1)?.note, { bytes: 3_900_000, encoding: 'base64' })
})

const ADMITTED = { authenticated: 1, read: 2, admitting: 3, admitted: 4 }
const BEFORE_ADMISSION = ['authenticate 0+1', 'read 1+1 bytes=1900000', 'negotiate 2+1']
const BEGUN = [...BEFORE_ADMISSION, 'admit 3+1']
const ENDED = 'bytes=3900000 encoding=base64'
/** The calls of two parts: the second begins first, and ends before the first one. */
const PARTS = [
  { ...CALL, startMs: 20, waitedMs: 5, durationMs: 30 },
  { ...CALL, startMs: 10, waitedMs: 2, durationMs: 20 },
]

const COURSES: readonly (readonly [
  name: string,
  trace: Pick<LoggedTrace, 'moments'> & Partial<Pick<LoggedTrace, 'attempts' | 'width' | 'encoding'>>,
  row: Partial<typeof ROW> | { readonly inputs: null; readonly hits: null },
  steps: readonly string[],
])[] = [
  [
    'calls lie between gathering and checking, from the first in the queue to the last that ends',
    { moments: { ...ADMITTED, gathered: 60, settled: 62 }, attempts: PARTS },
    {},
    [
      ...BEGUN,
      'gather 4+4 inputs=640 hits=412',
      'shape 50+10 vectors=640 width=1536',
      'settle 60+2',
      `answer 62+8 ${ENDED}`,
    ],
  ],
  [
    'the cache answers before the calls begin',
    { moments: { ...ADMITTED, lookedUp: 6, gathered: 60, settled: 62 }, attempts: PARTS },
    { hits: 0 },
    [
      ...BEGUN,
      'gather 4+2 inputs=640 hits=0',
      'shape 50+10 vectors=640 width=1536',
      'settle 60+2',
      `answer 62+8 ${ENDED}`,
    ],
  ],
  [
    'without a call, everything was in the cache',
    { moments: { ...ADMITTED, gathered: 7, settled: 9 }, attempts: [] },
    { inputs: null, hits: null },
    [...BEGUN, 'gather 4+3', 'shape 7+0 width=1536', 'settle 7+2', `answer 9+61 ${ENDED}`],
  ],
  [
    'images have no width',
    {
      moments: { ...ADMITTED, gathered: 7, settled: 9 },
      attempts: [],
      width: undefined,
      encoding: undefined,
    },
    {},
    [...BEGUN, 'gather 4+3 inputs=640 hits=412', 'shape 7+0', 'settle 7+2', 'answer 9+61 bytes=3900000'],
  ],
  ['an unknown key ends at once', { moments: {}, attempts: [] }, {}, ['authenticate 0+70']],
  [
    'a refusal is in the step that refused',
    { moments: { authenticated: 1 }, attempts: [] },
    {},
    ['authenticate 0+1', 'read 1+69 bytes=1900000'],
  ],
  [
    'no deployment fits',
    { moments: { authenticated: 1, read: 2 }, attempts: [] },
    {},
    ['authenticate 0+1', 'read 1+1 bytes=1900000', 'negotiate 2+68'],
  ],
  [
    'a budget refuses',
    { moments: { authenticated: 1, read: 2, admitting: 3 }, attempts: [] },
    {},
    [...BEFORE_ADMISSION, 'admit 3+67'],
  ],
  [
    'calls that all failed still have an answer',
    { moments: ADMITTED, attempts: PARTS.slice(1) },
    {},
    [...BEGUN, 'gather 4+4 inputs=640 hits=412', `answer 30+40 ${ENDED}`],
  ],
  ['no call could be made', { moments: ADMITTED, attempts: [] }, {}, [...BEGUN, `answer 4+66 ${ENDED}`]],
  [
    'the ledger did not take it',
    { moments: { ...ADMITTED, gathered: 60 }, attempts: PARTS },
    {},
    [...BEGUN, 'gather 4+4 inputs=640 hits=412', 'shape 50+10 vectors=640 width=1536', 'settle 60+10'],
  ],
  [
    'an earlier version recorded no authentication',
    { moments: { admitting: 3, admitted: 4 }, attempts: [] },
    {},
    ['admit 0+4', `answer 4+66 ${ENDED}`],
  ],
]

for (const [name, trace, row, expected] of COURSES)
  test(`the steps of a request: ${name}`, () => {
    const steps = stepsOf({ ...TRACE, ...trace }, { ...ROW, duration_ms: 70, ...row })
    const words = steps.map(({ name: step, start_ms, duration_ms, note }) => [
      step,
      `${start_ms}+${duration_ms}`,
      ...Object.entries(note).map((pair) => pair.join('=')),
    ])
    assert.deepEqual(
      words.map((one) => one.join(' ')),
      expected,
    )
  })

test('no step begins before the one before it, and none ends after the request', () => {
  const moment = fc.option(fc.double({ min: 0, max: 300, noNaN: true }), { nil: undefined })
  const moments = fc.record({
    authenticated: moment,
    read: moment,
    admitting: moment,
    admitted: moment,
    lookedUp: moment,
    gathered: moment,
    settled: moment,
  })
  fc.assert(
    fc.property(moments, fc.double({ min: 0, max: 300, noNaN: true }), (noted, durationMs) => {
      let atMs = 0
      const steps = stepsOf({ ...TRACE, moments: noted }, { ...ROW, duration_ms: durationMs })
      for (const { start_ms, duration_ms } of steps) {
        assert.ok(start_ms >= atMs - 0.011 && duration_ms >= 0)
        atMs = start_ms + duration_ms
      }
      assert.ok(atMs <= durationMs + 0.02)
    }),
  )
})
