/**
 * `x-torana-space` is true: it names a space only where Torana knows all that made the vectors. The fake provider plays the fields of
 * other servers that change vectors.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bitsOf } from '#test/support/arbitraries.ts'
import { assertFault } from '#test/support/errors.ts'
import { startGateway, vectorsIn, type Asked } from '#test/support/gateway.ts'
import { vectorFields } from '../../../../lab/fake-provider/obeyed-fields.ts'
import { vectorOf } from '../../../../lab/fake-provider/vectors.ts'

const both = { encodings: ['float', 'base64'] }
const gateway = await startGateway({
  models: {
    'obeys-w16': { on: 'obeys-fields', capabilities: both },
    'shares-w16': {
      on: 'obeys-fields+key-shares',
      capabilities: both,
      cache: { ttl: '1h' },
      microBatch: { maxWaitMs: 4, maxItems: 8 },
    },
    'served-by-vllm-w16': {
      on: 'obeys-fields+key-vllm',
      upstream: { provider: 'vllm' },
      cache: { ttl: '1h' },
    },
    'listed-w16': { on: 'obeys-fields+key-listed', capabilities: { harmlessFields: ['trace_id'] } },
    'two-w16': {
      on: ['obeys-fields+key-first', 'obeys-fields+key-second'],
      capabilities: { harmlessFields: [] },
    },
    'small-w16': { on: 'obeys-fields+key-small', capabilities: { maxInputs: 2 } },
  },
})

const input = ['a text that is long enough to be cut somewhere', 'and another one, just as long as the first']
/** Torana makes types itself or refuses them by name, and byte orders other than little-endian always: it passes none of these on. */
const REFUSED: Readonly<Record<string, 'type_unsupported' | 'unsupported_parameter'>> = {
  binary: 'type_unsupported',
  ubinary: 'type_unsupported',
  int8: 'type_unsupported',
  uint8: 'type_unsupported',
}
const typed = new Set(['embedding_type', 'embedding_types', 'output_dtype', 'embed_dtype', 'endianness'])

const spaceIn = ({ headers }: Asked): string | null => headers.get('x-torana-space')
const calls = (): number => gateway.provider.counters().calls
const plainBits = input.map((text) => bitsOf(vectorOf(text, 16)))

async function plainSpaceOf(model: string): Promise<string> {
  const answer = await gateway.ask({ model, input })
  assert.deepEqual(vectorsIn(answer).map(bitsOf), plainBits, answer.text)
  return spaceIn(answer) ?? assert.fail(`${model} names no space`)
}

for (const model of ['obeys-w16', 'shares-w16'])
  // `modality` is a form of `input`.
  for (const { server, fields } of vectorFields.filter((one) => !('modality' in one.fields)))
    test(`${model}: ${JSON.stringify(fields)} of ${server} never comes under the plain name`, async () => {
      const space = await plainSpaceOf(model)
      const refused = Object.keys(fields).find((field) => typed.has(field))
      const code = REFUSED[String([Object.values(fields)[0]].flat()[0])] ?? 'unsupported_parameter'
      const paths = [
        '/v1/embeddings',
        `/v1/engines/${model}/embeddings`,
        `/openai/deployments/${model}/embeddings`,
      ]
      for (const encoding_format of ['float', 'base64']) {
        const body = { model, input, encoding_format, ...fields }
        for (const path of paths) {
          const before = calls()
          const answer = await gateway.ask(body, { path })
          if (refused !== undefined) {
            assertFault(answer, code, { param: refused })
            assert.equal(calls(), before)
            continue
          }
          assert.deepEqual([answer.status, spaceIn(answer)], [200, null], answer.text)
          assert.equal(answer.headers.get('x-torana-cache'), null, 'nothing is shared')
          assert.equal(calls(), before + 1, 'each request makes its own call')
          for (const [index, bits] of vectorsIn(answer).map(bitsOf).entries())
            assert.notDeepEqual(bits, plainBits[index], 'the field has changed the vectors')
        }
        for (const headers of [
          { 'x-torana-space': space },
          { 'x-torana-space': space, 'x-torana-dry-run': 'true' },
        ]) {
          const before = calls()
          const pinned = await gateway.ask(body, { headers })
          if (refused !== undefined) assertFault(pinned, code, { param: refused })
          else
            assertFault(pinned, 'space_mismatch', {
              param: Object.keys(fields)[0] as string,
              words: /may change vectors/,
            })
          assert.equal(calls(), before, 'a refused request calls no upstream')
        }
        const dry = await gateway.ask(body, { headers: { 'x-torana-dry-run': 'true' } })
        assert.equal(dry.body['space'], undefined)
      }
      assert.equal(await plainSpaceOf(model), space, 'nothing of it was kept')
    })

test('a field of unknown effect is sent in one piece: equal inputs are not merged, and nothing is split', async () => {
  const same = ['one text', 'one text']
  const { inputs: before } = gateway.provider.counters()
  const answer = await gateway.ask({ model: 'shares-w16', input: same, task: 'x' })
  assert.deepEqual([answer.status, gateway.provider.counters().inputs - before], [200, 2])
  assertFault(
    await gateway.ask({ model: 'small-w16', input: ['a', 'b', 'c'], task: 'x' }),
    'request_not_splittable',
    { param: 'task' },
  )
})

test('requests with a field of unknown effect share no call and wait for none', async () => {
  const before = calls()
  const body = { model: 'shares-w16', input: 'asked ten times at once', task: 'x' }
  const answers = await Promise.all(Array.from({ length: 10 }, () => gateway.ask(body)))
  for (const answer of answers) assert.deepEqual([answer.status, spaceIn(answer)], [200, null])
  assert.equal(calls() - before, 10)
})

const HARMLESS: readonly (readonly [model: string, fields: object])[] = [
  ['obeys-w16', { user: 'u' }],
  ['obeys-w16', { encoding_format: 'base64' }],
  ['obeys-w16', { task: null }],
  ['served-by-vllm-w16', { priority: 3 }],
  ['served-by-vllm-w16', { request_id: 'r-1' }],
  ['served-by-vllm-w16', { priority: 0, request_id: 'r-2', user: 'u' }],
  ['listed-w16', { trace_id: 't' }],
]
for (const [model, fields] of HARMLESS)
  test(`${model}: ${JSON.stringify(fields)} changes nothing, and the answer keeps its name`, async () => {
    const space = await plainSpaceOf(model)
    const answer = await gateway.ask({ model, input, ...fields }, { headers: { 'x-torana-space': space } })
    assert.deepEqual([answer.status, spaceIn(answer)], [200, space], answer.text)
    assert.deepEqual(vectorsIn(answer).map(bitsOf), plainBits)
  })

test('what is harmless at one server is not at another, nor beside another field', async () => {
  for (const [model, fields] of [
    ['obeys-w16', { priority: 3 }],
    ['two-w16', { request_id: 'r' }],
    ['served-by-vllm-w16', { priority: 3, use_activation: false }],
    ['served-by-vllm-w16', { cache_salt: 'random' }],
    ['listed-w16', { trace_id: 't', Task: 'x' }],
  ] as const)
    assert.equal(spaceIn(await gateway.ask({ model, input, ...fields })), null, JSON.stringify(fields))
})

test('a field that the caller let Torana drop leaves the plain vectors their name', async () => {
  const space = await plainSpaceOf('shares-w16')
  const headers = { 'x-torana-unsupported': 'drop', 'x-torana-space': space }
  const answer = await gateway.ask({ model: 'shares-w16', input, output_dtype: 'binary' }, { headers })
  assert.deepEqual([answer.status, spaceIn(answer)], [200, space], answer.text)
  assert.equal(answer.headers.get('x-torana-dropped'), 'output_dtype')
  assert.deepEqual(vectorsIn(answer).map(bitsOf), plainBits)
})

const PNG =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=='
test('an image that is sent as a string is refused on every path, and a text with an image in it is not', async () => {
  const model = 'obeys-w16'
  const before = calls()
  for (const path of [
    '/v1/embeddings',
    `/v1/engines/${model}/embeddings`,
    `/openai/deployments/${model}/embeddings`,
  ])
    for (const [asked, param] of [
      [PNG, 'input'],
      [['a text', PNG], 'input[1]'],
    ] as const)
      assertFault(await gateway.ask({ model, input: asked }, { path }), 'ambiguous_input', {
        param,
        words: /is a data URI of an image/,
      })
  // Infinity's field says that it is an image, and the model takes none.
  assertFault(await gateway.ask({ model, input: PNG, modality: 'image' }), 'part_unsupported')
  const dry = { headers: { 'x-torana-dry-run': 'true' } }
  assertFault(await gateway.ask({ model, input: PNG }, dry), 'ambiguous_input')
  assert.equal(calls(), before)
  const answer = await gateway.ask({ model, input: `![a dot](${PNG})` })
  assert.deepEqual(vectorsIn(answer).map(bitsOf), [bitsOf(vectorOf(`![a dot](${PNG})`, 16))])
})
