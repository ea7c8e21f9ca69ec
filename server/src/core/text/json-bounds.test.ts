import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { runs } from '#test/support/arbitraries.ts'
import { boundsOf, scanJson, type JsonBounds } from './json-bounds.ts'

const RUNS = runs(1000).numRuns
const LOOSE: JsonBounds = { maxDepth: 32, maxFields: Infinity, maxValues: Infinity, maxInputs: undefined }

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text)
const excess = (text: string, bounds: Partial<JsonBounds> = {}): string | undefined =>
  scanJson(bytesOf(text), { ...LOOSE, ...bounds }).excess
const bodyExcess = (text: string, maxInputs?: number): string | undefined =>
  scanJson(bytesOf(text), boundsOf(maxInputs)).excess

/** What the parsed value has, by walking it. */
function tallyOf(value: unknown): { depth: number; values: number } {
  if (typeof value !== 'object' || value === null) return { depth: 0, values: 1 }
  const inner = Object.values(value).map(tallyOf)
  return {
    depth: 1 + Math.max(0, ...inner.map(({ depth }) => depth)),
    values: 1 + inner.reduce((sum, { values }) => sum + values, 0),
  }
}

function numbersIn(value: unknown): number {
  if (typeof value === 'number') return 1
  if (typeof value !== 'object' || value === null) return 0
  return Object.values(value).reduce((sum: number, one) => sum + numbersIn(one), 0)
}

/** Texts with everything that a scan could stumble over, at lengths on both sides of where its search begins. */
const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 100 }),
  fc
    .array(fc.constantFrom('"', '\\', '\\"', '[', '{', ',', ':', '1', 'ä😀', 'x'.repeat(40)), {
      maxLength: 20,
    })
    .map((parts) => parts.join('')),
)
const json = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 6, withCrossShrink: true },
    fc.oneof(text, fc.double({ noNaN: true, noDefaultInfinity: true }), fc.boolean(), fc.constant(null)),
    fc.array(tie('value'), { maxLength: 5 }),
    fc.dictionary(fc.oneof(text, fc.constantFrom('input', 'model')), tie('value'), { maxKeys: 5 }),
  ),
})).value
const written = fc
  .tuple(json, fc.constantFrom(undefined, 1, '\t', '\r\n '))
  .map(([value, indent]) => JSON.stringify(value, null, indent))

test('counts what the parser makes of it: the bound itself is taken, one less is refused', () => {
  fc.assert(
    fc.property(written, (body) => {
      const value: unknown = JSON.parse(body)
      const { depth, values } = tallyOf(value)
      const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
      const fields = isObject ? Object.keys(value).length : 0
      assert.equal(excess(body, { maxDepth: depth, maxFields: fields, maxValues: values }), undefined)
      assert.match(excess(body, { maxValues: values - 1 }) ?? '', /values/)
      if (depth > 0) assert.match(excess(body, { maxDepth: depth - 1 }) ?? '', /levels/)
      if (fields > 0) assert.match(excess(body, { maxFields: fields - 1 }) ?? '', /fields/)
    }),
    { numRuns: RUNS },
  )
})

test('numbers below the field input are not counted, wherever they stand in it; all other numbers are', () => {
  fc.assert(
    fc.property(json, json, fc.nat(20), (input, other, maxInputs) => {
      const body = JSON.stringify({ model: 'm', input, other: { input: other }, last: 1 })
      const parsed = JSON.parse(body) as { input: unknown }
      const counted = tallyOf(parsed).values - numbersIn(parsed.input)
      assert.equal(excess(body, { maxInputs, maxValues: counted - maxInputs }), undefined)
      assert.match(
        excess(body, { maxInputs, maxValues: counted - maxInputs - 1 }) ?? '',
        /beside the \d+ texts/,
      )
    }),
    { numRuns: RUNS },
  )
})

test('32 levels, 64 fields and 10,000 values are a request, and one more is not', () => {
  const nested = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels)
  const fields = (count: number): string =>
    `{${Array.from({ length: count }, (_, index) => `"f${index}":0`).join()}}`
  const values = (count: number): string => JSON.stringify(Array(count - 1).fill(0))
  for (const body of [nested(32), fields(64), values(10_000)]) assert.equal(bodyExcess(body), undefined)
  assert.equal(bodyExcess(nested(33)), 'It is nested deeper than 32 levels.')
  assert.equal(bodyExcess(`${'{"a":'.repeat(33)}1`), 'It is nested deeper than 32 levels.')
  assert.equal(bodyExcess('['.repeat(1_000_000)), 'It is nested deeper than 32 levels.')
  assert.equal(bodyExcess(fields(65)), 'It has more than 64 fields.')
  assert.equal(bodyExcess(values(10_001)), 'It has more than 10000 values.')
})

test('input may have a million token ids and as many texts as one request may have', () => {
  const ids = Array(1_000_000).fill(1)
  assert.equal(bodyExcess(JSON.stringify({ input: ids }), 2048), undefined)
  assert.equal(bodyExcess(JSON.stringify({ input: Array(2048).fill('text') }), 2048), undefined)
  for (const entry of ['{}', '[]', '""', 'null', 'true'])
    assert.equal(
      bodyExcess(`{"input":[${`${entry},`.repeat(20_000)}1]}`, 2048),
      'It has more than 10000 values beside the 2048 texts or lists that input may have.',
    )
  // Only a top-level field of the body, and only where the body has one.
  assert.match(bodyExcess(JSON.stringify({ other: { input: ids } }), 2048) ?? '', /values/)
  assert.match(bodyExcess(JSON.stringify([{ input: ids }]), 2048) ?? '', /values/)
  assert.match(bodyExcess(JSON.stringify({ input: ids })) ?? '', /values/)
  assert.match(bodyExcess(JSON.stringify({ input: 1, inputs: ids }), 2048) ?? '', /values/)
})

test('input is input however its name is written', () => {
  const ids = `[${'1,'.repeat(20_000)}1]`
  for (const name of ['input', '\\u0069nput', 'i\\u006eput', '\\u0069\\u006e\\u0070\\u0075\\u0074'])
    assert.equal(bodyExcess(`{"${name}" : ${ids}}`, 2048), undefined, name)
  for (const name of ['Input', 'input ', '\\u0069nputs', 'i\\\\put', '\\uinput'])
    assert.notEqual(bodyExcess(`{"${name}" : ${ids}}`, 2048), undefined, name)
})

/** Remembers how many bytes each search went over. */
class SearchedBytes extends Uint8Array {
  readonly searched: number[] = []

  override indexOf(byte: number, from = 0): number {
    const place = super.indexOf(byte, from)
    this.searched.push((place === -1 ? this.length : place) - from)
    return place
  }
}

test('a text full of escapes is searched once for its end', () => {
  const body = new SearchedBytes(bytesOf(`{"input":"${`\\n${'x'.repeat(40)}`.repeat(200_000)}"}`))
  assert.equal(scanJson(body, boundsOf(2048)).excess, undefined)
  const total = body.searched.reduce((sum, one) => sum + one, 0)
  assert.ok(body.searched.length > 100_000 && total <= 2 * body.length, `${total} of ${body.length} bytes`)
})
