import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FaultCode } from '#core/fault/fault.ts'
import { assertFault } from '#test/support/errors.ts'
import { startGateway } from '#test/support/gateway.ts'

const shapes = ['error-detail', 'error-flat', 'error-string', 'error-text', 'error-html'] as const

const gateway = await startGateway({
  models: {
    'plain-w16': { on: 'plain' },
    'no-tokenizer-w16': { on: 'plain+key-texts', embedding: { tokenizer: 'none' } },
    'texts-w16': { on: 'refuses-token-arrays' },
    'short-w16': { on: 'plain+key-short', embedding: { maxInputTokens: 8, tokenCounts: 'exact' } },
    'list-w16': { on: 'plain+key-list', capabilities: { dimensions: [4, 8] } },
    'two-w16': { on: 'max-inputs-2', capabilities: { maxInputs: 2 } },
    'strict-w16': { on: ['strict-fields', 'plain'] },
    'cohere-w16': { on: 'plain', upstream: { base: 'cohere/v2', dialect: 'ai-sdk', provider: 'cohere' } },
    'refused-w16': { on: ['status-400', 'plain'] },
    'unprocessable-w16': { on: ['status-422', 'plain'] },
    'too-large-w16': { on: ['status-413', 'plain'] },
    'poison-w16': { on: ['refuses-poison', 'plain'] },
    'content-w16': { on: ['content-refused', 'plain'] },
    'leaks-w16': { on: 'leaks-key' },
    ...Object.fromEntries(shapes.map((shape) => [`${shape}-w16`, { on: `status-400+${shape}` }])),
    'error-empty-w16': { on: 'status-400+error-empty' },
  },
  limits: { maxInputs: 5 },
})

const model = 'plain-w16'
const cases: readonly (readonly [
  title: string,
  body: unknown,
  FaultCode,
  param: string | null,
  words?: RegExp,
])[] = [
  ['no JSON', '{"model": "plain-w16", "input": ', 'invalid_json', null],
  ['an empty body', '', 'invalid_json', null],
  ['a list', [], 'invalid_json', null],
  ['null', 'null', 'invalid_json', null],
  [
    'more levels than a request has',
    `{"model":"${model}","input":"a","extra":${'['.repeat(32)}${']'.repeat(32)}}`,
    'invalid_json',
    null,
    /deeper than 32 levels/,
  ],
  [
    'more fields than a request has',
    Object.fromEntries([['model', model], ...Array.from({ length: 64 }, (_, index) => [`f${index}`, 1])]),
    'invalid_json',
    null,
    /more than 64 fields/,
  ],
  [
    'more values than a request has',
    { model, input: 'a', extra: Array(10_100).fill(1) },
    'invalid_json',
    null,
    /more than \d+ values beside the 5 texts or lists that input may have/,
  ],
  ['no model', { input: 'a' }, 'missing_parameter', 'model', /GET \/v1\/models/],
  ['an empty model', { model: '', input: 'a' }, 'invalid_parameter', 'model'],
  ['no input', { model }, 'missing_parameter', 'input'],
  ['input null', { model, input: null }, 'missing_parameter', 'input'],
  ['input as an object without parts', { model, input: { words: 'a' } }, 'invalid_input', 'input'],
  ['texts and tokens mixed', { model, input: ['a', 1] }, 'invalid_input', 'input[1]'],
  ['an empty text', { model, input: '' }, 'empty_input', 'input'],
  ['an empty list', { model, input: [] }, 'empty_input', 'input'],
  ['an empty text in a list', { model, input: ['a', ''] }, 'empty_input', 'input[1]'],
  [
    'more inputs than allowed',
    { model, input: ['a', 'b', 'c', 'd', 'e', 'f'] },
    'too_many_inputs',
    'input',
    /6 entries; one request may have 5/,
  ],
  ['dimensions as text', { model, input: 'a', dimensions: '4' }, 'invalid_parameter', 'dimensions'],
  [
    'an unknown encoding',
    { model, input: 'a', encoding_format: 'int8' },
    'invalid_parameter',
    'encoding_format',
    /'float', 'base64'/,
  ],
  ['an unknown input type', { model, input: 'a', input_type: 'title' }, 'invalid_parameter', 'input_type'],
  ['a user that is no text', { model, input: 'a', user: {} }, 'invalid_parameter', 'user'],
  [
    'dimensions of a fixed width',
    { model, input: 'a', dimensions: 4 },
    'unsupported_parameter',
    'dimensions',
    /fixed width of 16/,
  ],
  [
    'dimensions outside the list',
    { model: 'list-w16', input: 'a', dimensions: 5 },
    'unsupported_parameter',
    'dimensions',
    /4, 8, 16/,
  ],
  [
    'an input type of a symmetric model',
    { model, input: 'a', input_type: 'query' },
    'unsupported_parameter',
    'input_type',
  ],
  [
    'token ids that nobody can decode',
    { model: 'no-tokenizer-w16', input: [1] },
    'unsupported_parameter',
    'input',
    /Send strings/,
  ],
  [
    'an unknown field on another wire',
    { model: 'cohere-w16', input: 'a', task: 'x' },
    'unsupported_parameter',
    'task',
  ],
  [
    'token ids out of the vocabulary',
    { model: 'texts-w16', input: [[1], [1], [500_000]] },
    'invalid_input',
    'input[2]',
    /cl100k_base/,
  ],
  [
    'a text that is too long',
    { model: 'short-w16', input: ['a', 'one two three four five six seven eight nine'] },
    'input_too_long',
    'input[1]',
    /has 9 tokens; 'short-w16' reads at most 8/,
  ],
  [
    'a token array that is too long',
    { model: 'short-w16', input: [1, 2, 3, 4, 5, 6, 7, 8, 9] },
    'input_too_long',
    'input[0]',
  ],
  [
    'a field that ties inputs together',
    { model: 'two-w16', input: ['a', 'b', 'c'], late_chunking: true },
    'request_not_splittable',
    'late_chunking',
  ],
]
for (const [title, body, code, param, words] of cases) {
  test(`${title} is ${code}, and no upstream is called`, async () => {
    const { calls } = gateway.provider.counters()
    assertFault(await gateway.ask(body), code, { param, ...(words && { words }) })
    assert.equal(gateway.provider.counters().calls, calls)
  })
}

test('a large body, parsed elsewhere, is judged by the same rules', async () => {
  const padding = ' '.repeat(1_500_000)
  const large = (input: unknown): string => `${JSON.stringify({ model: 'texts-w16', input })}${padding}`
  for (const [input, code, param] of [
    [[], 'empty_input', 'input'],
    [[[]], 'empty_input', 'input[0]'],
    [[[1], []], 'empty_input', 'input[1]'],
    [[1, -1], 'invalid_input', 'input[1]'],
    [['a', 1], 'invalid_input', 'input[1]'],
    [[[1], [500_000]], 'invalid_input', 'input[1]'],
    [[[1], [2], [3], [4], [5], [6]], 'too_many_inputs', 'input'],
  ] as const) {
    assertFault(await gateway.ask(large(input)), code, { param })
  }
  assertFault(await gateway.ask(`{"input": "private words", oops}${padding}`), 'invalid_json', {
    words: /position 27/,
  })
  assertFault(await gateway.ask(`[${padding}]`), 'invalid_json')
  const nested = `{"model":"texts-w16","input":${'['.repeat(20_000)}${']'.repeat(20_000)}}`
  assertFault(await gateway.ask(nested + padding), 'invalid_json', { words: /deeper than 32 levels/ })
  const fields = Array.from({ length: 100_000 }, (_, index) => `"field${index}":1`).join()
  assertFault(await gateway.ask(`{${fields}}`), 'invalid_json', { words: /more than 64 fields/ })
  const objects = `{"model":"texts-w16","input":[${'{},'.repeat(500_000)}1]}`
  assertFault(await gateway.ask(objects), 'invalid_json', { words: /more than \d+ values/ })
  assertFault(await gateway.ask(`null${padding}`), 'invalid_json')
  assert.equal((await gateway.ask(large([[9906], [1917]]))).status, 200)
})

test('where parsing stopped is said, what was sent is not', async () => {
  const { body } = await gateway.ask('{"input": "private words", oops}')
  assert.match(body.error.message, /position 27/)
  assert.doesNotMatch(body.error.message, /private|oops/)
})

for (const [model, status] of [
  ['refused-w16', 400],
  ['unprocessable-w16', 422],
  ['too-large-w16', 413],
] as const) {
  test(`an upstream’s ${status} is the caller’s 400 with the upstream’s words, and is not tried elsewhere`, async () => {
    const { served } = gateway.provider.counters()
    const answer = await gateway.ask({ model, input: 'a' })
    assertFault(answer, 'upstream_refused', { words: new RegExp(`The scenario answers ${status}`) })
    assert.equal(answer.body.error.upstream?.status, status)
    assert.match(answer.body.error.upstream.deployment, new RegExp(`^${model}/`))
    assert.match(answer.body.error.upstream.request_id ?? '', /^fake-\d+$/)
    assert.equal(gateway.provider.counters().served, served)
  })
}

for (const shape of shapes) {
  test(`an upstream’s words reach the caller from ${shape}`, async () => {
    const answer = await gateway.ask({ model: `${shape}-w16`, input: 'a' })
    assertFault(answer, 'upstream_refused', { words: /The scenario answers 400/ })
    assert.doesNotMatch(answer.body.error.message, /[<>{}]/)
  })
}

test('an upstream that gives no reason is said to give none', async () => {
  assertFault(await gateway.ask({ model: 'error-empty-w16', input: 'a' }), 'upstream_refused', {
    words: /gave no reason/,
  })
})

test('an unknown field goes through to the OpenAI wire, whose refusal is passed on', async () => {
  const answer = await gateway.ask({ model: 'strict-w16', input: 'a', task: 'retrieval' })
  assertFault(answer, 'upstream_refused', { words: /task/ })
})

test('refused content is final: not retried, not sent to another upstream', async () => {
  const { calls } = gateway.provider.counters()
  assertFault(await gateway.ask({ model: 'content-w16', input: 'a' }), 'content_policy_violation')
  assertFault(
    await gateway.ask({ model: 'poison-w16', input: ['fine', 'poison'] }),
    'content_policy_violation',
  )
  assert.equal(gateway.provider.counters().calls, calls + 2)
})

test('an upstream that echoes our credential is not allowed to tell it', async () => {
  const answer = await gateway.ask({ model: 'leaks-w16', input: 'a' })
  assertFault(answer, 'upstream_refused', { words: /\*\*\*/ })
  assert.doesNotMatch(answer.text, /upstreamcanary/)
})

for (const [name, value] of [
  ['x-torana-unsupported', 'maybe'],
  ['x-torana-dry-run', 'yes'],
] as const) {
  test(`${name}: ${value} is refused, with what would work`, async () => {
    const answer = await gateway.ask({ model, input: 'a' }, { headers: { [name]: value } })
    assertFault(answer, 'invalid_parameter', { param: name, words: /must be one of/ })
  })
}
