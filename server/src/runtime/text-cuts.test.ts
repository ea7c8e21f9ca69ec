import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { countTokens } from 'gpt-tokenizer/encoding/cl100k_base'
import { runs } from '#test/support/arbitraries.ts'
import { cutAt, isCleanCut } from './text-cuts.ts'

const plain = { disallowedSpecial: new Set<string>() }

/** Everything that the tokenizer's first split distinguishes, and what occurs between letters in real texts. */
const text = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        'a',
        'The',
        "'s",
        "'LL",
        "'",
        '1',
        '2026',
        ' ',
        '  ',
        '\n',
        '\r\n',
        '\t',
        '.',
        ',',
        '("',
        '_',
      ),
      fc.constantFrom('é', 'e\u0301', '漢字', '😀', '\u00a0', '\u3000', '٣', '²', '\x1c', '<|endoftext|>'),
      fc.string({ unit: 'grapheme', maxLength: 4 }),
    ),
    { maxLength: 30, size: 'max' },
  )
  .map((parts) => parts.join(''))

test('wherever a cut is clean, both parts have as many tokens as the whole', () => {
  const often = runs(1000)
  let cuts = 0
  fc.assert(
    fc.property(text, (whole) => {
      const tokens = countTokens(whole, plain)
      for (let at = 1; at < whole.length; at += 1) {
        if (!isCleanCut(whole, at)) continue
        cuts += 1
        const parts = [whole.slice(0, at), whole.slice(at)]
        const sum = parts.reduce((count, part) => count + countTokens(part, plain), 0)
        assert.equal(sum, tokens, JSON.stringify(parts))
      }
    }),
    often,
  )
  assert.ok(cuts > often.numRuns / 2, `only ${cuts} cuts`)
})

test('cuts before the limit where that is clean, and at the limit where nothing is', () => {
  assert.equal(cutAt('word '.repeat(100), 252), 249)
  assert.equal(cutAt('x'.repeat(1000), 500), 500)
  assert.equal(cutAt('漢'.repeat(1000), 500), 500)
  assert.equal(cutAt('😀'.repeat(1000), 501), 500)
})
