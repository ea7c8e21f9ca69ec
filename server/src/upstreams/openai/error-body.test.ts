import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { anyText, runs } from '#test/support/arbitraries.ts'
import { assertLinear } from '#test/support/cpu-growth.ts'
import { readErrorBody, retryAfterMsIn, retryAfterMsSaid } from './error-body.ts'

for (const [title, body, message, code, param] of [
  [
    'OpenAI',
    {
      error: {
        message: 'no such model',
        type: 'invalid_request_error',
        param: 'model',
        code: 'model_not_found',
      },
    },
    'no such model',
    'model_not_found',
    'model',
  ],
  [
    'OpenAI without a code',
    { error: { message: 'm', type: 'server_error', param: null, code: null } },
    'm',
    'server_error',
  ],
  [
    'Azure',
    { error: { code: 'content_filter', message: 'filtered', innererror: {} } },
    'filtered',
    'content_filter',
  ],
  ['Google', { error: { code: 400, message: 'bad', status: 'INVALID_ARGUMENT' } }, 'bad', 'INVALID_ARGUMENT'],
  ['FastAPI', { detail: 'too long' }, 'too long'],
  [
    'FastAPI, validating',
    { detail: [{ loc: ['body'], msg: 'field required' }, { msg: 'wrong type' }] },
    'field required; wrong type',
  ],
  [
    'TEI',
    { error: 'batch size 33 > maximum allowed batch size 32', error_type: 'Validation' },
    'batch size 33 > maximum allowed batch size 32',
  ],
  ['Cohere', { message: 'invalid request: input_type' }, 'invalid request: input_type'],
  ['a message within a message', { error: { message: { message: 'inner' } } }, 'inner'],
] as const) {
  test(`the words of an error are found: ${title}`, () => {
    assert.deepEqual(readErrorBody(JSON.stringify(body)), { message, code, param })
  })
}

for (const [title, body, message] of [
  [
    'a page',
    '<html><head><style>b{}</style><script>x()</script></head><body><h1>502</h1>Bad <b>Gateway</b></body></html>',
    '502 Bad Gateway',
  ],
  ['plain text on several lines', 'upstream\n  connect\terror', 'upstream connect error'],
  ['nothing', '', 'it gave no reason.'],
  ['an empty object', '{}', 'it gave no reason.'],
  ['a bare string', '"overloaded"', 'overloaded'],
] as const) {
  test(`${title} becomes one line`, () => assert.equal(readErrorBody(body).message, message))
}

test('no body whatsoever throws, and each message is one line of at most 1,000 characters', () => {
  const body = fc.oneof(
    anyText,
    fc.jsonValue().map((value) => JSON.stringify(value)),
    fc.jsonValue().map((error) => JSON.stringify({ error })),
  )
  fc.assert(
    fc.property(body, (body) => {
      const { message } = readErrorBody(body)
      assert.ok(message.length > 0 && message.length <= 1000)
      assert.doesNotMatch(message, /[\r\n]/)
    }),
    runs(5000),
  )
})

for (const part of [
  '<',
  '<script',
  '<style>',
  '</script',
  '<a',
  '< >',
  ' ',
  'bearer ',
  'sk-',
  'a-',
  '<script></style>',
])
  test(`64 KB of ${JSON.stringify(part)} are read in time that grows with their length`, () => {
    assertLinear(64 * 1024, (characters) => {
      const text = part.repeat(Math.ceil(characters / part.length))
      const body = JSON.stringify({ error: { message: text } })
      return () => {
        for (const one of [text, body]) assert.ok(readErrorBody(one).message.length <= 1000)
      }
    })
  })

test('messages and lists that are nested without end do not throw', () => {
  for (const depth of [100, 5900, 10_000]) {
    const nested = `${'{"message":'.repeat(depth)}"deep"${'}'.repeat(depth)}`
    assert.equal(readErrorBody(`{"error":${nested}}`).message, 'it gave no reason.')
    const list = `${'['.repeat(depth)}${']'.repeat(depth)}`
    assert.equal(readErrorBody(`{"detail":[${list},"shown"]}`).message, '; shown')
  }
})

test('a page of 60 KB shows its words, though its style sheet comes first', () => {
  const page = `<html><STYLE>${'b{}'.repeat(20_000)}</Style><h1>503</h1> Try later</html>`
  assert.equal(readErrorBody(page).message, '503 Try later')
})

const NOW_MS = Date.parse('2026-11-15T00:00:00Z')
for (const [headers, expected] of [
  [{}, undefined],
  [{ 'retry-after': '7' }, 7000],
  [{ 'retry-after': '0.5' }, 500],
  [{ 'retry-after-ms': '250', 'retry-after': '7' }, 250],
  [{ 'retry-after': 'Sun, 15 Nov 2026 00:00:09 GMT' }, 9000],
  [{ 'retry-after': 'Sat, 14 Nov 2026 00:00:09 GMT' }, 0],
  [{ 'retry-after': '-5' }, 0],
  [{ 'retry-after': '86400' }, 60_000],
  [{ 'retry-after': 'soon' }, undefined],
  [{ 'retry-after-ms': 'soon', 'retry-after': '3' }, 3000],
] as const) {
  test(`${JSON.stringify(headers)} is a wait of ${expected} ms`, () =>
    assert.equal(retryAfterMsIn(headers, NOW_MS), expected))
}

for (const [words, expected] of [
  ['Rate limit reached. Please try again in 12s.', 12_000],
  ['Please try again in 6ms. Visit https://example.com', 6],
  ['Please try again in 1m30s.', 60_000],
  ['Please try again in 0.25 seconds', 250],
  ['Please retry after 7 seconds.', 7000],
  ['Please retry in 13.2s.', 13_200],
  ['Try again in 200 milliseconds', 200],
  ['Retry after 1 minute', 60_000],
  ['Please try again in 9999999999s', undefined],
  ['Please try again later.', undefined],
  ['Please try again in a moment', undefined],
] as const) {
  test(`"${words}" is a wait of ${expected} ms`, () => assert.equal(retryAfterMsSaid(words), expected))
}

test('a byte order mark before an error, and a list around it, hide no words', () => {
  const error = { message: 'no', code: 'bad', param: 'input' }
  for (const body of [`\ufeff${JSON.stringify({ error })}`, JSON.stringify([{ error }])])
    assert.deepEqual(readErrorBody(body), error)
  assert.equal(readErrorBody('[]').message, '[]')
})
