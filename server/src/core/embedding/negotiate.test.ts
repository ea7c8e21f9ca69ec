import assert from 'node:assert/strict'
import { test } from 'node:test'
import { aDeployment, type DeploymentOverrides } from '#test/support/deployments.ts'
import { aModel, aRequest, type ModelOverrides } from '#test/support/models.ts'
import type { EmbeddingRequest } from './request.ts'
import { Fault } from '../fault/fault.ts'
import { fieldOfUnknownEffect, negotiate, type Offer } from './negotiate.ts'

type Case = readonly [
  title: string,
  asked: Partial<EmbeddingRequest>,
  facts: NonNullable<ModelOverrides['facts']>,
  deployment: DeploymentOverrides,
]

function offerFor([, asked, facts, deployment]: Case, unsupported: 'refuse' | 'drop' = 'refuse') {
  const model = aModel({ facts, deployments: [aDeployment(deployment)] })
  const { offers, dropped } = negotiate(aRequest(asked), model, unsupported)
  assert.equal(offers.length, 1)
  return { offer: offers[0] as Offer, dropped }
}

const tokens = { kind: 'tokens', tokens: [[1, 2]] } as const
const range = { kind: 'range', min: 2, max: 8 } as const
const list = { kind: 'list', values: [2, 4, 16] } as const
const byField = {
  rule: 'field',
  field: 'task',
  values: { query: 'retrieval.query', document: 'retrieval.passage' },
} as const
const byPrefix = { rule: 'prefix', prefixes: { query: 'query: ', document: 'passage: ' } } as const
const textOnly = { capabilities: { tokenArrays: false } }

const nativeCases: readonly (readonly [Case, Partial<Offer>])[] = [
  [
    ['nothing asked for', {}, {}, {}],
    { dimensions: undefined, upstreamWidth: 8, width: 8, prefix: '', decodesTokens: false },
  ],
  [['the native width', { dimensions: 8 }, {}, {}], { dimensions: undefined, upstreamWidth: 8, width: 8 }],
  [
    [
      'the native width of an upstream that scales no other',
      { dimensions: 8 },
      {},
      { capabilities: { dimensions: range, unitDimensions: false } },
    ],
    { dimensions: undefined, isScaledHere: false },
  ],
  [
    ['a width in the range', { dimensions: 4 }, {}, { capabilities: { dimensions: range } }],
    { dimensions: 4, upstreamWidth: 4, width: 4 },
  ],
  [
    ['the ends of the range', { dimensions: 2 }, {}, { capabilities: { dimensions: range } }],
    { dimensions: 2, upstreamWidth: 2, width: 2 },
  ],
  [
    ['a width of the list', { dimensions: 4 }, {}, { capabilities: { dimensions: list } }],
    { dimensions: 4, width: 4 },
  ],
  [
    ['a wider width of the list', { dimensions: 16 }, {}, { capabilities: { dimensions: list } }],
    { dimensions: 16, upstreamWidth: 16, width: 16 },
  ],
  [
    [
      'a native width over truncation',
      { dimensions: 4 },
      { matryoshka: true },
      { capabilities: { dimensions: range } },
    ],
    { dimensions: 4, upstreamWidth: 4 },
  ],
  [['token ids where they are taken', { input: tokens }, {}, {}], { decodesTokens: false }],
  [
    ['token ids without a tokenizer of ours', { input: tokens }, { tokenizer: 'none' }, {}],
    { decodesTokens: false },
  ],
  [
    ['an input type by field', { inputType: 'query' }, { inputType: byField }, {}],
    { inputType: 'retrieval.query', inputTypeField: 'task', prefix: '' },
  ],
  [
    ['no input type where none is needed', {}, { inputType: byField }, {}],
    { inputType: undefined, inputTypeField: undefined },
  ],
  [
    ['the default input type', {}, { inputType: { ...byField, default: 'document' } }, {}],
    { inputType: 'retrieval.passage' },
  ],
  [['a user where it is taken', { user: 'u1' }, {}, {}], { user: 'u1' }],
  [
    ['a user where it is not, absorbed', { user: 'u1' }, {}, { capabilities: { user: false } }],
    { user: undefined },
  ],
  [
    ['unknown fields on the OpenAI wire', { extraFields: { task: 'x' } }, {}, {}],
    { extraFields: { task: 'x' } },
  ],
  [
    ['unknown fields on Azure', { extraFields: { task: 'x' } }, {}, { upstream: { dialect: 'azure' } }],
    { extraFields: { task: 'x' } },
  ],
]
for (const [given, expected] of nativeCases) {
  test(`native: ${given[0]}`, () => {
    const { offer, dropped } = offerFor(given)
    assert.deepEqual({ ...offer, ...expected }, offer)
    assert.deepEqual([offer.emulated, dropped], [[], []])
  })
}

const emulatedCases: readonly (readonly [Case, readonly string[], Partial<Offer>])[] = [
  [
    ['a narrower width of a Matryoshka model', { dimensions: 4 }, { matryoshka: true }, {}],
    ['dimensions'],
    { dimensions: undefined, upstreamWidth: 8, width: 4 },
  ],
  [
    [
      'a width between those of the list',
      { dimensions: 3 },
      { matryoshka: true },
      { capabilities: { dimensions: list } },
    ],
    ['dimensions'],
    { dimensions: undefined, upstreamWidth: 8, width: 3 },
  ],
  [
    [
      'a width at which the upstream leaves vectors at another length than 1',
      { dimensions: 4 },
      { matryoshka: true },
      { capabilities: { dimensions: range, unitDimensions: false } },
    ],
    ['dimensions'],
    { dimensions: 4, upstreamWidth: 4, width: 4, isScaledHere: true },
  ],
  [
    [
      'base64 from a server that has only floats',
      { encoding: 'base64' },
      {},
      { capabilities: { encodings: ['float'] } },
    ],
    ['encoding_format'],
    {},
  ],
  [
    [
      'floats from a server that has only base64',
      { encoding: 'float' },
      {},
      { capabilities: { encodings: ['base64'] } },
    ],
    ['encoding_format'],
    {},
  ],
  [['token ids for a text-only server', { input: tokens }, {}, textOnly], ['input'], { decodesTokens: true }],
  [
    ['an input type by prefix', { inputType: 'query' }, { inputType: byPrefix }, {}],
    ['input_type'],
    { prefix: 'query: ', inputType: undefined },
  ],
  [
    ['the default prefix', {}, { inputType: { ...byPrefix, default: 'document' } }, {}],
    ['input_type'],
    { prefix: 'passage: ' },
  ],
  [
    ['token ids that need a prefix', { input: tokens, inputType: 'query' }, { inputType: byPrefix }, {}],
    ['input', 'input_type'],
    { decodesTokens: true, prefix: 'query: ' },
  ],
]
for (const [given, emulated, expected] of emulatedCases) {
  test(`emulated: ${given[0]}`, () => {
    const { offer } = offerFor(given)
    assert.deepEqual(offer.emulated, emulated)
    assert.deepEqual({ ...offer, ...expected }, offer)
  })
}

const aiSdk = { upstream: { dialect: 'ai-sdk' } } as const
const unsupportedCases: readonly (readonly [Case, param: string, words: RegExp, isDropped: boolean])[] = [
  [
    ['a narrower width of a model not made for it', { dimensions: 4 }, {}, {}],
    'dimensions',
    /fixed width of 8/,
    true,
  ],
  [['a wider width', { dimensions: 9 }, { matryoshka: true }, {}], 'dimensions', /Send 8 or less/, true],
  [
    ['a width outside the list', { dimensions: 3 }, {}, { capabilities: { dimensions: list } }],
    'dimensions',
    /takes 2, 4, 16, 8\./,
    true,
  ],
  [
    ['a width below the range', { dimensions: 1 }, {}, { capabilities: { dimensions: range } }],
    'dimensions',
    /takes 2 to 8\./,
    true,
  ],
  [
    ['an input type of a symmetric model', { inputType: 'query' }, {}, {}],
    'input_type',
    /in the same way/,
    true,
  ],
  [
    ['an input type the model has not', { inputType: 'clustering' }, { inputType: byField }, {}],
    'input_type',
    /It takes: query, document/,
    true,
  ],
  [
    ['a prefix the model has not', { inputType: 'similarity' }, { inputType: byPrefix }, {}],
    'input_type',
    /It takes: query, document/,
    true,
  ],
  [
    ['an unknown field on another wire', { extraFields: { task: 'x' } }, {}, aiSdk],
    'task',
    /does not know the field/,
    true,
  ],
  [
    [
      'an unknown field for the demo model',
      { extraFields: { task: 'x' } },
      {},
      { upstream: { dialect: 'demo' } },
    ],
    'task',
    /does not know the field/,
    true,
  ],
  [
    ['token ids that nobody can decode', { input: tokens }, { tokenizer: 'none' }, textOnly],
    'input',
    /Send strings/,
    false,
  ],
]
for (const [given, param, words, isDropped] of unsupportedCases) {
  test(`unsupported: ${given[0]}`, () => {
    assert.throws(
      () => offerFor(given),
      (error) =>
        error instanceof Fault &&
        error.code === 'unsupported_parameter' &&
        error.param === param &&
        words.test(error.message),
    )
  })

  test(`${isDropped ? 'dropped and said so' : 'never dropped, since nothing would be left'}: ${given[0]}`, () => {
    if (!isDropped) {
      assert.throws(() => offerFor(given, 'drop'), Fault)
      return
    }
    const { offer, dropped } = offerFor(given, 'drop')
    assert.deepEqual(dropped, [param])
    const plain = offerFor([given[0], { input: aRequest().input }, given[2], given[3]]).offer
    assert.deepEqual(offer, { ...plain, deployment: offer.deployment })
  })
}

test('several options are dropped one by one, and each is named', () => {
  const asked = { dimensions: 4, inputType: 'query', extraFields: { task: 'x', late: true } } as const
  const { dropped, offer } = offerFor(['', asked, {}, aiSdk], 'drop')
  assert.deepEqual(dropped.toSorted(), ['dimensions', 'input_type', 'late', 'task'])
  assert.deepEqual([offer.width, offer.extraFields], [8, {}])
})

test('a deployment that is able is offered although others are not, and nothing is dropped', () => {
  const able = aDeployment({ id: 'able', capabilities: { dimensions: range } })
  const model = aModel({
    deployments: [aDeployment({ id: 'fixed' }), able, aDeployment({ id: 'fixed too' })],
  })
  const { offers, dropped } = negotiate(aRequest({ dimensions: 4 }), model, 'drop')
  assert.deepEqual([offers.map(({ deployment }) => deployment.id), dropped], [['able'], []])
})

test('a refusal speaks of the first deployment when each has its own reason', () => {
  const model = aModel({ deployments: [aDeployment(), aDeployment(aiSdk)] })
  assert.throws(
    () => negotiate(aRequest({ dimensions: 4, extraFields: { task: 'x' } }), model, 'refuse'),
    (error) => error instanceof Fault && error.param === 'dimensions',
  )
})

test('a field called __proto__ is an unknown field like any other, also when it is dropped', () => {
  const extraFields = JSON.parse('{"__proto__":1}') as Record<string, unknown>
  assert.deepEqual(offerFor(['', { extraFields }, {}, aiSdk], 'drop').dropped, ['__proto__'])
})

test('only fields that are harmless wherever a request may go leave it its space, and free to be taken apart', () => {
  const one = aDeployment({ capabilities: { harmlessFields: ['trace', 'task'] } })
  const other = aDeployment({ capabilities: { harmlessFields: ['trace'] } })
  const fieldOf = (extraFields: Record<string, unknown>) =>
    fieldOfUnknownEffect([one, other].map((deployment) => ({ deployment, extraFields })))
  assert.equal(fieldOf({}), undefined)
  assert.equal(fieldOf({ trace: 1 }), undefined)
  assert.equal(fieldOf({ trace: 1, late_chunking: true }), 'late_chunking')
  assert.equal(fieldOf({ trace: 1, task: 'x' }), 'task', 'a failover would make other vectors of it')
})

const TYPED_FIELDS: readonly (readonly [field: string, value: unknown, isRefused: boolean])[] = [
  ['output_dtype', 'int8', true],
  ['output_dtype', 'float', false],
  ['output_dtype', 7, true],
  ['embedding_types', ['int8'], true],
  ['embedding_types', ['float', 'binary'], true],
  ['embedding_types', [], true],
  ['embedding_types', ['float'], false],
  ['embedding_type', 'ubinary', true],
  ['embedding_type', 'base64', false],
  ['embed_dtype', 'float16', true],
  ['embed_dtype', 'float32', false],
  ['endianness', 'big', true],
  ['endianness', 'little', false],
]
for (const [field, value, isRefused] of TYPED_FIELDS)
  test(`a request for another type of vectors is refused before a call: ${field} ${JSON.stringify(value)}`, () => {
    const given: Case = ['', { extraFields: { [field]: value } }, {}, {}]
    const { dropped, offer } = offerFor(given, 'drop')
    assert.deepEqual(dropped, isRefused ? [field] : [])
    assert.deepEqual(offer.extraFields, isRefused ? {} : { [field]: value })
    if (isRefused)
      assert.throws(
        () => offerFor(given),
        (error) => error instanceof Fault && error.code === 'unsupported_parameter' && error.param === field,
      )
  })
