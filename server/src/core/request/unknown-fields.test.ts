import assert from 'node:assert/strict'
import { test } from 'node:test'
import { aDeployment } from '#test/support/deployments.ts'
import { anImageDeployment, anImageModel, anImageRequest } from '#test/support/images.ts'
import { aModel, aRequest } from '#test/support/models.ts'
import { readEmbeddingRequest } from '../embedding/request.ts'
import { negotiate } from '../embedding/negotiate.ts'
import { Fault } from '../fault/fault.ts'
import { negotiateImages } from '../image/negotiate.ts'
import { readImageRequest } from '../image/request.ts'

const reads: readonly (readonly [string, (fields: object) => unknown])[] = [
  ['embeddings', (fields) => readEmbeddingRequest({ model: 'm', input: 'x', ...fields }, 8)],
  ['images', (fields) => readImageRequest({ model: 'm', prompt: 'x', ...fields }, { maxImages: 8 })],
]

const REROUTING = (
  'api_base base_url api_key models engine organization custom_llm_provider extra_body extra_headers extra_query headers ' +
  'fallbacks aws_role_name vertex_credentials azure_ad_token litellm_params API_BASE api-base Base_Url'
).split(' ')

for (const [kind, read] of reads) {
  test(`${kind}: a field that would choose another server, credential or model is never passed on`, () => {
    for (const name of REROUTING)
      assert.throws(
        () => read({ [name]: 'x' }),
        (error) => error instanceof Fault && error.code === 'unsupported_parameter' && error.param === name,
        name,
      )
    // Null counts as absent, and a name that only looks similar is a field like any other.
    read({ api_base: null, provider: { order: ['x'] }, metadata: {}, modelscope: 1 })
  })

  test(`${kind}: no name of a field, however long, comes back whole`, () => {
    const isShort = (error: unknown): boolean =>
      error instanceof Fault && error.message.length < 300 && (error.param ?? '').length < 200
    assert.throws(() => read({ ['x'.repeat(1_000_000)]: 1 }), isShort)
    read({ ['x'.repeat(100)]: 1 })
  })
}

test('no value, however long or deep, comes back whole', () => {
  let deep: unknown = 1
  for (let level = 0; level < 10_000; level += 1) deep = [deep]
  for (const value of ['x'.repeat(1_000_000), Array.from({ length: 100_000 }, () => 'x'), deep]) {
    for (const [, read] of reads)
      for (const name of ['dimensions', 'encoding_format', 'input_type', 'size', 'stream', 'quality', 'n'])
        try {
          read({ [name]: value })
        } catch (error) {
          assert.ok(error instanceof Fault && error.message.length < 400, name)
        }
    const path = { model: 'another', pathWins: false }
    assert.throws(
      () => readEmbeddingRequest({ model: value, input: 'x' }, 8, path),
      (error) => error instanceof Fault && error.message.length < 400,
    )
  }
})

test('a model takes all unknown fields, none, or those on its list; harmless ones always', () => {
  const capabilities = { harmlessFields: ['trace'] }
  const passes = (unknownFields: readonly string[] | undefined, name: string): boolean => {
    const extraFields = { [name]: 1 }
    const outcomes = [
      () =>
        negotiate(
          aRequest({ extraFields }),
          aModel({ unknownFields, deployments: [aDeployment({ capabilities })] }),
          'refuse',
        ),
      () =>
        negotiateImages(
          anImageRequest({ extraFields }),
          anImageModel({ unknownFields, deployments: [anImageDeployment({ capabilities })] }),
          'refuse',
        ),
    ].map((ask) => {
      try {
        return ask().offers.length > 0
      } catch (error) {
        assert.ok(error instanceof Fault && error.code === 'unsupported_parameter' && error.param === name)
        return false
      }
    })
    assert.equal(outcomes[0], outcomes[1])
    return outcomes[0] ?? false
  }
  assert.deepEqual(
    [passes(undefined, 'seed'), passes([], 'seed'), passes(['seed'], 'seed')],
    [true, false, true],
  )
  assert.deepEqual([passes([], 'trace'), passes(['seed'], 'task')], [true, false])
})
