import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PricedCount } from '#core/request/request-trace.ts'
import type { LoggedCall, LoggedTrace } from '#ports/request-reports.ts'
import type { Entry, LoggedRequest } from './detail-queries.ts'
import type { RequestRow } from './queries.ts'
import { detailOf, jobStepsOf } from './rules.ts'

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

const ID = '01900000-0000-7000-8000-000000000000'
const AT = '2026-11-17T12:00:00.000Z'
const REQUEST_ROW: RequestRow = {
  id: ID,
  at: AT,
  kind: 'embedding',
  source: 'callers',
  status: 200,
  fault: null,
  outcome: 'answered',
  project: 'ads',
  key: 'ads/web',
  model: 'small',
  deployments: ['small/openai'],
  calls: 1,
  inputs: 640,
  hits: 412,
  tokens: 100,
  images: null,
  cost_usd: '0.000002000',
  unpriced: false,
  usage: 'upstream',
  duration_ms: 207,
  own_ms: 20,
  waited_ms: 1,
  node: 'n1',
  asset: null,
  user: null,
  tags: {},
}
const LOGGED: LoggedTrace = {
  moments: { admitted: 4, gathered: 197, settled: 199 },
  attempts: [],
  bytesIn: 1_900_000,
  bytesOut: 3_900_000,
  width: 1536,
  encoding: 'base64',
  askedModel: undefined,
  space: undefined,
  usage: 'upstream',
  isUnpriced: false,
  asset: undefined,
  savedNanoUsd: 7n,
  reservation: undefined,
  emulated: [],
  dropped: [],
  wire: undefined,
  faultText: undefined,
  faultCause: undefined,
  skips: [],
}
const ENTRY: Entry = {
  attempt: 0,
  call_id: ID,
  kind: 'post',
  deployment: 'small/openai',
  usage: 'upstream',
  tokens: 90,
  images: 0,
  amount_usd: '0.000002000',
  cost_by: 'price',
  ['told_tokens']: null,
  ['told_usd']: null,
  at: AT,
  project: 'ads',
  key: 'ads/web',
  model: 'small',
  amount: '2000',
}

function logged(
  trace: Partial<LoggedTrace>,
  entries: readonly Entry[] = [],
  row = REQUEST_ROW,
): LoggedRequest {
  return {
    row,
    trace: { ...LOGGED, ...trace },
    entries,
    route: 'embeddings',
    client_request_id: null,
    client_address: null,
    project: 'ads',
  }
}

test('what was reserved and not posted is returned, and never less than nothing', () => {
  for (const [reserved, amounts, expected] of [
    [undefined, ['2000'], [null, '0.000002000', '0.000000000']],
    [5000n, ['2000'], ['0.000005000', '0.000002000', '0.000003000']],
    [5000n, ['2000', '1000'], ['0.000005000', '0.000003000', '0.000002000']],
    [5000n, ['9000', '-7000', null], ['0.000005000', '0.000002000', '0.000003000']],
    [2000n, ['2000'], ['0.000002000', '0.000002000', '0.000000000']],
    [1000n, ['2000'], ['0.000001000', '0.000002000', '0.000000000']],
    [1000n, [], ['0.000001000', '0.000000000', '0.000001000']],
  ] as const) {
    const reservation = reserved === undefined ? undefined : { nanoUsd: reserved, from: ['project:ads'] }
    const entries = amounts.map((amount) => ({ ...ENTRY, amount }))
    const detail = detailOf(logged({ reservation }, entries), null)
    const { money } = detail
    assert.deepEqual([money.reserved_usd, money.posted_usd, money.returned_usd], expected)
    assert.deepEqual(money.reserved_from, reserved === undefined ? [] : ['project:ads'])
    assert.equal(money.saved_usd, '0.000000007')
    assert.deepEqual([detail.log, detail.ledger], ['kept', entries])
  }
})

const TOKENS: PricedCount = { of: 'tokens', count: 100, nanoUsd: 20_000_000n, per: 1_000_000 }
const IMAGES: PricedCount = { of: 'images', count: 2, nanoUsd: 40n, per: 1 }

const LINES: readonly (readonly [
  name: string,
  entry: Partial<Entry>,
  counts: readonly PricedCount[],
  lines: readonly string[],
])[] = [
  ['a priced count', {}, [TOKENS], ['tokens 100 at 0.020000000/1000000 = 0.000002000 by upstream']],
  [
    'each count of a call has a line',
    { amount: '2080', amount_usd: '0.000002080' },
    [IMAGES, TOKENS],
    [
      'images 2 at 0.000000040/1 = 0.000000080 by upstream',
      'tokens 100 at 0.020000000/1000000 = 0.000002000 by upstream',
    ],
  ],
  [
    'Torana estimated it',
    { usage: 'estimated' },
    [TOKENS],
    ['tokens 100 at 0.020000000/1000000 = 0.000002000 by torana'],
  ],
  [
    'counts that do not add up to the amount',
    { amount: '1999', amount_usd: '0.000001999' },
    [TOKENS],
    ['tokens 90 at null/1 = 0.000001999 by upstream'],
  ],
  ['a call without counts', {}, [], ['tokens 90 at null/1 = 0.000002000 by upstream']],
  ['a call that the log lost', { attempt: 7 }, [TOKENS], ['tokens 90 at null/1 = 0.000002000 by upstream']],
  [
    'only posts are divided',
    { kind: 'unknown', usage: 'unknown' },
    [TOKENS],
    ['tokens 90 at null/1 = 0.000002000 by torana'],
  ],
  ['tokens that no one counted', { tokens: null }, [], ['tokens 0 at null/1 = 0.000002000 by upstream']],
  ['images that are not priced singly', { images: 3 }, [], ['images 3 at null/1 = 0.000002000 by upstream']],
  ['one image', { images: 1 }, [], ['images 1 at null/1 = 0.000002000 by upstream']],
  [
    'a count without a price, and an amount that is not known',
    { amount: null, amount_usd: null },
    [{ ...TOKENS, nanoUsd: undefined }],
    ['tokens 100 at null/1000000 = null by upstream'],
  ],
  [
    'what the cache served',
    { deployment: 'small/cache', amount: '0', amount_usd: '0.000000000' },
    [TOKENS],
    ['hits 412 at null/1 = 0.000000000 by torana'],
  ],
]

for (const [name, entry, counts, expected] of LINES)
  test(`the lines of a row of the ledger: ${name}`, () => {
    const { money } = detailOf(logged({ attempts: [{ ...CALL, counts }] }, [{ ...ENTRY, ...entry }]), null)
    assert.deepEqual(
      money.lines.map(
        (one) =>
          `${one.of} ${one.count} at ${one.price_usd}/${one.per} = ${one.amount_usd} by ${one.counted_by}`,
      ),
      expected,
    )
    const { attempt, call_id, deployment, kind, at } = { ...ENTRY, ...entry }
    for (const line of money.lines)
      assert.partialDeepStrictEqual(line, { attempt, call_id, deployment, kind, at })
  })

test('a row of the cache counts no hits where the log has none', () => {
  const cached = { ...ENTRY, deployment: 'small/cache' }
  const { money } = detailOf(logged({}, [cached], { ...REQUEST_ROW, hits: null }), null)
  assert.equal(money.lines[0]?.count, 0)
})

test('the error that the caller got, its cause and who was at fault are shown where the log has them', () => {
  assert.partialDeepStrictEqual(detailOf(logged({}), null), {
    fault_text: null,
    fault_cause: null,
    fault_party: null,
  })
  const text = 'The budget of search has $0.01 left.'
  const failed = { ...REQUEST_ROW, status: 503, fault: 'budget_store_unreachable' }
  assert.partialDeepStrictEqual(
    detailOf(logged({ faultText: text, faultCause: 'connect ECONNREFUSED' }, [], failed), null),
    { fault_text: text, fault_cause: 'connect ECONNREFUSED', fault_party: 'torana' },
  )
})

test('an attempt has every figure of its call, and null where there is none', () => {
  const known = {
    firstByteMs: 9,
    status: 429,
    reason: 'busy',
    retryAfterMs: 5,
    upstreamRequestId: 'u',
    insteadOf: 0,
  }
  const detail = detailOf(logged({ attempts: [CALL, { ...CALL, ...known, attempt: 1 }] }), null)
  const same = { call_id: '', deployment: 'small/openai', part: 0, inputs: 101, start_ms: 8, waited_ms: 1 }
  const absent = { first_byte_ms: null, status: null, reason: null, retry_after_ms: null }
  const last = { duration_ms: 185, outcome: 'ok', shared_with: 0 }
  assert.deepEqual(detail.attempts, [
    { attempt: 0, ...same, ...absent, ...last, upstream_request_id: null, instead_of: null },
    {
      attempt: 1,
      ...same,
      ...last,
      first_byte_ms: 9,
      status: 429,
      reason: 'busy',
      retry_after_ms: 5,
      upstream_request_id: 'u',
      instead_of: 0,
    },
  ])
})

test('the wire of a request whose call did not differ has the model alone', () => {
  const plain = detailOf(logged({}), null)
  assert.deepEqual(plain.wire, { in: { model: null }, out: { model: 'small' }, differences: [] })
  assert.deepEqual([plain.asked_model, plain.space], [null, null])
  const asked = detailOf(logged({ askedModel: 'alias', space: 'small@1536:00000000' }), null)
  assert.deepEqual(asked.wire.in, { model: 'alias' })
  assert.deepEqual([asked.asked_model, asked.space], ['alias', 'small@1536:00000000'])
  const { emulated, dropped } = detailOf(logged({ emulated: ['dimensions'], dropped: ['user'] }), null)
  assert.deepEqual([emulated, dropped], [['dimensions'], ['user']])
  const differences = [{ field: 'dimensions', how: 'emulated', note: 'cut' }] as const
  const wire = { in: { dimensions: 8 }, out: {}, differences }
  assert.deepEqual(detailOf(logged({ askedModel: 'alias', wire }), null).wire, wire)
})

test('the steps of an image job are those that the log of its request has', () => {
  const atMs = 0x0190_0000_0000
  const stepsIn = (trace: Partial<LoggedTrace>, entries: readonly Entry[] = []) =>
    jobStepsOf(logged(trace, entries)).map(({ name, at }) => [name, at === AT ? AT : Date.parse(at) - atMs])
  const reservation = { nanoUsd: 1n, from: [] }
  const failed = { ...CALL, startMs: 5, durationMs: 1, outcome: 'timeout' }
  assert.deepEqual(
    stepsIn({ reservation, attempts: [failed, CALL] }, [{ ...ENTRY, kind: 'intent' }, ENTRY]),
    [
      ['reserved', 4],
      ['sent', 5],
      ['delivered', 193],
      ['kept', 197],
      ['posted', AT],
    ],
  )
  assert.deepEqual(
    stepsIn({ moments: { admitted: 4 }, attempts: [failed] }, [{ ...ENTRY, kind: 'intent' }]),
    [['sent', 5]],
  )
  assert.deepEqual(stepsIn({ moments: {}, attempts: [], reservation }), [])
})
