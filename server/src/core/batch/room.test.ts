import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { encodeBase64, jsonOf, type Vector } from '../embedding/vector.ts'
import { Fault } from '../fault/fault.ts'
import { asciiJson } from '../text/json-text.ts'
import { ANSWER_TAIL, answerHead, refusedLine } from './result.ts'
import type { BatchLine } from './line.ts'
import { resultBytes } from './room.ts'

const requestId = '01890000-0000-7000-8000-000000000000'
const lineId = `batch_req_${'0'.repeat(32)}_20000000`

test('no result is larger than the room that was taken for it', () => {
  const vectors = fc.array(
    fc.array(fc.float({ noNaN: true, noDefaultInfinity: true }), { minLength: 8, maxLength: 8 }),
    { minLength: 1, maxLength: 9 },
  )
  const encoding = fc.constantFrom('float' as const, 'base64' as const)
  const customIds = fc.string({ unit: 'binary', maxLength: 500 })
  fc.assert(
    fc.property(vectors, encoding, customIds, (made, form, customId) => {
      const texts = made.map((_, index) => `text ${index}`)
      const request = { model: 'small-ä', input: { kind: 'texts', texts }, encoding: form }
      const line = { customId, request, number: 0, firstByte: 0, fault: undefined } as unknown as BatchLine
      const items = made.map((values, index) => {
        const vector: Vector = { form: 'float32', values: Float32Array.from(values) }
        const text =
          form === 'base64'
            ? `"${encodeBase64(Float32Array.from(values))}"`
            : Buffer.from(jsonOf(vector)).toString()
        return `{"object":"embedding","index":${index},"embedding":${text}}`
      })
      const end = `],"model":${asciiJson('small-ä')},"usage":{"prompt_tokens":2000000,"total_tokens":2000000}}`
      const head = answerHead({ lineId, customId, requestId }, 200)
      const result = `${head}{"object":"list","data":[${items.join()}${end}${ANSWER_TAIL}`
      assert.ok(result.length <= resultBytes(line, () => 8))
    }),
  )
})

test('a refusal fits into the room of its line', () => {
  const customId = 'ä'.repeat(512)
  const line = { customId, request: undefined, number: 0, firstByte: 0 } as unknown as BatchLine
  const fault = new Fault('invalid_json', 'x'.repeat(1000))
  const text = refusedLine({ lineId, customId, requestId }, fault, 'https://gateway.example.com')
  assert.ok(text.length <= resultBytes(line, () => undefined), String(text.length))
})
