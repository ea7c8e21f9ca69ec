import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { base64Of, fromBase64, numberText, tokensOf, truncated, vectorOf, wideNumberText } from './vectors.ts'

const anyText = fc.string({ unit: 'binary' })
const anyWidth = fc.integer({ min: 1, max: 300 })
const finiteVector = fc.float32Array({ noNaN: true, noDefaultInfinity: true, maxLength: 50 })
const anyVector = fc.float32Array({ maxLength: 50 })

function normOf(vector: Float32Array): number {
  return Math.hypot(...vector)
}

describe('vectorOf', () => {
  it('is a function of text and width, of unit length', () => {
    fc.assert(
      fc.property(anyText, anyWidth, (text, width) => {
        const vector = vectorOf(text, width)
        assert.deepEqual(vectorOf(text, width), vector)
        assert.equal(vector.length, width)
        assert.ok(Math.abs(normOf(vector) - 1) < 1e-6)
      }),
    )
  })

  it('keeps its values from release to release, or recorded runs lose their meaning', () => {
    assert.equal(numberText(vectorOf('a', 4)), '[0.49474734,0.16415167,0.8512424,-0.060544353]')
    assert.equal(base64Of(vectorOf('Käse 🧀', 8)), 'Zn5kPpDL573Zw82+X1TvvouY+Tsscw0/H1CPvm1g1b4=')
  })

  it('spreads different texts apart', () => {
    const vectors = Array.from({ length: 300 }, (_, position) => vectorOf(`text ${position}`, 256))
    for (const [position, vector] of vectors.entries()) {
      for (const other of vectors.slice(position + 1)) {
        const cosine = vector.reduce((sum, value, index) => sum + value * (other[index] ?? 0), 0)
        // Six standard deviations of 1/√256: far from chance among 45,000 pairs.
        assert.ok(Math.abs(cosine) < 6 / 16, `cosine ${cosine}`)
      }
    }
  })

  it('is no cut of a wider vector of the same text', () => {
    assert.notDeepEqual(truncated(vectorOf('x', 128), 64), vectorOf('x', 64))
  })

  it('makes 2,048 vectors of 1,536 values in under a second', () => {
    const startMs = performance.now()
    for (let position = 0; position < 2048; position++) vectorOf(`text ${position}`, 1536)
    assert.ok(performance.now() - startMs < 1000)
  })
})

describe('truncated', () => {
  it('keeps the direction of the first values and has unit length', () => {
    fc.assert(
      fc.property(anyText, fc.integer({ min: 2, max: 300 }), fc.nat(), (text, width, seed) => {
        const dimensions = 1 + (seed % width)
        const vector = vectorOf(text, width)
        const cut = truncated(vector, dimensions)
        const norm = Math.sqrt(vector.subarray(0, dimensions).reduce((sum, value) => sum + value * value, 0))
        fc.pre(norm > 0)
        assert.deepEqual(
          cut,
          vector.slice(0, dimensions).map((value) => Math.fround(value / norm)),
        )
        assert.ok(Math.abs(normOf(cut) - 1) < 1e-6)
      }),
    )
  })

  it('leaves zeros as they are', () => {
    assert.deepEqual(truncated(new Float32Array([0, 0, 1]), 2), new Float32Array(2))
  })
})

describe('encodings', () => {
  it('base64 is little-endian float32', () => {
    assert.equal(base64Of(new Float32Array([0.5, -0.25, 1.5, 0.125])), 'AAAAPwAAgL4AAMA/AAAAPg==')
    assert.equal(base64Of(new Float32Array([0.6, 0.8])), 'mpkZP83MTD8=')
  })

  it('base64 gives back every float32, NaN and infinities included', () => {
    fc.assert(fc.property(anyVector, (vector) => assert.deepEqual(fromBase64(base64Of(vector)), vector)))
  })

  it('number text gives back every finite float32 from the fewest digits', () => {
    fc.assert(
      fc.property(finiteVector, (vector) => {
        const text = numberText(vector)
        assert.deepEqual(Float32Array.from(JSON.parse(text) as number[]), vector)
        const words = text === '[]' ? [] : text.slice(1, -1).split(',')
        words.forEach((word, position) => assert.equal(word, fewestDigits(vector[position] ?? 0)))
      }),
    )
    const vector = vectorOf('a vector as embeddings have them', 1536)
    assert.deepEqual(Float32Array.from(JSON.parse(numberText(vector)) as number[]), vector)
    assert.ok(numberText(vector).length < 20_000)
  })

  it('wide number text holds the same values as doubles', () => {
    fc.assert(
      fc.property(finiteVector, (vector) => {
        const numbers = JSON.parse(wideNumberText(vector)) as number[]
        assert.deepEqual(numbers, Array.from(vector))
      }),
    )
    const vector = vectorOf('wide', 1536)
    assert.equal(wideNumberText(vector), JSON.stringify(Array.from(vector)))
  })

  it('NaN and infinities are written as broken servers write them', () => {
    const vector = new Float32Array([Number.NaN, Infinity, -Infinity, -0, 0])
    assert.equal(numberText(vector), '[NaN,1e999,-1e999,-0,0]')
  })

  it('a token is four bytes of UTF-8, and there is at least one', () => {
    assert.deepEqual(['', 'abcd', 'abcde', 'ää', '🧀🧀'].map(tokensOf), [1, 1, 2, 1, 2])
  })
})

function fewestDigits(value: number): string {
  if (Object.is(value, -0)) return '-0'
  for (let digits = 1; digits <= 9; digits++) {
    const candidate = Number(value.toPrecision(digits))
    if (Math.fround(candidate) === value) return String(candidate)
  }
  return assert.fail(`${value} is no float32`)
}
