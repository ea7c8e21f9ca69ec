import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { estimateCorpus, type BadRows, type EstimateQuestion } from './estimate.ts'
import { CorpusProfiler } from './profile.ts'

/** A tokenizer of one token for each four bytes, and one more for texts with an `x`; never more tokens than bytes. */
function tokensIn(text: string): number {
  return Math.ceil(text.length / 4) + (text.length > 1 && text.includes('x') ? 1 : 0)
}

function questionOf(
  texts: readonly string[],
  badRows: BadRows = 'skip',
  maxTokens?: number,
): EstimateQuestion {
  const profiler = new CorpusProfiler((text) => text.length)
  for (const text of texts) profiler.add({ text })
  const { rows, columns, sample, isWhole } = profiler.result({ kind: 'jsonl' }, () => ({
    text: undefined,
    id: undefined,
  }))
  const [column] = columns
  assert.ok(column)
  const counted = sample.flatMap(([text = '']) =>
    text === '' ? [] : [{ bytes: text.length, tokens: tokensIn(text) }],
  )
  return { rows, column, sample: counted, isWhole, badRows, maxTokens, isOwnTokenizer: true }
}

test('a small corpus is counted exactly: what is skipped, cut and left', () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'x'), maxLength: 60 })
  fc.assert(
    fc.property(
      fc.array(text, { minLength: 1, maxLength: 40 }),
      fc.integer({ min: 1, max: 20 }),
      (texts, most) => {
        const filled = texts.filter((one) => one !== '')
        const long = filled.filter((one) => tokensIn(one) > most)
        const kept = filled.filter((one) => tokensIn(one) <= most)
        const sum = kept.reduce((total, one) => total + tokensIn(one), 0)
        const skipped = estimateCorpus(questionOf(texts, 'skip', most))
        assert.deepEqual([skipped.empty, skipped.tooLong], [texts.length - filled.length, long.length])
        assert.deepEqual([skipped.lines, skipped.tokens, skipped.basis], [kept.length, sum, 'counted'])
        const cut = estimateCorpus(questionOf(texts, 'truncate', most))
        assert.deepEqual([cut.lines, cut.tokens], [filled.length, sum + long.length * most])
      },
    ),
  )
})

test('a large corpus is within its own error bounds, and says that it was sampled', () => {
  const texts = Array.from({ length: 20_000 }, (_, row) => 'ax'.repeat(1 + ((row * 7919) % 400)))
  const actual = texts.reduce((sum, text) => sum + tokensIn(text), 0)
  const { tokens, low, high, basis, lines } = estimateCorpus(questionOf(texts))
  assert.deepEqual([basis, lines], ['sampled', 20_000])
  assert.ok(low <= actual && actual <= high, `${low} ${actual} ${high}`)
  assert.ok(Math.abs(tokens - actual) / actual < 0.02)
})

test('too long texts of a large corpus are estimated by their lengths', () => {
  const texts = Array.from({ length: 10_000 }, (_, row) => 'a'.repeat(row % 100 === 0 ? 4000 : 100))
  const { tooLong = 0, lines } = estimateCorpus(questionOf(texts, 'skip', 500))
  assert.deepEqual([tooLong, lines], [100, 9900])
  assert.equal(estimateCorpus(questionOf(texts, 'skip', 4000)).tooLong, 0)
})

test('without the tokenizer of the model, nothing is called counted, and only the upstream knows what is too long', () => {
  const { basis, tooLong, low, high, tokens } = estimateCorpus({
    ...questionOf(['a text', 'another']),
    isOwnTokenizer: false,
  })
  assert.deepEqual([basis, tooLong], ['estimated', undefined])
  assert.ok(low <= tokens && tokens < high)
})

test('a column without a text has no lines and no tokens', () => {
  const { lines, tokens, low, high } = estimateCorpus(questionOf(['', '']))
  assert.deepEqual([lines, tokens, low, high], [0, 0, 0, 0])
})
