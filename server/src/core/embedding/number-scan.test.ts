import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { scanNumbers } from './number-scan.ts'

/** Scans with other bytes before and after, as in an answer. */
function scanned(text: string): ReturnType<typeof scanNumbers> {
  const bytes = new TextEncoder().encode(`7:${text}9999`)
  return scanNumbers(bytes, 2, 2 + text.length)
}

/** The text as parsed by JSON's own parser. Undefined when it is no array of numbers. */
function parsed(text: string): readonly number[] | undefined {
  try {
    const values: unknown = JSON.parse(text)
    return Array.isArray(values) && values.every((value) => typeof value === 'number') ? values : undefined
  } catch {
    return undefined
  }
}

function agrees(text: string): void {
  const scan = scanned(text)
  const values = parsed(text)
  assert.equal(scan?.count, values?.length, text)
  if (scan?.plainlySound !== true || values === undefined) return
  const float32 = Float32Array.from(values)
  assert.ok(float32.every(Number.isFinite), text)
  assert.ok(
    float32.some((value) => value !== 0),
    text,
  )
}

const digits = fc.string({ unit: fc.constantFrom(...'0123456789'.split('')), minLength: 1, maxLength: 20 })
const usual = fc.tuple(fc.constantFrom('', '-'), digits).map(([sign, fraction]) => `${sign}0.${fraction}`)
const anyNumber = fc.oneof(
  usual,
  fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
  fc.integer().map(String),
)
const arrayOf = (number: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc
    .tuple(fc.array(number, { maxLength: 12 }), fc.constantFrom(',', ', ', ' ,\n'))
    .map(([numbers, comma]) => `[${numbers.join(comma)}]`)

test('an array of numbers is one to the scan where it is one to JSON, and is sound where it says so', () => {
  fc.assert(fc.property(arrayOf(anyNumber), agrees))
})

test('one character more, less or other is judged as JSON judges it', () => {
  const other = fc.constantFrom(...'0123456789.,-+eE[] \n:;/a\u0000'.split(''))
  fc.assert(
    fc.property(
      arrayOf(usual),
      fc.nat(),
      fc.option(other, { nil: '' }),
      fc.boolean(),
      (text, place, put, isInstead) => {
        // The first and the last character are found before the scan begins.
        const at = 1 + (place % Math.max(1, text.length - 1))
        const changed = `${text.slice(0, at)}${put}${text.slice(isInstead ? at + 1 : at)}`
        if (changed.endsWith(']') && changed.indexOf(']') === changed.length - 1) agrees(changed)
      },
    ),
  )
})
