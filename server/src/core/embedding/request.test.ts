import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Fault } from '../fault/fault.ts'
import { readEmbeddingRequest } from './request.ts'
import type { PathModel } from '../request/path-model.ts'

const read = (body: unknown, path?: PathModel) => readEmbeddingRequest(body, 2048, path)

test('a plain body is read with OpenAI’s defaults', () => {
  assert.deepEqual(read({ model: 'm', input: 'a' }), {
    model: 'm',
    input: { kind: 'texts', texts: ['a'] },
    dimensions: undefined,
    encoding: 'float',
    types: undefined,
    inputType: undefined,
    user: undefined,
    tags: undefined,
    extraFields: {},
  })
})

test('null counts as absent, also for unknown fields', () => {
  const nothing = { dimensions: null, encoding_format: null, input_type: null, user: null, task: null }
  assert.deepEqual(read({ model: 'm', input: 'a', ...nothing }), read({ model: 'm', input: 'a' }))
})

test('fields that Torana does not know are kept apart, whatever they are called', () => {
  const body = JSON.parse(
    '{"model":"m","input":"a","task":"x","__proto__":{"y":1},"constructor":false}',
  ) as unknown
  const { extraFields } = read(body)
  assert.equal(
    JSON.stringify(Object.entries(extraFields)),
    '[["task","x"],["__proto__",{"y":1}],["constructor",false]]',
  )
})

for (const [word, meaning] of [
  ['query', 'query'],
  ['search_query', 'query'],
  ['document', 'document'],
  ['search_document', 'document'],
  ['passage', 'document'],
  ['classification', 'classification'],
  ['clustering', 'clustering'],
  ['similarity', 'similarity'],
] as const) {
  test(`input_type ${word} means ${meaning}`, () => {
    assert.equal(read({ model: 'm', input: 'a', input_type: word }).inputType, meaning)
  })
}

test('output_dimension is another name for dimensions', () => {
  assert.deepEqual(
    read({ model: 'm', input: 'a', output_dimension: 256 }),
    read({ model: 'm', input: 'a', dimensions: 256 }),
  )
  assert.equal(read({ model: 'm', input: 'a', dimensions: 8, output_dimension: 8 }).dimensions, 8)
})

for (const [title, body, code, param] of [
  ['a list', [], 'invalid_json', undefined],
  ['null', null, 'invalid_json', undefined],
  ['text', 'model', 'invalid_json', undefined],
  ['no model', { input: 'a' }, 'missing_parameter', 'model'],
  ['model null', { input: 'a', model: null }, 'missing_parameter', 'model'],
  ['an empty model', { input: 'a', model: '' }, 'invalid_parameter', 'model'],
  ['a number as model', { input: 'a', model: 5 }, 'invalid_parameter', 'model'],
  ['no input', { model: 'm' }, 'missing_parameter', 'input'],
  ['dimensions 0', { model: 'm', input: 'a', dimensions: 0 }, 'invalid_parameter', 'dimensions'],
  ['dimensions -1', { model: 'm', input: 'a', dimensions: -1 }, 'invalid_parameter', 'dimensions'],
  ['broken dimensions', { model: 'm', input: 'a', dimensions: 1.5 }, 'invalid_parameter', 'dimensions'],
  ['dimensions as text', { model: 'm', input: 'a', dimensions: '256' }, 'invalid_parameter', 'dimensions'],
  [
    'two widths',
    { model: 'm', input: 'a', dimensions: 8, output_dimension: 9 },
    'invalid_parameter',
    'output_dimension',
  ],
  [
    'output_dimension as text',
    { model: 'm', input: 'a', output_dimension: '256' },
    'invalid_parameter',
    'output_dimension',
  ],
  [
    'an unknown encoding',
    { model: 'm', input: 'a', encoding_format: 'int8' },
    'invalid_parameter',
    'encoding_format',
  ],
  [
    'an unknown input type',
    { model: 'm', input: 'a', input_type: 'toString' },
    'invalid_parameter',
    'input_type',
  ],
  ['a user that is no text', { model: 'm', input: 'a', user: 5 }, 'invalid_parameter', 'user'],
  ['a user that is a book', { model: 'm', input: 'a', user: 'u'.repeat(513) }, 'invalid_parameter', 'user'],
] as const) {
  test(`${title} is refused as ${code}`, () => {
    assert.throws(
      () => read(body),
      (error) => error instanceof Fault && error.code === code && error.param === param,
    )
  })
}

test('the model of the path counts; the body may repeat it but not differ', () => {
  const path = { model: 'm', pathWins: false }
  for (const model of [undefined, null, 'm']) assert.equal(read({ model, input: 'a' }, path).model, 'm')
  for (const model of ['other', '', 5]) {
    assert.throws(
      () => read({ model, input: 'a' }, path),
      (error) => error instanceof Fault && error.code === 'model_mismatch' && error.param === 'model',
    )
  }
})

test('on Azure’s path the body’s model is ignored, whatever it is', () => {
  for (const model of [undefined, null, 'other', 5]) {
    assert.equal(read({ model, input: 'a' }, { model: 'm', pathWins: true }).model, 'm')
  }
})
