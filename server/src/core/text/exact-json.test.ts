import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { MANY_RUNS } from '#test/support/arbitraries.ts'
import { exactFields, exactFieldTexts, isExactNumber, parseExactly } from './exact-json.ts'
import { boundsOf, scanJson } from './json-bounds.ts'

const NONE: ReadonlySet<string> = new Set()

function fieldsOf(text: string, known = NONE): Readonly<Record<string, unknown>> | undefined {
  const bytes = Buffer.from(text)
  return exactFields(exactFieldTexts(bytes, known, (start, end) => bytes.toString('utf8', start, end)))
}

test('a number is kept as it was written where JavaScript would write another', () => {
  for (const number of [
    '12345678901234567890',
    '9007199254740993',
    '1.0',
    '1e400',
    '-0',
    '1E5',
    '0.10',
    '1e-400',
  ]) {
    const read = parseExactly(`{"a":[${number}]}`)
    assert.equal(JSON.stringify(read), `{"a":[${number}]}`)
    assert.ok(isExactNumber((read as { a: unknown[] }).a[0]))
  }
  assert.deepEqual(parseExactly('[7,-1.5,1e+21,"1.0",null]'), [7, -1.5, 1e21, '1.0', null])
})

test('only the fields that have such a number are found, at any depth, and the last of a name counts', () => {
  const text = `{"a" : 1.0 , "b":{"c":[1,{"d":12345678901234567890}]}, "e":"x,}]\\"1.5", "f":2,
    "g":1.50,"g":3, "\\u0068":0.10, "__proto__":2.0}`
  assert.equal(
    JSON.stringify(Object.entries(fieldsOf(text) ?? {})),
    '[["a",1.0],["b",{"c":[1,{"d":12345678901234567890}]}],["e","x,}]\\"1.5"],["h",0.10],["__proto__",2.0]]',
  )
  assert.equal(fieldsOf('{"input":[1.5],"n":7}', new Set(['input'])), undefined)
  assert.equal(fieldsOf('{}'), undefined)
})

/** The same number in several forms, beside numbers as JavaScript writes them. */
const number = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => JSON.stringify(value)),
  fc.bigInt({ min: -(2n ** 80n), max: 2n ** 80n }).map(String),
  fc.tuple(fc.integer(), fc.integer({ min: 0, max: 9 })).map(([whole, digit]) => `${whole}.${digit}0`),
  fc.tuple(fc.integer(), fc.integer({ min: -500, max: 500 })).map(([whole, power]) => `${whole}E${power}`),
)
const text = fc.string({ unit: 'binary' }).map((value) => JSON.stringify(value))
const value = fc.letrec<{ any: string }>((tie) => ({
  any: fc.oneof(
    { maxDepth: 4 },
    number,
    text,
    fc.constantFrom('null', 'true'),
    fc.array(tie('any'), { maxLength: 3 }).map((items) => `[${items.join(' ,')}]`),
    fc.array(fc.tuple(text, tie('any')), { maxLength: 3 }).map((fields) => objectOf(fields)),
  ),
})).any

function objectOf(fields: readonly (readonly [name: string, value: string])[]): string {
  return `{${fields.map(([name, inner]) => `${name}: ${inner}`).join(', ')}}`
}

test('no field is missed: with the exact ones in their places, a body is written as it came', () => {
  const body = fc.uniqueArray(fc.tuple(text, value), { selector: ([name]) => JSON.parse(name) as string })
  fc.assert(
    fc.property(body, (fields) => {
      const sent = objectOf(fields)
      const { mayRound } = scanJson(Buffer.from(sent), { ...boundsOf(undefined), maxFields: Infinity })
      const exact = mayRound ? fieldsOf(sent) : undefined
      for (const [name, own] of Object.entries(JSON.parse(sent) as Record<string, unknown>))
        assert.equal(
          JSON.stringify(exact?.[name] ?? own),
          JSON.stringify((parseExactly(sent) as Record<string, unknown>)[name]),
        )
    }),
    MANY_RUNS,
  )
})
