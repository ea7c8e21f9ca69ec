import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { runs } from '#test/support/arbitraries.ts'
import { failureKindOf, scrubbed, UpstreamFailure, type FailureKind } from './failure.ts'
import { keyFrom } from '../keys/key.ts'

for (const [status, code, kind] of [
  [400, undefined, 'refused'],
  [413, undefined, 'refused'],
  [422, undefined, 'refused'],
  [400, 'content_policy_violation', 'contentRefused'],
  [400, 'content_filter', 'contentRefused'],
  [401, undefined, 'rejectedUs'],
  [402, undefined, 'rejectedUs'],
  [403, undefined, 'rejectedUs'],
  [429, 'insufficient_quota', 'rejectedUs'],
  [404, undefined, 'missing'],
  [408, undefined, 'timedOut'],
  [504, undefined, 'timedOut'],
  [429, undefined, 'rateLimited'],
  [429, 'rate_limit_exceeded', 'rateLimited'],
  [424, undefined, 'failed'],
  [500, undefined, 'failed'],
  [502, 'toString', 'failed'],
  [503, undefined, 'failed'],
  [301, undefined, 'broken'],
  [204, undefined, 'broken'],
] as const) {
  test(`an upstream’s ${status}${code === undefined ? '' : ` ${code}`} is '${kind}'`, () => {
    assert.equal(failureKindOf(status, code), kind)
  })
}

test('only a refusal of the request itself is final; all else may be tried elsewhere', () => {
  const kinds: FailureKind[] = [
    'rejectedUs',
    'missing',
    'rateLimited',
    'failed',
    'unreachable',
    'timedOut',
    'broken',
  ]
  for (const kind of kinds) assert.ok(new UpstreamFailure(kind, '', { deployment: 'd' }).mayTryAnother, kind)
  for (const kind of ['refused', 'contentRefused'] as const) {
    assert.ok(!new UpstreamFailure(kind, '', { deployment: 'd' }).mayTryAnother, kind)
  }
})

/** Made up here, in the forms the providers give out. */
const secrets = {
  'OpenAI, project': 'sk-proj-AbCdEfGhIjKlMnOpQrStUvWx0123456789',
  'OpenAI, old': 'sk-0123456789abcdefABCDEF0123456789abcdefABCDEF01',
  Torana: keyFrom(Uint8Array.from({ length: 64 }, (_, index) => (index * 7) % 248)),
  Anthropic: 'sk-ant-api03-AbCdEfGhIjKlMnOpQrStUvWx',
  Google: 'AIzaSyA0123456789abcdefghijklmnopqrstuv',
  'Google OAuth': 'ya29.a0AfH6SMBxxxxxxxxxxxxxxxx',
  'AWS id': 'AKIAIOSFODNN7EXAMPLE',
  'Hugging Face': 'hf_AbCdEfGhIjKlMnOpQrStUvWxYz',
  Groq: 'gsk_AbCdEfGhIjKlMnOpQrStUvWxYz',
  Replicate: 'r8_AbCdEfGhIjKlMnOpQrStUvWxYz',
  Voyage: 'pa-AbCdEfGhIjKlMnOpQrStUvWxYz0123456789abcdef',
  Azure: '0123456789abcdef0123456789abcdef',
  'a JWT':
    'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6InRlc3QifQ.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U',
}
for (const [name, secret] of Object.entries(secrets)) {
  for (const wrap of [
    (text: string) => `Incorrect API key provided: ${text}. Check it.`,
    (text: string) => `{"key":"${text}"}`,
    (text: string) => `Authorization: Bearer ${text}`,
    (text: string) => `(${text})`,
  ]) {
    const message = wrap(secret)
    test(`nothing usable of a key is left: ${name} in ${wrap('…')}`, () => {
      const clean = scrubbed(message)
      for (let start = 0; start + 24 <= secret.length; start += 1) {
        assert.ok(!clean.includes(secret.slice(start, start + 24)), clean)
      }
      assert.match(clean, /\*\*\*/)
    })
  }
}

test('any credential behind Bearer or Basic is removed', () => {
  const credential = fc.stringMatching(/^[A-Za-z0-9._~+/=-]{8,60}$/)
  fc.assert(
    fc.property(fc.constantFrom('Bearer', 'bearer', 'BASIC'), credential, (scheme, credential) => {
      assert.equal(scrubbed(`${scheme} ${credential}`), `${scheme} ***`)
    }),
    runs(2000),
  )
})

test('what an upstream says in words is left as it is', () => {
  for (const message of [
    "This model's maximum context length is 8192 tokens, however you requested 10000 tokens.",
    'Rate limit reached for text-embedding-3-small in organization on requests per min (RPM): Limit 3, Used 3.',
    "Invalid value for 'encoding_format' = float. Supported values: [null, 'base64'].",
    'batch size 33 > maximum allowed batch size 32',
  ]) {
    assert.equal(scrubbed(message), message)
  }
})

test('a key that the upstream has masked itself is masked whole', () => {
  assert.equal(
    scrubbed('Incorrect API key provided: sk-proj-************6789.'),
    'Incorrect API key provided: ***.',
  )
})

test('a message is no longer than a screen', () => assert.equal(scrubbed('word '.repeat(1000)).length, 1000))
