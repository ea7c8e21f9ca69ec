import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, describe, it } from 'node:test'
import { refusedMarker } from './refusals.ts'
import { startFakeProvider } from './server.ts'
import { embed, expected, isBase64, question, vectorsIn, type TestAnswer } from './test-client.ts'
import { scenarioOf, traits, UnknownTrait, type Trait } from './traits.ts'
import { wideNumberText } from './vectors.ts'
import { imageWires } from './images/wires/all.ts'
import { wires } from './wires/all.ts'

const provider = await startFakeProvider()
after(() => provider.close())

type Row = {
  traits: string
  fields?: object
  status?: number
  /** Looks at the answer; without it, a 200 must hold the right vectors. */
  check?: (answer: TestAnswer) => void
}

const bodyBytes = Buffer.byteLength(JSON.stringify(question))
const base64 = { encoding_format: 'base64' }
const float = { encoding_format: 'float' }

const rows: Row[] = [
  { traits: 'plain' },
  { traits: 'float-only', fields: base64, status: 400 },
  { traits: 'float-only', fields: float },
  { traits: 'base64-only', fields: float, status: 400 },
  { traits: 'base64-only', check: ({ json }) => assert.ok(isBase64(json())) },
  { traits: 'ignores-encoding', fields: base64, check: ({ json }) => assert.ok(!isBase64(json())) },
  { traits: 'refuses-float', fields: float, status: 400 },
  { traits: 'refuses-float', fields: { encoding_format: null } },
  { traits: 'refuses-float', fields: base64 },
  { traits: 'refuses-null', fields: { encoding_format: null }, status: 400 },
  { traits: 'refuses-null', fields: { user: null }, status: 400 },
  { traits: 'refuses-null', fields: float },
  { traits: 'refuses-encoding', fields: float, status: 400 },
  { traits: 'refuses-encoding', fields: { encoding_format: null }, status: 400 },
  { traits: 'refuses-encoding' },
  { traits: 'refuses-dimensions', fields: { dimensions: 16 }, status: 400 },
  { traits: 'refuses-dimensions' },
  { traits: 'ignores-dimensions', fields: { dimensions: 4 } },
  {
    traits: 'unscaled-dimensions',
    fields: { dimensions: 4 },
    check: ({ json }) =>
      assert.deepEqual(
        vectorsIn(json()),
        expected.map((vector) => vector.slice(0, 4)),
      ),
  },
  { traits: 'refuses-token-arrays', fields: { input: [[1, 2]] }, status: 400 },
  { traits: 'refuses-token-arrays-422', fields: { input: [1, 2] }, status: 422 },
  { traits: 'refuses-token-arrays' },
  { traits: 'refuses-user', fields: { user: 'u' }, status: 400 },
  { traits: 'refuses-user' },
  { traits: 'plain', fields: { user: 'u', task: 'x' } },
  { traits: 'strict-fields', fields: { task: 'x' }, status: 400 },
  { traits: 'strict-fields', fields: { user: 'u', ...float } },
  { traits: 'obeys-fields', fields: { user: 'u', ...float } },
  { traits: 'refuses-poison', fields: { input: ['fine', 'a poisonous one'] }, status: 400 },
  { traits: 'refuses-poison' },
  {
    traits: 'plain',
    fields: { input: ['fine', 'fine too', `no${refusedMarker}`, 'fine'] },
    status: 400,
    check: ({ json }) =>
      assert.deepEqual(json().error, {
        message: "Invalid 'input[2]': this text is not accepted.",
        type: 'invalid_request_error',
        param: 'input[2]',
        code: 'invalid_value',
      }),
  },
  { traits: 'max-inputs-3', status: 400 },
  { traits: 'max-inputs-4' },
  { traits: 'max-tokens-12', status: 400 },
  { traits: 'max-tokens-13' },
  { traits: 'max-input-tokens-4', status: 400 },
  { traits: 'max-input-tokens-5' },
  { traits: `max-bytes-${bodyBytes - 1}`, status: 413 },
  { traits: `max-bytes-${bodyBytes}` },
  {
    traits: 'wide-floats',
    check: ({ text }) => {
      for (const vector of expected) assert.ok(text.includes(wideNumberText(vector)))
    },
  },
  { traits: 'no-usage', check: ({ json }) => assert.ok(!('usage' in json())) },
  {
    traits: 'extra-fields',
    check: ({ json }) => {
      const { id, created, meta } = json() as unknown as Record<string, unknown>
      assert.deepEqual([typeof id, typeof created, typeof meta], ['string', 'number', 'object'])
      assert.deepEqual(vectorsIn(json()), expected)
    },
  },
  { traits: 'empty-data', check: ({ json }) => assert.deepEqual(json().data, []) },
  { traits: 'wrong-count', check: ({ json }) => assert.equal(json().data.length, 3) },
  {
    traits: 'shuffled',
    check: ({ json }) => {
      assert.deepEqual(
        json().data.map(({ index }) => index),
        [1, 3, 2, 0],
      )
      assert.deepEqual(vectorsIn(json()), expected)
    },
  },
  {
    traits: 'duplicate-index',
    check: ({ json }) =>
      assert.deepEqual(
        json().data.map(({ index }) => index),
        [0, 1, 2, 0],
      ),
  },
  {
    traits: 'nan',
    check: ({ text, json }) => {
      assert.ok(text.includes('"embedding":[NaN,'))
      assert.throws(json, SyntaxError)
    },
  },
  {
    traits: 'nan',
    fields: base64,
    check: ({ json }) => assert.ok(Number.isNaN(vectorsIn(json())[0]?.[0])),
  },
  { traits: 'infinite', check: ({ text }) => assert.ok(text.includes('"embedding":[1e999,')) },
  {
    traits: 'infinite',
    fields: base64,
    check: ({ json }) => assert.equal(vectorsIn(json())[0]?.[0], Infinity),
  },
  {
    traits: 'zero-vector',
    check: ({ json }) => assert.deepEqual(vectorsIn(json()), [new Float32Array(16), ...expected.slice(1)]),
  },
  {
    traits: 'wrong-width',
    check: ({ json }) =>
      assert.deepEqual(
        vectorsIn(json()).map(({ length }) => length),
        [15, 15, 15, 15],
      ),
  },
  {
    traits: 'mixed-width',
    check: ({ json }) =>
      assert.deepEqual(
        vectorsIn(json()).map(({ length }) => length),
        [16, 16, 16, 15],
      ),
  },
  {
    traits: 'bad-base64',
    fields: base64,
    check: ({ json }) => {
      const [first, second] = json().data.map(({ embedding }) => String(embedding))
      assert.match(first ?? '', /^![\w+/=]+$/)
      assert.match(second ?? '', /^[\w+/=]+$/)
    },
  },
  {
    traits: 'other-space',
    check: ({ json }) => {
      for (const [position, vector] of vectorsIn(json()).entries()) {
        assert.notDeepEqual(vector, expected[position])
      }
    },
  },
  { traits: 'vectors-other-model+drifts-from-5' },
  { traits: 'vectors-other-model+drifts-at-99' },
  {
    traits: 'status-418',
    status: 418,
    check: ({ json }) =>
      assert.deepEqual(json().error, {
        message: 'The scenario answers 418.',
        type: 'invalid_request_error',
        param: null,
        code: null,
      }),
  },
  {
    traits: 'status-429',
    status: 429,
    check: ({ headers }) => assert.equal(headers.get('retry-after'), '7'),
  },
  {
    traits: 'status-429+retry-after-0',
    status: 429,
    check: ({ headers }) => assert.equal(headers.get('retry-after'), null),
  },
  {
    traits: 'status-503+retry-after-1500',
    status: 503,
    check: ({ headers }) => {
      assert.equal(headers.get('retry-after'), '2')
      assert.equal(headers.get('retry-after-ms'), '1500')
    },
  },
  {
    traits: 'status-503',
    status: 503,
    check: ({ json }) => assert.equal(json().error?.type, 'server_error'),
  },
  {
    traits: 'quota',
    status: 429,
    check: ({ json }) => assert.equal(json().error?.code, 'insufficient_quota'),
  },
  {
    traits: 'content-refused',
    status: 400,
    check: ({ json }) => assert.equal(json().error?.code, 'content_policy_violation'),
  },
  {
    traits: 'status-400+error-detail',
    status: 400,
    check: ({ text }) => assert.equal(text, '{"detail":"The scenario answers 400."}'),
  },
  {
    traits: 'status-400+error-flat',
    status: 400,
    check: ({ text }) =>
      assert.deepEqual(Object.keys(JSON.parse(text) as object), ['message', 'code', 'type']),
  },
  {
    traits: 'status-400+error-string',
    status: 400,
    check: ({ text }) => assert.equal(text, '{"error":"The scenario answers 400."}'),
  },
  {
    traits: 'status-500+error-text',
    status: 500,
    check: ({ text, headers }) => {
      assert.equal(text, 'The scenario answers 500.')
      assert.equal(headers.get('content-type'), 'text/plain')
    },
  },
  { traits: 'status-401+error-empty', status: 401, check: ({ text }) => assert.equal(text, '') },
  {
    traits: 'status-502+error-html',
    status: 502,
    check: ({ text, headers }) => {
      assert.match(text, /^<!doctype html>/)
      assert.equal(headers.get('content-type'), 'text/html')
    },
  },
  { traits: 'max-inputs-1+error-detail', status: 400, check: ({ text }) => assert.match(text, /^{"detail"/) },
  {
    traits: 'other-model',
    check: ({ json }) => {
      assert.match(JSON.stringify(json()), /"model":"another-model"/)
      assert.deepEqual(vectorsIn(json()), expected)
    },
  },
  {
    traits: 'garbage',
    check: ({ json, headers }) => {
      assert.equal(headers.get('content-type'), 'application/json')
      assert.throws(json, SyntaxError)
    },
  },
  { traits: 'html-200', check: ({ headers }) => assert.equal(headers.get('content-type'), 'text/html') },
  {
    traits: 'chunked-7',
    check: ({ json, headers }) => {
      assert.equal(headers.get('transfer-encoding'), 'chunked')
      assert.deepEqual(vectorsIn(json()), expected)
    },
  },
]

/** Traits about time, state and connections are the matter of delivery.test.ts, capacity, modes and drift of theirs. */
const others = [
  'capacity-1+service-1+queue-1',
  'mode-x',
  'vectors-noise',
  'slow-1',
  'rate-limited-1',
  'fails-first-1',
  'leaks-key',
  'reset',
  'serves-then-resets',
  'half-body',
  'half-body-chunked',
  'never',
]

describe('every trait does what it says', () => {
  for (const { traits, fields = {}, status = 200, check } of rows) {
    it(`${traits} ${JSON.stringify(fields)} → ${status}`, async () => {
      const answer = await embed(`${provider.url}/${traits}`, fields)
      assert.equal(answer.status, status)
      if (check !== undefined) check(answer)
      else if (status === 200) assert.deepEqual(vectorsIn(answer.json()), expected)
      else assert.deepEqual(Object.keys(answer.json().error ?? {}), ['message', 'type', 'param', 'code'])
    })
  }

  it('no trait is left out here', () => {
    const scenarios = [...rows.map((row) => row.traits), ...others].map(scenarioOf)
    const untested = (Object.keys(traits) as Trait[]).filter(
      (trait) => !scenarios.some((scenario) => scenario.has(trait)),
    )
    assert.deepEqual(untested, [])
  })
})

describe('scenario names', () => {
  it('an unknown trait is answered 404 with its name and all that exist', async () => {
    for (const name of [
      'plane',
      'mode',
      'vectors-KIND',
      'vectors-odd',
      'max-inputs',
      'plain-3',
      'nan+wat',
      'max-inputs-x',
      '',
    ]) {
      assert.throws(() => scenarioOf(name), UnknownTrait)
    }
    const answer = await embed(`${provider.url}/nan+wat`)
    assert.equal(answer.status, 404)
    const message = answer.json().error?.message ?? ''
    assert.match(message, /"wat"/)
    for (const trait of Object.keys(traits)) assert.ok(message.includes(trait))
  })

  it('traits compose', async () => {
    const answer = await embed(`${provider.url}/base64-only+shuffled+no-usage+chunked-100`)
    const body = answer.json()
    assert.ok(isBase64(body))
    assert.ok(!('usage' in body))
    assert.notEqual(body.data[0]?.index, 0)
    assert.deepEqual(vectorsIn(body), expected)
  })

  it('an unknown path and another method are refused', async () => {
    assert.equal((await fetch(`${provider.url}/plain/v1/chat`, { method: 'POST' })).status, 404)
    assert.equal((await fetch(`${provider.url}/plain/v1/embeddings`)).status, 405)
    const notJson = await fetch(`${provider.url}/plain/v1/embeddings`, { method: 'POST', body: '{' })
    assert.equal(notJson.status, 400)
  })
})

describe('the README', () => {
  it('lists every wire', () => {
    const readme = readFileSync(new URL('./README.md', import.meta.url), 'utf8')
    for (const { name, base } of [...wires, ...imageWires])
      assert.ok(readme.includes(`| ${name} | \`${base}\``))
  })
})
