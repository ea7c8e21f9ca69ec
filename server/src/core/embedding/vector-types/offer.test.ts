import assert from 'node:assert/strict'
import { test } from 'node:test'
import { aDeployment, type DeploymentOverrides } from '#test/support/deployments.ts'
import { aModel, aRequest, type ModelOverrides } from '#test/support/models.ts'
import { Fault } from '../../fault/fault.ts'
import { negotiate, type Offer } from '../negotiate.ts'
import { readEmbeddingRequest, type EmbeddingRequest } from '../request.ts'
import { leftOut } from './offer.ts'
import type { VectorType } from '../../catalog/vector-type.ts'

function read(fields: Readonly<Record<string, unknown>>): EmbeddingRequest {
  return readEmbeddingRequest({ model: 'm', input: 'a', ...fields }, 8)
}

for (const [fields, types, encoding] of [
  [{}, undefined, 'float'],
  [{ output_dtype: null }, undefined, 'float'],
  [{ output_dtype: 'float' }, undefined, 'float'],
  [{ output_dtype: 'float32' }, undefined, 'float'],
  [{ output_dtype: 'int8' }, ['int8'], 'float'],
  [{ output_dtype: 'int8', encoding_format: 'base64' }, ['int8'], 'base64'],
  [{ embedding_type: 'ubinary' }, ['ubinary'], 'float'],
  [{ embedding_type: 'base64' }, undefined, 'base64'],
  [{ embedding_types: ['base64'] }, undefined, 'base64'],
  [{ embedding_types: ['float', 'base64'] }, undefined, 'float'],
  [{ embedding_types: ['float', 'ubinary', 'ubinary'] }, ['float', 'ubinary'], 'float'],
  [{ embedding_types: ['int8'], output_dtype: 'int8' }, ['int8'], 'float'],
] as const) {
  test(`the types that a request asks for are read: ${JSON.stringify(fields)}`, () => {
    const request = read(fields)
    assert.deepEqual(request.types?.types, types)
    assert.equal(request.encoding, encoding)
    assert.deepEqual(Object.keys(request.extraFields), [], 'no upstream gets the field by accident')
  })
}

for (const [fields, param] of [
  [{ output_dtype: 'int4' }, 'output_dtype'],
  [{ output_dtype: ['int8'] }, 'output_dtype'],
  [{ output_dtype: 'base64' }, 'output_dtype'],
  [{ output_dtype: 7 }, 'output_dtype'],
  [{ embedding_types: [] }, 'embedding_types'],
  [{ embedding_types: 'int8' }, 'embedding_types'],
  [{ embedding_types: ['int8', null] }, 'embedding_types'],
  [{ embedding_type: 'bit' }, 'embedding_type'],
  [{ output_dtype: 'int8', embedding_type: 'binary' }, 'embedding_type'],
  [{ output_dtype: 'int8', embedding_types: ['int8', 'float'] }, 'embedding_types'],
] as const) {
  test(`types that are unknown or contradict each other are refused: ${JSON.stringify(fields)}`, () => {
    assert.throws(() => read(fields), { name: 'Fault', code: 'invalid_parameter', param })
  })
}

type Capabilities = NonNullable<DeploymentOverrides['capabilities']>
const native: Capabilities = { outputTypes: ['float', 'int8', 'binary'] }

function offered(
  types: readonly VectorType[],
  deployments: readonly (Capabilities & { readonly priority?: number })[],
  more: Partial<EmbeddingRequest> = {},
  facts: ModelOverrides['facts'] = {},
): readonly Offer[] {
  const model = aModel({
    facts: { dimensions: 16, matryoshka: true, ...facts },
    deployments: deployments.map(({ priority = 0, ...capabilities }, index) =>
      aDeployment({ id: `m/${index}`, priority, capabilities }),
    ),
  })
  const request = aRequest({ types: { field: 'output_dtype', types }, ...more })
  return negotiate(request, model, 'refuse').offers
}

function codeOf(act: () => unknown): readonly [string, string | undefined] {
  try {
    act()
  } catch (error) {
    if (error instanceof Fault) return [error.code, error.param]
    throw error
  }
  assert.fail('nothing was refused')
}

test('a type that the upstream makes is asked for by name, and Torana adds nothing', () => {
  const [offer] = offered(['int8'], [native])
  assert.equal(offer?.nativeType, 'int8')
  assert.deepEqual(offer.emulated, [])
})

test('a type that no upstream makes is made here, and the answer says so', () => {
  for (const type of ['float16', 'binary', 'ubinary'] as const) {
    const [offer] = offered([type], [{}], {}, { binary: 'trained' })
    assert.equal(offer?.nativeType, undefined)
    assert.deepEqual(offer?.emulated, ['output_dtype'])
  }
})

test('float16 is always made here', () => {
  assert.equal(offered(['float16'], [native])[0]?.nativeType, undefined)
})

test('native and derived vectors never mix in a model: the first deployment by priority decides', () => {
  const ids = (offers: readonly Offer[]) => offers.map(({ deployment }) => deployment.id)
  assert.deepEqual(ids(offered(['int8'], [native, {}])), ['m/0'])
  assert.deepEqual(ids(offered(['int8'], [{ priority: 1 }, native])), ['m/1'])
  const derived = offered(['binary'], [{}, native], {}, { binary: 'trained' })
  assert.deepEqual(ids(derived), ['m/0', 'm/1'])
  assert.deepEqual(new Set(derived.map(({ nativeType }) => nativeType)), new Set([undefined]))
})

test('bytes of a model whose first deployment makes none are refused, with the types that it has', () => {
  for (const [type, facts, words] of [
    ['int8', {}, /^'embed-w8' has no int8: .* It has float, float16\.$/],
    [
      'uint8',
      { binary: 'trained' },
      /^'embed-w8' has no uint8: .* It has float, float16, binary, ubinary\.$/,
    ],
  ] as const)
    for (const deployments of [[{}], [{}, native]])
      assert.throws(() => offered([type], deployments, {}, facts), {
        name: 'Fault',
        code: 'type_unsupported',
        param: 'output_dtype',
        message: words,
      })
  assert.throws(() => offered(['uint8'], [native]), { message: /It has float, float16, int8, binary\.$/ })
})

test('deployments that a native type leaves out are known, for a warning', () => {
  const one = aDeployment({ id: 'm/0', capabilities: native })
  const other = aDeployment({ id: 'm/1' })
  const model = aModel({ deployments: [one, other] })
  assert.deepEqual(leftOut(model, 'int8'), [other])
  assert.deepEqual(leftOut(model, 'uint8'), [])
})

test('binary is made only of models that were trained for it, or whose operator accepted the loss', () => {
  assert.deepEqual(
    codeOf(() => offered(['ubinary'], [{}])),
    ['type_unsupported', 'output_dtype'],
  )
  for (const binary of ['trained', 'accepted'] as const)
    assert.equal(offered(['ubinary'], [{}], {}, { binary }).length, 1)
})

test('binary of a width that is no multiple of eight is refused, native or not', () => {
  const list: Capabilities = { ...native, dimensions: { kind: 'list', values: [12] } }
  for (const capabilities of [{}, list])
    assert.deepEqual(
      codeOf(() => offered(['binary'], [capabilities], { dimensions: 12 }, { binary: 'trained' })),
      ['type_unsupported', 'dimensions'],
    )
})

test('a vector that the upstream typed is never cut: its type comes after its width', () => {
  assert.deepEqual(
    codeOf(() => offered(['int8'], [native], { dimensions: 8 })),
    ['unsupported_parameter', 'dimensions'],
  )
  const range: Capabilities = { ...native, dimensions: { kind: 'range', min: 1, max: 16 } }
  assert.equal(offered(['int8'], [range], { dimensions: 8 })[0]?.dimensions, 8)
  assert.equal(offered(['float16'], [native], { dimensions: 8 })[0]?.width, 8)
})

test('several types come from one call, unless the upstream makes one of them', () => {
  const [offer] = offered(['float', 'ubinary'], [{}], {}, { binary: 'trained' })
  assert.deepEqual(offer?.types, ['float', 'ubinary'])
  assert.deepEqual(
    codeOf(() => offered(['float', 'int8'], [native])),
    ['type_unsupported', 'output_dtype'],
  )
})

test('a server that has no float answers neither float requests nor derived types', () => {
  const whole: Capabilities = { outputTypes: ['int8'] }
  assert.deepEqual(
    codeOf(() => offered(['float16'], [whole])),
    ['type_unsupported', 'output_dtype'],
  )
  assert.deepEqual(
    codeOf(() => offered(['float'], [whole], { types: undefined })),
    ['type_unsupported', 'output_dtype'],
  )
  assert.equal(offered(['int8'], [whole])[0]?.nativeType, 'int8')
})

test('with permission to drop options, an unsupported type is dropped and named', () => {
  const model = aModel({ facts: { dimensions: 16 } })
  const request = aRequest({ types: { field: 'embedding_type', types: ['binary'] } })
  const { offers, dropped } = negotiate(request, model, 'drop')
  assert.deepEqual(dropped, ['embedding_type'])
  assert.equal(offers[0]?.types, undefined)
})
