import assert from 'node:assert/strict'
import { test } from 'node:test'
import { partName } from '#core/batch/part.ts'
import type { LineRun } from '#core/batch/line.ts'
import { Fault } from '#core/fault/fault.ts'
import { aRequest } from '#test/support/models.ts'
import type { EmbedResult } from '../embeddings/embed-result.ts'
import { ChunkResults } from './chunk-results.ts'
import { linesOfPart } from './part-lines.ts'

const BATCH = 'batch_01a1edc23c4a73c2b95b577d569fdd34'
const [FIRST, SECOND] = [
  '01a1edc2-37b6-79be-a103-d2cc8d799756',
  '01a1edc2-380b-7b64-a37a-1a42094bf2be',
] as const
const FAULT = new Fault('internal_error', 'It failed.')

/** A line with this many texts, and a name that looks like the rest of a line. */
function lineOf(number: number, texts: number): LineRun[0] {
  const input = { kind: 'texts', texts: Array.from({ length: texts }, () => 'a') } as const
  const customId = `"\\é","response":{"status_code":200,"request_id":"${number}`
  return { customId, number, firstByte: 0, request: aRequest({ input }), fault: undefined }
}

function resultOf(vectors: number): EmbedResult {
  const vector = { form: 'float32', values: Float32Array.of(0.25, -1) }
  const result = {
    vectors: Array.from({ length: vectors }, () => vector),
    usage: { promptTokens: 2 },
    extraFields: {},
    served: [],
    hits: [],
  }
  return result as unknown as EmbedResult
}

test('the lines of a part name their request and count their vectors, however the bytes arrive; errors are none of them', async () => {
  const results = new ChunkResults({
    batchId: BATCH,
    firstLine: 10,
    docsUrl: '',
    bytesOf: (text) => text.length,
  })
  const span = { fromMs: 1, untilMs: 2 }
  results.answered([lineOf(0, 1), lineOf(2, 3)], resultOf(4), FIRST, span)
  results.refused([lineOf(3, 1)], FAULT, SECOND)
  results.answered([lineOf(7, 2)], resultOf(2), SECOND, span)
  const { bytes, head, headBytes } = results.part({ done: undefined, rest: undefined })
  const { outputBytes, errorBytes } = head
  const part = { token: 3, headBytes, outputBytes, errorBytes }
  for (const step of [1, 7, bytes.length]) {
    const blobs = {
      open: async (name: string, range?: { first: number; last: number }) => {
        assert.equal(name, partName(BATCH, 5, 3))
        const wanted = bytes.subarray(range?.first, (range?.last ?? 0) + 1)
        const pieces = async function* () {
          for (let at = 0; at < wanted.length; at += step) yield wanted.subarray(at, at + step)
        }
        return { size: wanted.length, bytes: pieces() }
      },
    }
    assert.deepEqual(await linesOfPart({ batchId: BATCH, chunk: 5, part }, blobs), [
      { number: 10, requestId: FIRST, vectors: 1 },
      { number: 12, requestId: FIRST, vectors: 3 },
      { number: 17, requestId: SECOND, vectors: 2 },
    ])
  }
  const gone = { open: async () => undefined }
  assert.equal(await linesOfPart({ batchId: BATCH, chunk: 5, part }, gone), undefined)
})
