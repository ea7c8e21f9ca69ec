import { test } from 'node:test'
import assert from 'node:assert/strict'
import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import { inShell, listed } from './literals.ts'
import { snippet } from './snippets.ts'

test('JavaScript reads a list as it was typed', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'grapheme' }), { maxLength: 20 }), (texts) => {
      const read: unknown = runInNewContext(`JSON.stringify([${listed(texts, { quotes: 'single' })}])`)
      assert.equal(read, JSON.stringify(texts))
    }),
  )
})

test('JSON reads a list as it was typed, also a long one', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'grapheme' }), { maxLength: 20 }), (texts) => {
      assert.deepEqual(JSON.parse(`[${listed(texts, { last: '' })}]`), texts)
    }),
  )
})

test('a quote does not end what a shell reads', () => {
  assert.equal(inShell("it's"), String.raw`it'\''s`)
})

test('a call of typed texts names each of them, and three words where nothing was typed', () => {
  const asked = { kind: 'embedding', model: 'm', baseUrl: 'http://h/v1', space: undefined } as const
  assert.match(snippet('curl', asked), /"input": \["cat", "kitten", "car"\]/)
  const typed = snippet('curl', { ...asked, texts: ["Where's my parcel?", 'x'.repeat(80)] })
  assert.match(typed, /"Where'\\''s my parcel\?",\n/)
})
