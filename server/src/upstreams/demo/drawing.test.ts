import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { fitted } from './drawing.ts'

/** Of a picture of 512 by 512, without its margins. */
const INNER = { width: 430, height: 430 }

test('the first picture of the guide breaks no word', () => {
  const { dot, lines } = fitted('a lighthouse in the fog', INNER)
  assert.deepEqual(lines, ['a', 'lighthouse', 'in the fog'])
  assert.equal(dot, 7)
})

test('letters are as large as they can be without breaking a word of up to 24 letters', () => {
  const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), minLength: 1, maxLength: 24 })
  fc.assert(
    fc.property(fc.array(word, { minLength: 1, maxLength: 12 }), (words) => {
      const { lines } = fitted(words.join(' '), INNER)
      assert.deepEqual(lines.join(' ').split(' '), words)
    }),
  )
})

test('a word without end, as of a language without spaces, does not make the letters tiny', () => {
  assert.ok(fitted('x'.repeat(60), INNER).dot >= 5)
})
