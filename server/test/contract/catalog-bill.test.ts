/** A bill at another price, from the rows of the ledger, is the sum of what each call would have cost. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { ledgerRateOf } from '#control/catalog/bill-rules.ts'
import { billsOf } from '#control/catalog/queries.ts'
import type { LedgerEntry } from '#core/money/ledger.ts'
import { costOf, decimalOf, imageCostOf, type ImagePrice, type Price } from '#core/money/price.ts'
import { NOTHING_GIVEN, UNKNOWN_TOKENS } from '#core/money/usage.ts'
import { dividedEntry } from '#request/money/label-shares.ts'
import { runs } from '#test/support/arbitraries.ts'
import { DAY_MS, postgresStores } from '#test/support/ledger-stores.ts'

const open = postgresStores()

interface RandomCall {
  readonly daysAgo: number
  readonly tokens: number
  readonly images: number
  readonly outcome: 'paid' | 'late' | 'divided' | 'void' | 'open' | 'uncounted' | 'metered' | 'hit'
}

const someCall = fc.record<RandomCall>({
  daysAgo: fc.integer({ min: 0, max: 34 }),
  tokens: fc.integer({ min: 1, max: 300_000 }),
  images: fc.integer({ min: 1, max: 4 }),
  outcome: fc.constantFrom('paid', 'late', 'divided', 'void', 'open', 'uncounted', 'metered', 'hit'),
})

/** Prices that do and do not divide into whole nano-dollars per token. */
const somePrice = fc
  .bigInt({ min: 1n, max: 500_000_000n })
  .map((nanoUsdPerMillionTokens): Price => ({ kind: 'perToken', nanoUsdPerMillionTokens }))

test('embeddings and images: the bill equals the recomputation of every call, to the nano-dollar', async () => {
  const stores = await open()
  const { database, clock, ledger, nodeId, entry } = stores
  const nowMs = clock.ms
  const image = (nanoUsd: bigint): ImagePrice => ({
    kind: 'perImage',
    nanoUsd: new Map([['default', new Map([['default', nanoUsd]])]]),
    given: { kind: 'free' },
  })
  let round = 0
  await fc.assert(
    fc.asyncProperty(
      fc.array(someCall, { minLength: 1, maxLength: 25 }),
      somePrice,
      somePrice,
      async (calls, before, after) => {
        round += 1
        const [texts, pictures] = [`small/round-${round}`, `image/round-${round}`]
        const pictureNanoUsd = BigInt(round) * 1_234_567n
        const expected = { calls: 0, before: 0n, after: 0n, pictures: 0n, leftOut: 0, leftOutNano: 0n }
        for (const { daysAgo, tokens, outcome } of calls) {
          clock.ms = nowMs - daysAgo * DAY_MS - 1000
          const isCounted = daysAgo < 30
          const amountNanoUsd = nanoUsdOf(costOf(before, tokens))
          const posted = entry({ deployment: texts, tokens, amountNanoUsd })
          await ledger.append(nodeId, rowsOf(posted, outcome))
          if (outcome === 'void' || outcome === 'open' || outcome === 'late') await endLate(posted, outcome)
          if (!isCounted) continue
          if (outcome === 'open' || outcome === 'uncounted') {
            expected.leftOut += 1
            expected.leftOutNano += amountNanoUsd
            continue
          }
          expected.calls += 1
          if (outcome === 'void' || outcome === 'hit') continue
          expected.before += amountNanoUsd
          // What the upstream charged by its own meter does not follow from a price.
          expected.after += outcome === 'metered' ? amountNanoUsd : nanoUsdOf(costOf(after, tokens))
        }
        for (const { daysAgo, images } of calls) {
          clock.ms = nowMs - daysAgo * DAY_MS - 1000
          await ledger.append(nodeId, [
            entry({ deployment: pictures, tokens: undefined, images, amountNanoUsd: 7n }),
          ])
          const used = {
            images,
            width: 512,
            height: 512,
            quality: 'high',
            given: NOTHING_GIVEN,
            tokens: UNKNOWN_TOKENS,
          }
          if (daysAgo < 30)
            expected.pictures += nanoUsdOf(imageCostOf(image(pictureNanoUsd), used, NO_TOKENS))
        }
        clock.ms = nowMs
        const bills = await billsOf(
          database,
          [
            { deployment: texts, ...rateOf(after) },
            { deployment: pictures, ...rateOf(image(pictureNanoUsd)) },
          ],
          { nowMs: () => nowMs, monotonicMs: () => 0 },
        )
        const own = bills.get(texts)
        assert.deepEqual(
          [own?.calls, own?.before_usd, own?.after_usd, own?.left_out_calls, own?.left_out_usd],
          [
            expected.calls,
            decimalOf(expected.before),
            decimalOf(expected.after),
            expected.leftOut,
            decimalOf(expected.leftOutNano),
          ],
        )
        assert.equal(bills.get(pictures)?.after_usd, decimalOf(expected.pictures))
      },
    ),
    runs(15),
  )

  /** The entries that a call of this outcome has at once. */
  function rowsOf(posted: LedgerEntry, outcome: RandomCall['outcome']): readonly LedgerEntry[] {
    switch (outcome) {
      case 'paid':
        return [posted]
      case 'divided': {
        const shares = [
          { user: 'a', weight: 3 },
          { user: 'b', weight: 5 },
          { user: 'c', weight: 1 },
        ]
        let attempt = 0
        return dividedEntry(posted, shares, () => (attempt += 1))
      }
      case 'uncounted':
        return [{ ...posted, tokens: undefined }]
      case 'metered':
        return [{ ...posted, remarks: { costBy: 'upstream' } }]
      case 'hit':
        return [{ ...posted, tokens: 0, amountNanoUsd: 0n, hits: 1 }]
      case 'late':
      case 'void':
      case 'open':
        return [{ ...posted, kind: 'unknown', usage: 'unknown', tokens: undefined }]
    }
  }

  async function endLate(posted: LedgerEntry, outcome: 'void' | 'open' | 'late'): Promise<void> {
    if (outcome === 'open') return
    const ended =
      outcome === 'late' ? posted : { ...posted, kind: 'void' as const, tokens: undefined, amountNanoUsd: 0n }
    await ledger.appendLate(nodeId, [ended])
  }
})

const NO_TOKENS = { textInput: 0, imageInput: 0, textOutput: 0, imageOutput: 0 }

function rateOf(after: Price | ImagePrice) {
  const { rate, problem } = ledgerRateOf({ after, takesContents: false })
  return { rate, problem }
}

function nanoUsdOf(cost: ReturnType<typeof costOf>): bigint {
  assert.equal(cost.kind, 'known')
  return cost.kind === 'known' ? cost.nanoUsd : 0n
}

const table = (sizes: Record<string, Record<string, bigint>>): ImagePrice => ({
  kind: 'perImage',
  nanoUsd: new Map(Object.entries(sizes).map(([size, row]) => [size, new Map(Object.entries(row))])),
  given: { kind: 'free' },
})
const tokenKinds = {
  textInput: 1n,
  cachedTextInput: 1n,
  imageInput: 1n,
  cachedImageInput: 1n,
  textOutput: 1n,
  imageOutput: 1n,
}

const UNDECIDED: readonly (readonly [string, Price | ImagePrice, boolean, RegExp])[] = [
  ['sizes', table({ '512x512': { default: 1n }, default: { default: 2n } }), false, /sizes and qualities/],
  ['sizes without a default', table({ '512x512': { default: 1n } }), false, /sizes and qualities/],
  ['qualities', table({ default: { low: 1n, default: 2n } }), false, /sizes and qualities/],
  [
    'given images',
    { ...table({ default: { default: 1n } }), given: { kind: 'perImage', nanoUsd: 1n } } as ImagePrice,
    false,
    /was given/,
  ],
  [
    'megapixels',
    { kind: 'perMegapixel', nanoUsdPerMegapixel: 1n, given: { kind: 'free' } },
    false,
    /sizes of images/,
  ],
  ['kinds of tokens', { kind: 'perTokenKind', nanoUsdPerMillionTokens: tokenKinds }, false, /one sum/],
  [
    'kinds of parts',
    { kind: 'perPart', rates: { text: { by: 'tokens', nanoUsdPerMillion: 1n } } },
    true,
    /which parts/,
  ],
  [
    'characters',
    { kind: 'perPart', rates: { text: { by: 'count', nanoUsdPerMillion: 1n } } },
    false,
    /characters/,
  ],
  ['no price', { kind: 'unpriced' }, false, /no price/],
]

for (const [what, after, takesContents, problem] of UNDECIDED) {
  test(`a price by ${what}, which the ledger does not decide, has no bill but the reason`, async () => {
    const { rate, problem: said = '' } = ledgerRateOf({ after, takesContents })
    assert.match(said, problem)
    const clock = { nowMs: () => 0, monotonicMs: () => 0 }
    const sql = { query: async () => [] }
    const own = (await billsOf(sql, [{ deployment: 'm/one', rate, problem: said }], clock)).get('m/one')
    assert.deepEqual([own?.after_usd, own?.problem], [null, said])
  })
}
