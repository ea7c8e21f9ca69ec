import assert from 'node:assert/strict'
import { test } from 'node:test'
import { aDeployment, type DeploymentOverrides } from '#test/support/deployments.ts'
import { aModel, aRequest, type ModelOverrides } from '#test/support/models.ts'
import type { EmbeddingRequest } from './request.ts'
import { fieldOfUnknownEffect, negotiate, type Offer } from './negotiate.ts'

/** What the deployment is, and what the model, beside the usual. */
type Others = readonly [deployment?: DeploymentOverrides, facts?: NonNullable<ModelOverrides['facts']>]

function offerFor(
  asked: Partial<EmbeddingRequest>,
  [deployment = {}, facts = {}]: Others = [],
  unsupported: 'refuse' | 'drop' = 'refuse',
) {
  const model = aModel({ facts, deployments: [aDeployment(deployment)] })
  const { offers, dropped } = negotiate(aRequest(asked), model, unsupported)
  assert.equal(offers.length, 1)
  return { offer: offers[0] as Offer, dropped }
}

const can = (capabilities: DeploymentOverrides['capabilities'] & object): DeploymentOverrides => ({
  capabilities,
})
const speaking = (dialect: 'azure' | 'ai-sdk' | 'demo'): DeploymentOverrides => ({ upstream: { dialect } })
const range = { kind: 'range', min: 2, max: 8 } as const
const ranged = can({ dimensions: range })
const unscaled = can({ dimensions: range, unitDimensions: false })
const listed = can({ dimensions: { kind: 'list', values: [2, 4, 16] } })
const textOnly = can({ tokenArrays: false })
const aiSdk = speaking('ai-sdk')
const query = { inputType: 'query' } as const
const tokens = { input: { kind: 'tokens', tokens: [[1, 2]] } } as const
const task = { extraFields: { task: 'x' } }
const matryoshka = { matryoshka: true }
const undecodable = { tokenizer: 'none' } as const
const values = { query: 'retrieval.query', document: 'retrieval.passage' }
const byField = { rule: 'field', field: 'task', values } as const
const byPrefix = { rule: 'prefix', prefixes: { query: 'query: ', document: 'passage: ' } } as const
const asked = (width: number) => ({ dimensions: width, upstreamWidth: width, width })
const unasked = (width: number) => ({ dimensions: undefined, upstreamWidth: 8, width })

type Served = readonly [
  title: string,
  asked: Partial<EmbeddingRequest>,
  /** Parameters that Torana emulates; none: the deployment does all of it natively. */
  emulated: readonly string[],
  expected: Partial<Offer>,
  ...Others,
]
const served: readonly Served[] = [
  ['nothing asked for', {}, [], { ...unasked(8), prefix: '', decodesTokens: false }],
  ['the native width', { dimensions: 8 }, [], unasked(8)],
  [
    'the native width of an upstream that scales no other',
    { dimensions: 8 },
    [],
    { dimensions: undefined, isScaledHere: false },
    unscaled,
  ],
  ['a width in the range', { dimensions: 4 }, [], asked(4), ranged],
  ['the ends of the range', { dimensions: 2 }, [], asked(2), ranged],
  ['a width of the list', { dimensions: 4 }, [], { dimensions: 4, width: 4 }, listed],
  ['a wider width of the list', { dimensions: 16 }, [], asked(16), listed],
  ['a native width over truncation', { dimensions: 4 }, [], asked(4), ranged, matryoshka],
  ['token ids where they are taken', tokens, [], { decodesTokens: false }],
  ['token ids without a tokenizer of ours', tokens, [], { decodesTokens: false }, {}, undecodable],
  [
    'an input type by field',
    query,
    [],
    { inputType: 'retrieval.query', inputTypeField: 'task', prefix: '' },
    {},
    { inputType: byField },
  ],
  [
    'no input type where none is needed',
    {},
    [],
    { inputType: undefined, inputTypeField: undefined },
    {},
    { inputType: byField },
  ],
  [
    'the default input type',
    {},
    [],
    { inputType: 'retrieval.passage' },
    {},
    { inputType: { ...byField, default: 'document' } },
  ],
  ['a user where it is taken', { user: 'u1' }, [], { user: 'u1' }],
  ['a user where it is not, absorbed', { user: 'u1' }, [], { user: undefined }, can({ user: false })],
  ['unknown fields on the OpenAI wire', task, [], task],
  ['unknown fields on Azure', task, [], task, speaking('azure')],

  ['a narrower width of a Matryoshka model', { dimensions: 4 }, ['dimensions'], unasked(4), {}, matryoshka],
  ['a width between those of the list', { dimensions: 3 }, ['dimensions'], unasked(3), listed, matryoshka],
  [
    'a width at which the upstream leaves vectors at another length than 1',
    { dimensions: 4 },
    ['dimensions'],
    { ...asked(4), isScaledHere: true },
    unscaled,
    matryoshka,
  ],
  [
    'base64 from a server that has only floats',
    { encoding: 'base64' },
    ['encoding_format'],
    {},
    can({ encodings: ['float'] }),
  ],
  [
    'floats from a server that has only base64',
    { encoding: 'float' },
    ['encoding_format'],
    {},
    can({ encodings: ['base64'] }),
  ],
  ['token ids for a text-only server', tokens, ['input'], { decodesTokens: true }, textOnly],
  [
    'an input type by prefix',
    query,
    ['input_type'],
    { prefix: 'query: ', inputType: undefined },
    {},
    { inputType: byPrefix },
  ],
  [
    'the default prefix',
    {},
    ['input_type'],
    { prefix: 'passage: ' },
    {},
    { inputType: { ...byPrefix, default: 'document' } },
  ],
  [
    'token ids that need a prefix',
    { ...tokens, ...query },
    ['input', 'input_type'],
    { decodesTokens: true, prefix: 'query: ' },
    {},
    { inputType: byPrefix },
  ],
]
for (const [title, asked, emulated, expected, ...others] of served)
  test(`${emulated.length === 0 ? 'native' : 'emulated'}: ${title}`, () => {
    const { offer, dropped } = offerFor(asked, others)
    assert.deepEqual({ ...offer, ...expected }, offer)
    assert.deepEqual([offer.emulated, dropped], [emulated, []])
  })

type Refusal = readonly [title: string, asked: Partial<EmbeddingRequest>, message: RegExp, ...Others]
const refusals: Readonly<Record<string, readonly Refusal[]>> = {
  dimensions: [
    ['a narrower width of a model not made for it', { dimensions: 4 }, /fixed width of 8/],
    ['a wider width', { dimensions: 9 }, /Send 8 or less/, {}, matryoshka],
    ['a width outside the list', { dimensions: 3 }, /takes 2, 4, 16, 8\./, listed],
    ['a width below the range', { dimensions: 1 }, /takes 2 to 8\./, ranged],
  ],
  input_type: [
    ['an input type of a symmetric model', query, /in the same way/],
    [
      'an input type the model has not',
      { inputType: 'clustering' },
      /It takes: query, document/,
      {},
      { inputType: byField },
    ],
    [
      'a prefix the model has not',
      { inputType: 'similarity' },
      /It takes: query, document/,
      {},
      { inputType: byPrefix },
    ],
  ],
  task: [
    ['an unknown field on another wire', task, /does not know the field.*x-torana-unsupported: drop/, aiSdk],
    ['an unknown field for the demo model', task, /does not know the field/, speaking('demo')],
  ],
  input: [['token ids that Torana can not decode', tokens, /Send strings/, textOnly, undecodable]],
}
for (const [param, rows] of Object.entries(refusals))
  for (const [title, asked, message, ...others] of rows) {
    const refusal = { name: 'Fault', code: 'unsupported_parameter', param, message }
    test(`unsupported: ${title}`, () => {
      assert.throws(() => offerFor(asked, others), refusal)
    })

    if (param === 'input')
      test(`never dropped, since nothing would be left: ${title}`, () => {
        assert.throws(() => offerFor(asked, others, 'drop'), refusal)
      })
    else
      test(`dropped and said so: ${title}`, () => {
        const { offer, dropped } = offerFor(asked, others, 'drop')
        assert.deepEqual(dropped, [param])
        assert.deepEqual(offer, { ...offerFor({}, others).offer, deployment: offer.deployment })
      })
  }

test('several options are dropped one by one, and each is named', () => {
  const asked = { dimensions: 4, ...query, extraFields: { task: 'x', late: true } }
  const { dropped, offer } = offerFor(asked, [aiSdk], 'drop')
  assert.deepEqual(dropped.toSorted(), ['dimensions', 'input_type', 'late', 'task'])
  assert.deepEqual([offer.width, offer.extraFields], [8, {}])
})

test('a deployment that is able is offered although others are not, and nothing is dropped', () => {
  const able = aDeployment({ id: 'able', ...ranged })
  const model = aModel({
    deployments: [aDeployment({ id: 'fixed' }), able, aDeployment({ id: 'fixed too' })],
  })
  const { offers, dropped } = negotiate(aRequest({ dimensions: 4 }), model, 'drop')
  assert.deepEqual([offers.map(({ deployment }) => deployment.id), dropped], [['able'], []])
})

test('a refusal speaks of the first deployment when each has its own reason', () => {
  const model = aModel({ deployments: [aDeployment(), aDeployment(aiSdk)] })
  assert.throws(() => negotiate(aRequest({ dimensions: 4, ...task }), model, 'refuse'), {
    name: 'Fault',
    param: 'dimensions',
  })
})

test('a field called __proto__ is an unknown field like any other, also when it is dropped', () => {
  const extraFields = JSON.parse('{"__proto__":1}') as Record<string, unknown>
  assert.deepEqual(offerFor({ extraFields }, [aiSdk], 'drop').dropped, ['__proto__'])
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
  ['embed_dtype', 'float16', true],
  ['embed_dtype', 'float32', false],
  ['endianness', 'big', true],
  ['endianness', 'little', false],
]
for (const [field, value, isRefused] of TYPED_FIELDS)
  test(`a request for another form of an upstream’s vectors is refused before a call: ${field} ${JSON.stringify(value)}`, () => {
    const asked = { extraFields: { [field]: value } }
    const { dropped, offer } = offerFor(asked, [], 'drop')
    assert.deepEqual(dropped, isRefused ? [field] : [])
    assert.deepEqual(offer.extraFields, isRefused ? {} : asked.extraFields)
    if (isRefused)
      assert.throws(() => offerFor(asked), { name: 'Fault', code: 'unsupported_parameter', param: field })
  })
