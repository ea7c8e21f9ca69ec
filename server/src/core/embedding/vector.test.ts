import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { bitsOf, float32Array, MANY_RUNS, soundVector } from '#test/support/arbitraries.ts'
import {
  base64LengthOf,
  base64Of,
  decodeBase64,
  encodeBase64,
  faultIn,
  faultInBase64,
  jsonOf,
  truncate,
  valuesOf,
  type Vector,
} from './vector.ts'

const BASE64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'

test('float32 → base64 → float32 keeps every bit', () => {
  fc.assert(
    fc.property(float32Array(0, 24), (values) => {
      const base64 = encodeBase64(values)
      assert.equal(base64.length, base64LengthOf(values.length))
      assert.deepEqual(bitsOf(decodeBase64(base64)), bitsOf(values))
    }),
    MANY_RUNS,
  )
})

test('base64 is little-endian float32, as every SDK decodes it', () => {
  fc.assert(
    fc.property(float32Array(0, 24), (values) => {
      const bytes = Buffer.alloc(values.length * 4)
      values.forEach((value, index) => bytes.writeFloatLE(value, index * 4))
      assert.equal(encodeBase64(values), bytes.toString('base64'))
    }),
    MANY_RUNS,
  )
})

test('base64 ⇄ float32 ⇄ JSON keeps every bit, whichever form a vector arrives in', () => {
  fc.assert(
    fc.property(float32Array(1, 24), (values) => {
      const forms: Vector[] = [
        { form: 'float32', values },
        { form: 'base64', base64: encodeBase64(values) },
        { form: 'text', text: Buffer.from(JSON.stringify([...values])) },
      ]
      for (const vector of forms) {
        // JSON.stringify writes -0 as 0, so the text form is compared with the written values.
        const said = vector.form === 'text' ? values.map((value) => value + 0) : values
        assert.deepEqual(bitsOf(valuesOf(vector)), bitsOf(said), vector.form)
        assert.equal(base64Of(vector), encodeBase64(said), vector.form)
        const read = Float32Array.from(JSON.parse(Buffer.from(jsonOf(vector)).toString('latin1')) as number[])
        assert.deepEqual(bitsOf(read), bitsOf(said), vector.form)
      }
    }),
    MANY_RUNS,
  )
})

test('an upstream’s number text goes out as it came', () => {
  const text = Buffer.from('[1.50, -2e0 ,0.10000000149011612]')
  assert.equal(jsonOf({ form: 'text', text }), text)
})

test('whatever the decoder takes is the one canonical text of its values', () => {
  const almostBase64 = fc
    .tuple(
      float32Array(1, 6).map(encodeBase64),
      fc.nat(40),
      fc.constantFrom(...BASE64.split(''), '=', '-', '_', '!', 'é', ''),
      fc.constantFrom('', '=', '==', '===', 'A', 'AA='),
    )
    .map(([base64, at, character, tail]) => base64.slice(0, at) + character + base64.slice(at + 1) + tail)
  fc.assert(
    fc.property(almostBase64, (text) => {
      let values: Float32Array
      try {
        values = decodeBase64(text)
      } catch (error) {
        assert.ok(error instanceof SyntaxError || error instanceof RangeError)
        return
      }
      assert.equal(encodeBase64(values), text)
    }),
    MANY_RUNS,
  )
})

for (const [title, text] of [
  ['padding that is missing', 'AACAPw'],
  ['padding that is short', 'AACAPw='],
  ['padding in the middle', 'AA==CAPw'],
  ['bits behind the end', 'AACAPx=='],
  ['the URL alphabet', 'AAC_Pw=='],
  ['a foreign character', 'AACA!w=='],
  ['three bytes', 'AACA'],
] as const) {
  test(`base64 with ${title} is refused`, () => assert.throws(() => decodeBase64(text)))
}

test('base64 with white space is refused: it would reach callers as it is', () => {
  for (const text of ['AACA Pw==', ' AACAPw==', 'AACAPw==\n']) assert.throws(() => decodeBase64(text), text)
})

test('truncation keeps the first values in proportion, at length one', () => {
  fc.assert(
    fc.property(soundVector(8), fc.integer({ min: 1, max: 8 }), (values, width) => {
      const head = Array.from(values.subarray(0, width))
      const cut = truncate(values, width)
      assert.equal(cut.length, width)
      const length = Math.hypot(...head)
      for (const [index, value] of cut.entries()) {
        const expected = length === 0 ? (head[index] as number) : (head[index] as number) / length
        assert.ok(Math.abs(value - expected) <= 1e-6, `${value} instead of ${expected}`)
      }
    }),
    MANY_RUNS,
  )
})

test('truncation leaves the vector it was given alone', () => {
  const values = Float32Array.of(3, 4, 5)
  assert.deepEqual([...truncate(values, 2)], [Math.fround(0.6), Math.fround(0.8)])
  assert.deepEqual([...values], [3, 4, 5])
})

test('a vector of denormals alone is sound, and stays so when it is truncated', () => {
  const values = Float32Array.of(1e-45, 0, 0, 0)
  assert.equal(faultIn(values, 4), undefined)
  assert.equal(truncate(values, 2)[0], 1)
})

test('any finite vector that is not all zero is sound, in each form', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 13 }).chain((width) => soundVector(width)),
      (values) => {
        assert.equal(faultIn(values, values.length), undefined)
        assert.equal(faultInBase64(encodeBase64(values), values.length), undefined)
      },
    ),
    MANY_RUNS,
  )
})

test('a wrong width, a value that is not finite and a vector of zeros are distinguished at any position', () => {
  const unsound = fc
    .tuple(
      fc.integer({ min: 1, max: 13 }).chain((width) => soundVector(width)),
      fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 'zeros', 'width'),
      fc.nat(12),
    )
    .map(([values, flaw, at]) => {
      const flawed = values.slice()
      if (typeof flaw === 'number') flawed[at % flawed.length] = flaw
      if (flaw === 'zeros') flawed.fill(0)
      return { flawed, flaw, width: flaw === 'width' ? values.length + 1 : values.length }
    })
  fc.assert(
    fc.property(unsound, ({ flawed, flaw, width }) => {
      const words =
        flaw === 'width'
          ? `a vector of ${flawed.length} dimensions instead of ${width}`
          : flaw === 'zeros'
            ? 'a vector of zeros'
            : 'a vector with a value that is not a finite number'
      const fault = { reason: words, ...(flaw === 'width' && { wrongWidth: flawed.length }) }
      assert.deepEqual(faultIn(flawed, width), fault)
      assert.deepEqual(faultInBase64(encodeBase64(flawed), width), fault)
      assert.equal(faultIn(new Float32Array(0), width)?.wrongWidth, undefined)
    }),
    MANY_RUNS,
  )
})
