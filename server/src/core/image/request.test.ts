import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { anyText, runs } from '#test/support/arbitraries.ts'
import type { PathModel } from '../request/path-model.ts'
import { Fault } from '../fault/fault.ts'
import type { Given, ImageEdit } from './given.ts'
import { parseExactly } from '../text/exact-json.ts'
import { canonicalText, imageRequestOf } from './canonical-request.ts'
import { readImageRequest, type ImageRequest } from './request.ts'

const read = (body: unknown, path?: PathModel) => readImageRequest(body, { maxImages: 10 }, path)
const plain = { model: 'm', prompt: 'a cat' }
const readWith = (fields: object) => read({ ...plain, ...fields })

const PLAIN: ImageRequest = {
  model: 'm',
  prompt: 'a cat',
  images: 1,
  size: undefined,
  quality: undefined,
  background: undefined,
  moderation: undefined,
  format: undefined,
  compression: undefined,
  form: undefined,
  stream: false,
  partialImages: 0,
  user: undefined,
  tags: undefined,
  safetyIdentifier: undefined,
  extraFields: {},
  edit: undefined,
}

test('a plain body is read with OpenAI’s defaults', () => {
  assert.deepEqual(read(plain), PLAIN)
})

test('null and neutral values count as absent', () => {
  const names = [
    'n',
    'size',
    'quality',
    'background',
    'moderation',
    'output_format',
    'output_compression',
    'response_format',
    'stream',
    'partial_images',
    'user',
    'metadata',
    'safety_identifier',
    'seed',
    'num_images',
  ]
  assert.deepEqual(readWith(Object.fromEntries(names.map((name) => [name, null]))), PLAIN)
  const words = ['size', 'quality', 'background', 'moderation', 'output_format', 'response_format']
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

for (const [title, fields, param, message, code = 'invalid_parameter'] of [
  ['no prompt', { prompt: null }, 'prompt', /missing/, 'missing_parameter'],
  ['an empty prompt', { prompt: '' }, 'prompt', /non-empty/],
  ['a list of prompts', { prompt: ['a'] }, 'prompt', /non-empty string/],
  ['a long prompt', { prompt: 'é'.repeat(32_001) }, 'prompt', /32000 characters/],
  ['no model', { model: null }, 'model', /GET \/v1\/models/, 'missing_parameter'],
  ['n 0', { n: 0 }, 'n', /n is 0; .* from 1 up/],
  ['n 11', { n: 11 }, 'n', /n is 11; .* at most 10 .* several requests/],
  ['n as text', { n: '2' }, 'n', /n is "2"/],
  ['a broken n', { n: 1.5 }, 'n', /n is 1\.5/],
  ['a ratio as size', { size: '16:9' }, 'size', /size is "16:9"; .*not a ratio.* '1024x1024', or 'auto'/],
  ['a word as size', { size: '2K' }, 'size', /"2K".*a word/],
  ['a size of 0', { size: '0x1024' }, 'size', /"0x1024"/],
  ['a size with blanks', { size: '1024 x 1024' }, 'size', /'1024x1024'/],
  ['a size beyond all', { size: '16385x16' }, 'size', /longer than 16384/],
  ['a size that is none', { size: 1024 }, 'size', /size is 1024/],
  ['a size as deep as a body may be', { size: deep }, 'size', /size is a list/],
  ['a long quality', { quality: 'q'.repeat(65) }, 'quality', /64 characters/],
  ['a very long quality', { quality: 'q'.repeat(9999) }, 'quality', /^.{1,200}$/],
  ['an empty background', { background: '' }, 'background', /word/],
  ['moderation as a number', { moderation: 1 }, 'moderation', /moderation is 1/],
  ['a response_format that is none', { response_format: 'b64' }, 'response_format', /'url', 'b64_json'/],
  [
    'two forms',
    { response_format: 'url', output_format: 'base64' },
    'response_format',
    /"url", output_format "base64"/,
  ],
  [
    'two picture formats',
    { response_format: 'png', output_format: 'webp' },
    'output_format',
    /"png", output_format "webp"/,
  ],
  ['output_compression 101', { output_compression: 101 }, 'output_compression', /101; .*0 to 100/],
  ['output_compression -1', { output_compression: -1 }, 'output_compression', /-1/],
  ['stream as text', { stream: 'true' }, 'stream', /true or false/],
  ['partial_images 4', { stream: true, partial_images: 4 }, 'partial_images', /0 to 3/],
  ['previews without a stream', { partial_images: 2 }, 'partial_images', /"stream": true/],
  ['a long user', { user: 'u'.repeat(513) }, 'user', /512/],
  ['a long safety_identifier', { safety_identifier: 'u'.repeat(513) }, 'safety_identifier', /512/],
  ['a number beyond JSON', { seed: Infinity }, 'seed', /too large/],
  ['an option of great depth', { options: deep }, 'options', /32 levels/],
  ...['batch_size', 'num_images', 'num_outputs', 'max_images', 'sampleCount', 'number_of_images'].map(
    (name) => [name, { [name]: 4 }, name, /Use n for the number/, 'unsupported_parameter'] as const,
  ),
  [
    'a multiplier inside an object',
    { sequential_image_generation_options: { max_images: 4 } },
    'sequential_image_generation_options',
    /Use n for the number/,
    'unsupported_parameter',
  ],
] as readonly (readonly [string, object, string, RegExp, string?])[]) {
  test(`refused: ${title}`, () => {
    assert.throws(
      () => readWith(fields),
      (error) => {
        assert.ok(error instanceof Fault)
        assert.deepEqual([error.code, error.param], [code, param])
        assert.match(error.message, message)
        return true
      },
    )
  })
}

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
  const request = read(JSON.parse('{"model":"m","prompt":"\\ud800","__proto__":{"b":1,"a":[{}]},"0":2}'))
  assert.deepEqual(imageRequestOf(canonicalText(request)), request)
  assert.deepEqual(Object.keys(imageRequestOf(canonicalText(request)).extraFields).toSorted(), [
    '0',
    '__proto__',
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
