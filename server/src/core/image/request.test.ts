import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { anyText, runs } from '#test/support/arbitraries.ts'
import { anImageRequest } from '#test/support/images.ts'
import type { PathModel } from '../request/path-model.ts'
import type { Given, ImageEdit } from './given.ts'
import { parseExactly } from '../text/exact-json.ts'
import { canonicalText, imageRequestOf } from './canonical-request.ts'
import { readImageRequest, type ImageRequest } from './request.ts'

const read = (body: unknown, path?: PathModel) => readImageRequest(body, { maxImages: 10 }, path)
const plain = { model: 'm', prompt: 'a cat' }
const readWith = (fields: object) => read({ ...plain, ...fields })

const PLAIN = anImageRequest({ model: 'm', tags: undefined })

test('a plain body is read with OpenAI’s defaults', () => {
  assert.deepEqual(read(plain), PLAIN)
})

test('null and neutral values count as absent', () => {
  const words = ['size', 'quality', 'background', 'moderation', 'output_format', 'response_format']
  const others = ['n', 'output_compression', 'stream', 'partial_images', 'user', 'metadata']
  const names = [...words, ...others, 'safety_identifier', 'seed', 'num_images']
  assert.deepEqual(readWith(Object.fromEntries(names.map((name) => [name, null]))), PLAIN)
  assert.deepEqual(readWith(Object.fromEntries(words.map((name) => [name, 'auto']))), PLAIN)
  assert.deepEqual(readWith({ n: 1, stream: false, partial_images: 0 }), PLAIN)
  assert.equal(
    canonicalText(read(JSON.parse('{"model":"m","prompt":"a cat","partial_images":-0}'))),
    canonicalText(PLAIN),
  )
})

test('every field of the interface has its place', () => {
  const fields = {
    n: 3,
    size: '1536x1024',
    quality: 'high',
    background: 'transparent',
    moderation: 'low',
    output_format: 'webp',
    output_compression: 0,
    response_format: 'url',
    stream: true,
    partial_images: 3,
    user: 'u',
    metadata: { team: 'red' },
    safety_identifier: 's',
    seed: 7,
  }
  const { extraFields, ...rest } = readWith(fields)
  assert.deepEqual(rest, {
    model: 'm',
    prompt: 'a cat',
    images: 3,
    size: { width: 1536, height: 1024 },
    quality: 'high',
    background: 'transparent',
    moderation: 'low',
    format: 'webp',
    compression: 0,
    form: 'url',
    stream: true,
    partialImages: 3,
    user: 'u',
    tags: { team: 'red' },
    safetyIdentifier: 's',
    edit: undefined,
  })
  assert.equal(JSON.stringify(extraFields), '{"seed":7}')
})

test('fields that Torana does not know are kept apart, whatever they are called', () => {
  const { extraFields } = read(
    JSON.parse('{"model":"m","prompt":"a","style":"vivid","__proto__":{"y":1},"constructor":false}'),
  )
  assert.equal(
    JSON.stringify(Object.entries(extraFields)),
    '[["style","vivid"],["__proto__",{"y":1}],["constructor",false]]',
  )
})

for (const [responseFormat, outputFormat, form, format] of [
  ['url', undefined, 'url', undefined],
  ['b64_json', undefined, 'b64_json', undefined],
  ['base64', undefined, 'b64_json', undefined],
  ['png', undefined, undefined, 'png'],
  ['jpg', undefined, undefined, 'jpeg'],
  ['svg', undefined, undefined, 'svg'],
  [undefined, 'url', 'url', undefined],
  [undefined, 'base64', 'b64_json', undefined],
  [undefined, 'jpg', undefined, 'jpeg'],
  [undefined, 'avif', undefined, 'avif'],
  ['url', 'webp', 'url', 'webp'],
  ['webp', 'url', 'url', 'webp'],
  ['base64', 'b64_json', 'b64_json', undefined],
  ['jpg', 'jpeg', undefined, 'jpeg'],
  ['auto', 'gif', undefined, 'gif'],
] as const) {
  test(`response_format ${responseFormat} and output_format ${outputFormat} mean ${form} and ${format}`, () => {
    const request = readWith({ response_format: responseFormat, output_format: outputFormat })
    assert.deepEqual([request.form, request.format], [form, format])
  })
}

let deep: unknown = 1
for (let level = 0; level < 100_000; level += 1) deep = [deep]

type Refusal = readonly [title: string, value: unknown, message: RegExp, others?: object]
const refusals: Readonly<Record<string, readonly Refusal[]>> = {
  prompt: [
    ['no prompt', null, /missing/],
    ['an empty prompt', '', /non-empty/],
    ['a list of prompts', ['a'], /non-empty string/],
    ['a long prompt', 'é'.repeat(32_001), /32000 characters/],
  ],
  model: [['no model', null, /GET \/v1\/models/]],
  n: [
    ['n 0', 0, /n is 0; .* from 1 up/],
    ['n 11', 11, /n is 11; .* at most 10 .* several requests/],
    ['n as text', '2', /n is "2"/],
    ['a broken n', 1.5, /n is 1\.5/],
  ],
  size: [
    ['a ratio as size', '16:9', /size is "16:9"; .*not a ratio.* '1024x1024', or 'auto'/],
    ['a word as size', '2K', /"2K".*a word/],
    ['a size of 0', '0x1024', /"0x1024"/],
    ['a size with blanks', '1024 x 1024', /'1024x1024'/],
    ['a size beyond all', '16385x16', /longer than 16384/],
    ['a size that is none', 1024, /size is 1024/],
    ['a size as deep as a body may be', deep, /size is a list/],
  ],
  quality: [
    ['a long quality', 'q'.repeat(65), /64 characters/],
    ['a very long quality', 'q'.repeat(9999), /^.{1,200}$/],
  ],
  background: [['an empty background', '', /word/]],
  moderation: [['moderation as a number', 1, /moderation is 1/]],
  response_format: [
    ['a response_format that is none', 'b64', /'url', 'b64_json'/],
    ['two forms', 'url', /"url", output_format "base64"/, { output_format: 'base64' }],
  ],
  output_format: [['two picture formats', 'webp', /"png", output_format "webp"/, { response_format: 'png' }]],
  output_compression: [
    ['output_compression 101', 101, /101; .*0 to 100/],
    ['output_compression -1', -1, /-1/],
  ],
  stream: [['stream as text', 'true', /true or false/]],
  partial_images: [
    ['partial_images 4', 4, /0 to 3/, { stream: true }],
    ['previews without a stream', 2, /"stream": true/],
  ],
  user: [['a long user', 'u'.repeat(513), /512/]],
  safety_identifier: [['a long safety_identifier', 'u'.repeat(513), /512/]],
  seed: [['a number beyond JSON', Infinity, /too large/]],
  options: [['an option of great depth', deep, /32 levels/]],
}
for (const [param, rows] of Object.entries(refusals))
  for (const [title, value, message, others] of rows)
    test(`refused: ${title}`, () => {
      const code = value === null ? 'missing_parameter' : 'invalid_parameter'
      assert.throws(() => readWith({ [param]: value, ...others }), { name: 'Fault', code, param, message })
    })

for (const [param, value] of [
  ...['batch_size', 'num_images', 'num_outputs', 'max_images', 'sampleCount', 'number_of_images'].map(
    (name) => [name, 4] as const,
  ),
  ['sequential_image_generation_options', { max_images: 4 }] as const,
])
  test(`refused, as it multiplies the pictures: ${param}`, () => {
    const fault = { name: 'Fault', code: 'unsupported_parameter', param, message: /Use n for the number/ }
    assert.throws(() => readWith({ [param]: value }), fault)
  })

for (const body of [[], null, 'prompt', 5]) {
  test(`refused: a body that is ${JSON.stringify(body)}`, () => {
    assert.throws(() => read(body), { code: 'invalid_json' })
  })
}

test('a prompt is as long as its code points', () => {
  const longest = '😀'.repeat(32_000)
  assert.equal(readWith({ prompt: longest }).prompt, longest)
  assert.throws(() => readWith({ prompt: `${longest}😀` }), { param: 'prompt' })
  const limits = { maxImages: 1, maxPromptCharacters: 2 }
  assert.equal(readImageRequest({ ...plain, prompt: 'ab' }, limits).prompt, 'ab')
  assert.throws(() => readImageRequest({ ...plain, prompt: 'abc' }, limits), { param: 'prompt' })
})

test('the model of the path counts, and must not contradict the body unless the path wins', () => {
  assert.equal(read({ prompt: 'a' }, { model: 'p', pathWins: false }).model, 'p')
  assert.equal(read(plain, { model: 'p', pathWins: true }).model, 'p')
  assert.throws(() => read(plain, { model: 'p', pathWins: false }), { code: 'model_mismatch' })
})

const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined })
const jsonObject = fc
  .dictionary(
    fc.oneof(anyText, fc.constantFrom('__proto__', 'constructor', 'toJSON')),
    fc.oneof(fc.jsonValue(), anyText),
  )
  .map((fields) => JSON.parse(JSON.stringify(fields)) as Record<string, unknown>)
const withoutPrototype = (fields: Record<string, unknown>) =>
  Object.keys(fields).length === 0 ? {} : Object.assign(Object.create(null), fields)
const edge = fc.integer({ min: 1, max: 16_384 })
const anyGiven: fc.Arbitrary<Given> = fc.oneof(
  fc.record({ kind: fc.constant('address'), url: fc.webUrl() }, { noNullPrototype: true }),
  fc.record(
    {
      kind: fc.constant('file'),
      sha256: fc.stringMatching(/^[0-9a-f]{64}$/),
      bytes: fc.nat(),
      format: fc.constantFrom('png', 'jpeg', 'webp'),
      width: edge,
      height: edge,
      hasAlpha: fc.boolean(),
      isTurned: fc.boolean(),
    },
    { noNullPrototype: true },
  ),
)
const anyEdit = fc
  .record(
    {
      pictures: fc.array(anyGiven, { minLength: 1, maxLength: 3 }),
      mask: maybe(anyGiven),
      markup: maybe(anyGiven),
      fidelity: maybe(anyText),
    },
    { noNullPrototype: true },
  )
  // What is absent is not written, and is not read as a field.
  .map((edit) => JSON.parse(JSON.stringify(edit)) as ImageEdit)
const anyRequest: fc.Arbitrary<ImageRequest> = fc.record(
  {
    model: anyText,
    prompt: anyText,
    images: fc.integer({ min: 1, max: 10 }),
    size: maybe(fc.record({ width: edge, height: edge }, { noNullPrototype: true })),
    quality: maybe(anyText),
    background: maybe(anyText),
    moderation: maybe(anyText),
    format: maybe(anyText),
    compression: maybe(fc.nat(100)),
    form: maybe(fc.constantFrom('url', 'b64_json')),
    stream: fc.boolean(),
    partialImages: fc.nat(3),
    user: maybe(anyText),
    tags: maybe(fc.constant({ team: 'red' })),
    safetyIdentifier: maybe(anyText),
    extraFields: jsonObject.map(withoutPrototype),
    edit: maybe(anyEdit),
  },
  { noNullPrototype: true },
)

test('a stored request reads back exactly', () => {
  fc.assert(
    fc.property(anyRequest, (request) => {
      assert.deepEqual(imageRequestOf(canonicalText(request)), request)
    }),
    runs(2000),
  )
})

test('a request that was read from a body reads back exactly, odd names included', () => {
  const request = read(
    JSON.parse('{"model":"m","prompt":"p","x":"\\ud800","__proto__":{"b":1,"a":[{}]},"0":2}'),
  )
  assert.deepEqual(imageRequestOf(canonicalText(request)), request)
  assert.deepEqual(Object.keys(imageRequestOf(canonicalText(request)).extraFields).toSorted(), [
    '0',
    '__proto__',
    'x',
  ])
  assert.deepEqual(imageRequestOf(canonicalText(PLAIN)), PLAIN)
})

test('a job that is taken over asks with the digits that its caller wrote', () => {
  const fields = '{"seed":12345678901234567890,"scale":1.0,"deep":{"ids":[9007199254740993,7]}}'
  const exact = parseExactly(fields) as Record<string, unknown>
  const body = { model: 'm', prompt: 'a cat', n: 2, ...(JSON.parse(fields) as object) }
  const request = readImageRequest(body, { maxImages: 10 }, undefined, undefined, exact)
  const back = imageRequestOf(canonicalText(request))
  assert.equal(JSON.stringify(request.extraFields), fields)
  assert.deepEqual(JSON.parse(canonicalText(back)), JSON.parse(canonicalText(request)))
  for (const digits of ['12345678901234567890', '1.0', '9007199254740993'])
    assert.ok(JSON.stringify(back.extraFields).includes(digits), digits)
  assert.equal(canonicalText(back), canonicalText(request))
})

test('the order of fields, at any depth, does not change the canonical text; any value does', () => {
  const reversed = (value: unknown): unknown =>
    Array.isArray(value)
      ? value.map(reversed)
      : typeof value === 'object' && value !== null
        ? Object.fromEntries(
            Object.entries(value)
              .toReversed()
              .map(([name, inner]) => [name, reversed(inner)]),
          )
        : value
  fc.assert(
    fc.property(anyRequest, anyRequest, (a, b) => {
      assert.equal(canonicalText(reversed(a) as ImageRequest), canonicalText(a))
      assert.equal(canonicalText(a) === canonicalText(b), isDeepStrictEqual(a, b))
    }),
    runs(1000),
  )
  for (const change of [{ stream: true }, { partialImages: 1 }, { images: 2 }, { form: 'url' } as const])
    assert.notEqual(canonicalText({ ...PLAIN, ...change }), canonicalText(PLAIN))
})
