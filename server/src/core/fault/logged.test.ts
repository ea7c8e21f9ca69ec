import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { UpstreamFailure, type FailureKind } from './failure.ts'
import { Fault } from './fault.ts'
import { loggedCause, loggedText } from './logged.ts'
import { faultOfFailure } from './of-failure.ts'
import { named, shown } from './shown.ts'

const unreachable = new UpstreamFailure(
  'unreachable',
  'connection refused',
  { deployment: 'm/u' },
  'connect ECONNREFUSED 10.0.0.7:80',
)
const quoting = new UpstreamFailure('refused', 'too long: canary text', { deployment: 'm/u', status: 400 })
const silent = new UpstreamFailure('failed', '', { deployment: 'm/u', status: 500 })

const TEXTS: readonly (readonly [name: string, fault: Fault, kept: string])[] = [
  ['a limit', new Fault('budget_exhausted', 'Nothing is left.'), 'Nothing is left.'],
  ['a failure of ours', new Fault('budget_store_unreachable', 'No store.'), 'No store.'],
  [
    'an unreachable upstream',
    faultOfFailure(unreachable, 'm', 1),
    'm/u could not be reached (connection refused).',
  ],
  ['an upstream’s words', faultOfFailure(quoting, 'm', 1), 'm/u refused the request with 400: […]'],
  ['an upstream without words', faultOfFailure(silent, 'm', 1), 'm/u failed with 500: '],
  [
    'an upstream’s words in the fault of an earlier job, which has no cause',
    new Fault('content_policy_violation', 'm/u refused the content: canary', { upstream: quoting.detail }),
    'm/u refused the content: […]',
  ],
  [
    'a model that does not exist',
    new Fault(
      'model_not_found',
      `Model ${named('text-embeding-3-small')} is not configured. Did you mean 'text-embedding-3-small'?`,
    ),
    "Model 'text-embeding-3-small' is not configured. Did you mean 'text-embedding-3-small'?",
  ],
  [
    'a text in the place of a model',
    new Fault('model_not_found', `Model ${named('the canary text')} is not configured. This key may use: m.`),
    'Model […] is not configured. This key may use: m.',
  ],
  [
    'a text in the place of an option',
    new Fault('invalid_parameter', `size is ${shown('a "canary" text')}; it must be 'auto'.`),
    "size is […]; it must be 'auto'.",
  ],
  [
    'a long text in the place of an option',
    new Fault('invalid_parameter', `size is ${shown('canary text '.repeat(20))}; send another.`),
    'size is […]; send another.',
  ],
  [
    'a text in the place of a field’s name',
    new Fault('unsupported_parameter', "'a 'canary' field' is not known. Remove 'a 'canary' field'.", {
      param: "a 'canary' field",
    }),
    '[…] is not known. Remove […].',
  ],
  [
    'a field and its apostrophes',
    new Fault('invalid_parameter', "The gateway's limit: 'n' can't be 'x'.", { param: 'n' }),
    "The gateway's limit: 'n' can't be 'x'.",
  ],
  [
    'something like a secret',
    new Fault('invalid_parameter', `user is ${shown('sk-proj-AbCdEfGhIjKlMnOpQrStUvWx0123')}.`),
    'user is "***".',
  ],
]

for (const [name, fault, kept] of TEXTS)
  test(`the log keeps what the caller read, without what may be content: ${name}`, () => {
    assert.equal(loggedText(fault), kept)
  })

test('a value of several words never gets into the log, however it is quoted', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'binary', maxLength: 40 }),
      fc.string({ unit: 'binary', maxLength: 40 }),
      fc.constantFrom(named, shown),
      (before, after, quote) => {
        const value = `${before} canary ${after}`
        const fault = new Fault('invalid_parameter', `n's value is ${quote(value)}; it isn't 'one'.`)
        assert.doesNotMatch(loggedText(fault), /canary/)
        const field = new Fault('invalid_parameter', `'${value}' is unknown.`, { param: value })
        assert.doesNotMatch(loggedText(field), /canary/)
      },
    ),
  )
})

test('a text in the log is bounded', () => {
  assert.equal(loggedText(new Fault('internal_error', 'of '.repeat(1000))).length, 600)
})

test('a cause is kept where it can not quote the caller: words of ours, and of the system', () => {
  const refused = Object.assign(new Error('connect ECONNREFUSED 10.0.0.7:5432'), { syscall: 'connect' })
  const store = new Error('the store with canary', { cause: refused })
  for (const [cause, kept] of [
    [unreachable, 'connect ECONNREFUSED 10.0.0.7:80'],
    [quoting, undefined],
    [store, 'connect ECONNREFUSED 10.0.0.7:5432'],
    [new TypeError('canary is not a function'), 'TypeError'],
    ['canary', undefined],
    [undefined, undefined],
  ] as const)
    assert.equal(loggedCause(cause), kept)
  const kinds: readonly FailureKind[] = ['unreachable', 'timedOut', 'broken']
  for (const kind of kinds)
    assert.equal(loggedCause(new UpstreamFailure(kind, 'why', { deployment: 'm/u' })), 'why')
})
