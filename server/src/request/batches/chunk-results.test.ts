import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { BatchLine, LineRun } from '#core/batch/line.ts'
import { Fault } from '#core/fault/fault.ts'
import { aRequest } from '#test/support/models.ts'
import type { EmbedResult } from '../embeddings/embed-result.ts'
import { ChunkResults } from './chunk-results.ts'

const WHOLE = { done: undefined, rest: undefined }
const lines = ['a', 'b'].map((customId, number) => ({
  customId,
  number,
  firstByte: 0,
  request: aRequest({ input: { kind: 'texts', texts: [customId] } }),
  fault: undefined,
})) as unknown as LineRun
const [first, second] = lines as readonly [BatchLine, BatchLine]

function aResult(more: Partial<EmbedResult>): EmbedResult {
  const vector = { form: 'float32', values: Float32Array.of(1, 2) }
  return {
    vectors: [vector, vector],
    usage: { promptTokens: 2 },
    extraFields: {},
    space: 's',
    guardedSpace: 's',
    served: [],
    hits: [],
    ...more,
  } as unknown as EmbedResult
}

const resultsOf = () =>
  new ChunkResults({
    batchId: 'batch_1',
    firstLine: 10,
    docsUrl: 'http://docs',
    bytesOf: (text) => text.length,
  })

/** The lines behind the head of the part. */
function written(results: ChunkResults): unknown[] {
  const { bytes, headBytes } = results.part(WHOLE)
  const text = new TextDecoder().decode(bytes.subarray(headBytes))
  return text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as unknown)
}

const SPAN = { fromMs: 100, untilMs: 200 }
const call = (id: string, inputs: number, tokens: number) => ({
  offer: { deployment: { id } },
  slots: Array.from({ length: inputs }, (_, slot) => slot),
  answer: { usage: { kind: 'measured', tokens } },
})
for (const [what, result, made] of [
  [
    'deployments, from the question until the answer, with their largest call',
    { served: [call('d1', 2, 70), call('d2', 1, 5), call('d1', 9, 40)] },
    [
      { space: 's', deployment: 'd1', ...SPAN, largest: { inputs: 9, tokens: 70 } },
      { space: 's', deployment: 'd2', ...SPAN, largest: { inputs: 1, tokens: 5 } },
    ],
  ],
  [
    'makers of vectors from the cache, at the time when they were made, and not the cache',
    { hits: [{ deployment: 'd3', madeAtMs: 50 }] },
    [{ space: 's', deployment: 'd3', fromMs: 50, untilMs: 50 }],
  ],
  [
    'makers of vectors without a space of their own',
    { served: [call('d1', 1, 5)], space: undefined },
    [{ space: 's', isUnnamed: true, deployment: 'd1', ...SPAN, largest: { inputs: 1, tokens: 5 } }],
  ],
] as const)
  test(`the head of a part names ${what}`, () => {
    const results = resultsOf()
    results.answered(lines, aResult(result as unknown as Partial<EmbedResult>), 'request', SPAN)
    assert.deepEqual(results.part(WHOLE).head.made, made)
  })

test('an image line has its own ids and body, and its tokens are counted', () => {
  const results = resultsOf()
  results.made(second, ['{"data":', '[1]}'], 7, 'request')
  assert.deepEqual(written(results), [
    {
      id: 'batch_req_1_11',
      custom_id: 'b',
      response: { status_code: 200, request_id: 'request', body: { data: [1] } },
      error: null,
    },
  ])
  const { completed, failed, outputTokens } = results.counts
  assert.deepEqual([completed, failed, outputTokens], [1, 0, 7])
})

test('answers come before refusals, each is counted by its code, and the head has the sizes of both halves', () => {
  const results = resultsOf()
  results.refused([first], new Fault('invalid_input', 'x'), 'request')
  results.expired([first, second])
  results.made(second, ['{}'], 0, 'request')
  const { head, bytes, headBytes } = results.part(WHOLE)
  assert.deepEqual(
    written(results).map((line) => (line as { custom_id: string }).custom_id),
    ['b', 'a', 'a', 'b'],
  )
  assert.equal(headBytes + head.outputBytes + head.errorBytes, bytes.length)
  const { completed, failed, expired, faults } = results.counts
  assert.deepEqual([completed, failed, expired], [1, 3, 2])
  assert.deepEqual(faults, { invalid_input: 1, batch_expired: 2 })
})
