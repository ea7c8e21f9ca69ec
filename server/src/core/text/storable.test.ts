import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { isPlain, isStorable, unstorableIn } from './storable.ts'

const text = fc.string({ unit: fc.constantFrom('a', 'ä', '😀', '\0', '\ud800', '\udc00', '\x01', '.') })

test('a text is storable if UTF-8 gives it back, and it has no NUL', () => {
  fc.assert(
    fc.property(text, (one) => {
      assert.equal(isStorable(one), Buffer.from(one).toString() === one && !one.includes('\0'))
      assert.equal(isPlain(one), isStorable(one) && !one.includes('\x01'))
    }),
  )
})

test('a text or a key that is not storable is found wherever it is in a value, and nothing else is', () => {
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      text,
      fc.constantFrom(null, 1, true),
      fc.array(tie('value')),
      fc.dictionary(text, tie('value')),
    ),
  }))
  fc.assert(
    fc.property(value, (one) => {
      const texts: string[] = []
      JSON.stringify(one, (key, inside: unknown) => {
        texts.push(key)
        if (typeof inside === 'string') texts.push(inside)
        return inside
      })
      assert.equal(unstorableIn(one) === undefined, texts.every(isStorable))
    }),
  )
})

test('its place is named, and no depth is too much', () => {
  assert.equal(unstorableIn({ a: 'x', b: { c: ['y', 'z\0'], d: 'w' } }), 'b.c.1')
  assert.equal(unstorableIn({ a: { 'b\0': 1 } }), 'a')
  assert.equal(unstorableIn('\0'), '')
  let deep: unknown = 'x'
  for (let level = 0; level < 300_000; level += 1) deep = [deep]
  assert.equal(unstorableIn(deep), undefined)
  assert.equal(unstorableIn([deep, '\0']), '1')
})
