import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { MANY_RUNS } from '#test/support/arbitraries.ts'
import { costOf, maxCostOf, type Price } from '../money/price.ts'
import { PART_KINDS, type PartKind, type Part, type Media } from '../content/content.ts'
import {
  chargedUse,
  tokensByKind,
  tokensIn,
  tokensOfContents,
  totalOf,
  usedBy,
  type UseRules,
} from './content-use.ts'

const bytesOf = (text: string): number => new TextEncoder().encode(text).length
const media = (kind: Media['kind'], facts: Partial<Media>): Part => ({
  kind,
  media: { kind, format: 'png', size: 1, sha256: 'aa', async *open() {}, ...facts },
})

const RULES: UseRules = {
  facts: {
    maxInputTokens: 8192,
    mediaTokens: { pixelsPerToken: 560, perAudioSecond: 32, perVideoSecond: 258, perPage: 258 },
  },
  contents: { maxSeconds: 120, maxPages: 6 },
  bytesOf,
}

const CASES: readonly [name: string, part: Part, tokens: number, count: number | undefined][] = [
  ['a text by its bytes', { kind: 'text', text: 'ééé' }, 6, 3],
  ['an image by its pixels', media('image', { width: 560, height: 10 }), 10, 1],
  ['an image of unknown size by the longest input', media('image', {}), 8192, 1],
  ['a huge image by the longest input', media('image', { width: 10_000, height: 10_000 }), 8192, 1],
  ['audio by its seconds, rounded up', media('audio', { seconds: 1.5 }), 48, 2],
  ['audio of unknown length by the longest that is taken', media('audio', {}), 8192, 120],
  ['video by its seconds', media('video', { seconds: 10 }), 2580, 10],
  ['a PDF by its pages', media('file', { pages: 2 }), 516, 2],
  ['a PDF of unknown length by the most pages', media('file', {}), 8192, 6],
  ['an image by address by the longest input', { kind: 'image', address: 'https://a.example' }, 8192, 1],
]

for (const [name, part, tokens, count] of CASES)
  test(`${name} is bounded`, () => {
    assert.deepEqual(usedBy([{ parts: [part] }], RULES, 'most'), { [part.kind]: { tokens, count } })
  })

const parts = fc.array(fc.constantFrom(...CASES.map(([, part]) => part)), { minLength: 1, maxLength: 5 })
const contents = fc.array(
  parts.map((all) => ({ parts: all })),
  { minLength: 1, maxLength: 6 },
)
const rate = fc.record({
  by: fc.constantFrom('tokens' as const, 'count' as const),
  nanoUsdPerMillion: fc.bigInt({ min: 0n, max: 10n ** 12n }),
})
const PRICE = fc
  .record({ text: rate, image: rate, audio: rate, video: rate, file: rate })
  .map((rates): Price => ({ kind: 'perPart', rates }))

test('what is reserved is never below what is charged, however the upstream divides its tokens', () => {
  const counted = fc.record({ share: fc.double({ min: 0, max: 1, noNaN: true }), isDetailed: fc.boolean() })
  fc.assert(
    fc.property(contents, PRICE, counted, (all, price, { share, isDetailed }) => {
      const most = usedBy(all, RULES, 'most')
      const likely = usedBy(all, RULES, 'likely')
      const byKind = Object.fromEntries(
        Object.entries(most).map(([kind, { tokens }]) => [kind, Math.floor(tokens * share)]),
      ) as Partial<Record<PartKind, number>>
      const tokens = Object.values(byKind).reduce((sum, one) => sum + one, 0)
      const usage = isDetailed
        ? ({ kind: 'measured', tokens, byKind } as const)
        : ({ kind: 'estimated', tokens: Math.min(tokens, tokensIn(likely)) } as const)
      const use = chargedUse(usage, likely)
      assert.equal(tokensIn(use), usage.tokens)
      const charged = costOf(price, usage.tokens, use)
      const reserved = maxCostOf(price, { tokens: tokensIn(most), rows: 1, use: most })
      assert.ok(charged.kind === 'known' && reserved.kind === 'known')
      assert.ok(charged.nanoUsd <= reserved.nanoUsd, `${charged.nanoUsd} above ${reserved.nanoUsd}`)
    }),
    MANY_RUNS,
  )
})

test('a kind without a price, and a count that is not known, make a call unpriced, never free', () => {
  const price: Price = { kind: 'perPart', rates: { text: { by: 'tokens', nanoUsdPerMillion: 1n } } }
  assert.deepEqual(costOf(price, 5, { image: { tokens: 5, count: 1 } }), { kind: 'unpriced' })
  const bySecond: Price = { kind: 'perPart', rates: { audio: { by: 'count', nanoUsdPerMillion: 1n } } }
  assert.deepEqual(costOf(bySecond, 5, { audio: { tokens: 5, count: undefined } }), { kind: 'unpriced' })
})

test('an upstream’s own count of each kind is kept; one that does not add up is replaced by our division', () => {
  const likely = { text: { tokens: 10, count: 40 }, image: { tokens: 30, count: 1 } }
  assert.deepEqual(tokensByKind({ kind: 'measured', tokens: 261, byKind: { text: 3, image: 258 } }, likely), {
    text: 3,
    image: 258,
  })
  assert.deepEqual(tokensByKind({ kind: 'measured', tokens: 400, byKind: { text: 3 } }, likely), {
    text: 100,
    image: 300,
  })
  assert.deepEqual(tokensByKind({ kind: 'measured', tokens: 3, byKind: { text: 3 } }, likely), {
    text: 3,
    image: 0,
  })
})

test('the tokens of a call are divided by kind: a text beside an image of unknown size keeps its own', () => {
  const [text, image] = [{ text: { tokens: 2, count: 8 } }, { image: { tokens: 131_072, count: 1 } }]
  const usage = { kind: 'measured', tokens: 260, byKind: { text: 2, image: 258 } } as const
  assert.deepEqual(tokensOfContents(usage, [text, image]), [{ text: 2 }, { image: 258 }])
  assert.deepEqual(tokensOfContents({ kind: 'measured', tokens: 100 }, [text, text]), [
    { text: 50 },
    { text: 50 },
  ])
})

test('what the contents of a call get adds up to its tokens, whatever kinds the upstream names', () => {
  const byKind = fc.dictionary(fc.constantFrom(...PART_KINDS), fc.nat(10_000), { minKeys: 1 })
  fc.assert(
    fc.property(fc.array(contents, { minLength: 1 }), byKind, fc.boolean(), (calls, kinds, isDetailed) => {
      const tokens = totalOf(kinds)
      const likely = calls.map((all) => usedBy(all, RULES, 'likely'))
      const usage = { kind: 'measured', tokens, ...(isDetailed && { byKind: kinds }) } as const
      const each = tokensOfContents(usage, likely)
      assert.equal(
        each.reduce((sum, one) => sum + totalOf(one), 0),
        likely.every((use) => Object.keys(use).length === 0) && !isDetailed ? 0 : tokens,
      )
    }),
    MANY_RUNS,
  )
})
