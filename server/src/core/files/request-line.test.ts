import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { dividedLine } from './request-line.ts'

const decoder = new TextDecoder()
const textOf = (bytes: Uint8Array): string => decoder.decode(bytes)
const divided = (text: string) => dividedLine(new TextEncoder().encode(text), textOf)

test('whatever a line holds and however it is written, its name and its body are those that JSON.parse finds', () => {
  const fields = fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys: 4 })
  const spaces = fc.constantFrom(undefined, 1, '\t', '\r')
  fc.assert(
    fc.property(
      fc.string({ unit: 'binary' }),
      fc.jsonValue(),
      fields,
      fields,
      spaces,
      (id, body, before, after, space) => {
        const line: unknown = { ...before, custom_id: id.toWellFormed(), body, ...after }
        const text = JSON.stringify(line, undefined, space)
        const expected = JSON.parse(text) as { custom_id: unknown; body: unknown }
        const got = divided(text)
        assert.equal(got.customId, typeof expected.custom_id === 'string' ? expected.custom_id : '')
        assert.deepEqual(JSON.parse(textOf(got.body)), expected.body)
      },
    ),
  )
})

test('names may be escaped, and the last field of a name counts', () => {
  const line = String.raw`{"body": {"a": "}\"{"}, "custom_id": "x", "bod\u0079" : {"b": [1, "\\"]} ,"custom_id":"y"}`
  const { customId, body } = divided(line)
  assert.deepEqual([customId, textOf(body).trim()], ['y', String.raw`{"b": [1, "\\"]}`])
})
