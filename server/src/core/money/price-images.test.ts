import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { MANY_RUNS } from '#test/support/arbitraries.ts'
import {
  addCosts,
  costText,
  givenCostOf,
  imageCostOf,
  maxImageCostOf,
  type Cost,
  type GivenPrice,
  type ImagePrice,
  type ImageTokenPrices,
} from './price.ts'
import {
  NOTHING_GIVEN,
  UNKNOWN_TOKENS,
  type GivenUsage,
  type ImageBounds,
  type ImageTokens,
  type ImageUsage,
} from './usage.ts'

const KINDS = ['textInput', 'imageInput', 'textOutput', 'imageOutput'] as const
const byKind = <Value>(valueOf: (kind: keyof ImageTokens) => Value) =>
  Object.fromEntries(KINDS.map((kind) => [kind, valueOf(kind)])) as Record<keyof ImageTokens, Value>
const NO_TOKENS: ImageTokens = byKind(() => 0)
const tokens = (counts: Partial<ImageUsage['tokens']>) => ({ tokens: { ...UNKNOWN_TOKENS, ...counts } })
const SQUARE: ImageUsage = {
  images: 1,
  width: 1024,
  height: 1024,
  quality: undefined,
  given: NOTHING_GIVEN,
  ...tokens({}),
}

/** Nano-dollars per million, like gpt-image-2 at the end of 2026. */
const tokenPrices: ImageTokenPrices = {
  textInput: 5_000_000_000n,
  cachedTextInput: 1_250_000_000n,
  imageInput: 8_000_000_000n,
  cachedImageInput: 2_000_000_000n,
  textOutput: undefined,
  imageOutput: 30_000_000_000n,
}
const perTokenKind: ImagePrice = { kind: 'perTokenKind', nanoUsdPerMillionTokens: tokenPrices }

const FREE: GivenPrice = { kind: 'free' }
const UNPRICED: GivenPrice = { kind: 'unpriced' }
const sizes: readonly [string, ReadonlyMap<string, bigint>][] = [
  ['1024x1024', new Map(Object.entries({ standard: 40_000_000n, hd: 80_000_000n }))],
  ['1792x1024', new Map([['default', 120_000_000n]])],
]
const anySize = new Map(Object.entries({ low: 10_000_000n, default: 200_000_000n }))
const table = { kind: 'perImage', given: FREE, nanoUsd: new Map(sizes) } satisfies ImagePrice
const tableWithDefault: ImagePrice = { ...table, nanoUsd: new Map([...sizes, ['default', anySize]]) }

const TWO_GIVEN: GivenUsage = { images: 2, pixels: 3_500_000n }
/** Two addresses, or a file and an address. */
const UNMEASURED: GivenUsage = { images: 2, pixels: undefined }
const perGivenImage: GivenPrice = { kind: 'perImage', nanoUsd: 2_000_000n }
const perGivenMegapixel: GivenPrice = { kind: 'perMegapixel', nanoUsd: 15_000_000n }
const area = {
  kind: 'perMegapixel',
  nanoUsdPerMegapixel: 25_000_000n,
  given: FREE,
} satisfies ImagePrice
const areaAnd = (given: GivenPrice): ImagePrice => ({ ...area, given })
const tableAnd = (given: GivenPrice): ImagePrice => ({ ...table, given })
const severalKinds = tokens({ textInput: 100, cachedTextInput: 40, imageInput: 1000, imageOutput: 4160 })

function known(cost: Cost): bigint {
  assert.ok(cost.kind === 'known')
  return cost.nanoUsd
}

type Case = readonly [cost: string, what: string, price: ImagePrice, usage: Partial<ImageUsage>]
const cases: readonly Case[] = [
  ['0.240000000', 'a named size and quality', table, { quality: 'hd', images: 3 }],
  ['0.120000000', 'a size of one price, whatever the quality', table, { width: 1792, quality: 'hd' }],
  ['unpriced', 'a quality the size lacks', table, { quality: 'ultra' }],
  ['unpriced', 'no quality where it matters', table, { quality: undefined }],
  ['unpriced', 'a size the table lacks', table, { width: 512, height: 512, quality: 'hd' }],
  ['unpriced', 'the same size on its side', table, { width: 1024, height: 1792 }],
  ['0.200000000', 'a quality the size lacks, with a default', tableWithDefault, { quality: 'ultra' }],
  ['0.010000000', 'a quality only the default has', tableWithDefault, { quality: 'low' }],
  ['0.200000000', 'a size the table lacks, with a default', tableWithDefault, { width: 512, quality: 'hd' }],
  ['0.052428800', 'pixels', area, { images: 2 }],
  ['0.000000001', 'a single pixel', { ...area, nanoUsdPerMegapixel: 1n }, { width: 1, height: 1 }],
  ['0.000000000', 'nothing, in words', { kind: 'free' }, { images: 9 }],
  ['unpriced', 'what has no known price', { kind: 'unpriced' }, { images: 0 }],
  ['0.133150000', 'tokens of several kinds', perTokenKind, severalKinds],
  [
    '0.000125000',
    'more cached tokens than there were',
    perTokenKind,
    tokens({ textInput: 100, cachedTextInput: 1000 }),
  ],
  ['unpriced', 'tokens of a kind that has no price', perTokenKind, tokens({ textInput: 100, textOutput: 1 })],
  ['0.026214400', 'given pictures that cost nothing more', area, { given: UNMEASURED }],
  [
    '0.244000000',
    'given pictures, each by itself',
    tableAnd(perGivenImage),
    { quality: 'hd', images: 3, given: UNMEASURED },
  ],
  [
    '0.132500000',
    'given pixels beside a table',
    tableAnd(perGivenMegapixel),
    { quality: 'hd', given: TWO_GIVEN },
  ],
  ['0.104928800', 'pixels in and out', areaAnd(perGivenMegapixel), { images: 2, given: TWO_GIVEN }],
  ['0.030214400', 'given pictures beside made pixels', areaAnd(perGivenImage), { given: TWO_GIVEN }],
  ['unpriced', 'given pixels that were not counted', areaAnd(perGivenMegapixel), { given: UNMEASURED }],
  ['unpriced', 'given pictures whose price is not known', areaAnd(UNPRICED), { given: TWO_GIVEN }],
  ['0.026214400', 'nothing given, where its price is not known', areaAnd(UNPRICED), {}],
  ['0.000000000', 'given pictures of a model that is free', { kind: 'free' }, { given: UNMEASURED }],
  [
    '0.008000000',
    'given pictures, which are tokens already',
    perTokenKind,
    { given: UNMEASURED, ...tokens({ imageInput: 1000 }) },
  ],
]
for (const [cost, what, price, usage] of cases)
  test(`${what} cost ${cost}`, () => {
    assert.equal(costText(imageCostOf(price, { ...SQUARE, ...usage }, NO_TOKENS)), cost)
  })

test('what the upstream did not count is charged by the estimate, never as zero', () => {
  const estimate = { ...NO_TOKENS, textInput: 100, imageOutput: 4160 }
  assert.equal(costText(imageCostOf(perTokenKind, SQUARE, estimate)), '0.125300000')
  const reported = { ...SQUARE, ...tokens({ imageOutput: 272 }) }
  assert.equal(costText(imageCostOf(perTokenKind, reported, estimate)), '0.008660000')
  assert.equal(costText(imageCostOf(perTokenKind, SQUARE, { ...NO_TOKENS, textOutput: 1 })), 'unpriced')
})

test('what was made and what was given are rounded up once, together', () => {
  const given: GivenPrice = { kind: 'perMegapixel', nanoUsd: 300_000n }
  const price: ImagePrice = { kind: 'perMegapixel', nanoUsdPerMegapixel: 400_000n, given }
  const usage = { ...SQUARE, width: 1, height: 1, given: { images: 1, pixels: 2n } }
  assert.equal(costText(imageCostOf(price, usage, NO_TOKENS)), '0.000000001')
  assert.equal(costText(givenCostOf(given, usage.given)), '0.000000001')
})

test('an open choice is reserved at its dearest, and is unpriced if one of its outcomes is', () => {
  const bounds: ImageBounds = {
    images: 2,
    sizes: [{ width: 1024, height: 1024 }],
    qualities: ['standard', 'hd'],
    given: NOTHING_GIVEN,
    tokens: NO_TOKENS,
    rows: 2,
  }
  assert.equal(costText(maxImageCostOf(table, bounds)), '0.160000000')
  assert.equal(costText(maxImageCostOf(table, { ...bounds, qualities: ['hd', 'ultra'] })), 'unpriced')
  assert.equal(costText(maxImageCostOf({ kind: 'free' }, bounds)), '0.000000000')
  assert.throws(() => maxImageCostOf(table, { ...bounds, sizes: [] }), TypeError)
})

const SIZES = [
  [1, 1],
  [1024, 1024],
  [1536, 1024],
  [16_384, 3051],
] as const
const QUALITIES = ['low', 'high', undefined] as const

const amount = fc.oneof(fc.bigInt({ min: 0n, max: 999n }), fc.bigInt({ min: 0n, max: 100_000_000_000_000n }))
const maybeAmount = fc.option(amount, { nil: undefined })
const row = fc.uniqueArray(fc.tuple(fc.constantFrom('low', 'high', 'default'), amount), {
  selector: ([quality]) => quality,
})
const anyGivenPrice: fc.Arbitrary<GivenPrice> = fc.oneof(
  fc.record({ kind: fc.constantFrom('perImage', 'perMegapixel'), nanoUsd: amount }),
  fc.constantFrom<GivenPrice>({ kind: 'free' }, { kind: 'unpriced' }),
)
const rowsBySize = fc.uniqueArray(
  fc.tuple(fc.constantFrom('1x1', '1024x1024', '1536x1024', 'default'), row),
  { selector: ([size]) => size },
)
const anyTable = fc.tuple(rowsBySize, anyGivenPrice).map(([rows, given]): ImagePrice => ({
  kind: 'perImage',
  nanoUsd: new Map(rows.map(([size, row]) => [size, new Map(row)])),
  given,
}))
const perMegapixel = fc.tuple(amount, anyGivenPrice).map(([nanoUsdPerMegapixel, given]): ImagePrice => ({
  kind: 'perMegapixel',
  nanoUsdPerMegapixel,
  given,
}))
const perKind = fc
  .record({
    textInput: amount,
    imageInput: maybeAmount,
    textOutput: maybeAmount,
    imageOutput: amount,
    cut: amount,
  })
  .map(({ cut, ...prices }): ImagePrice => {
    const reduced = (full: bigint) => (full > cut ? full - cut : full)
    return {
      kind: 'perTokenKind',
      nanoUsdPerMillionTokens: {
        ...prices,
        cachedTextInput: reduced(prices.textInput),
        cachedImageInput: prices.imageInput === undefined ? undefined : reduced(prices.imageInput),
      },
    }
  })
const anyPrice = fc.oneof(
  anyTable,
  perMegapixel,
  perKind,
  fc.constantFrom<ImagePrice>({ kind: 'free' }, { kind: 'unpriced' }),
)

const count = fc.oneof(fc.nat(3), fc.nat(1_000_000))
const estimate = fc.record(byKind(() => count))
const maybeCount = fc.option(count, { nil: undefined })
const anyGiven = fc.record({
  images: fc.nat(16),
  pixels: fc.option(fc.bigInt({ min: 0n, max: 10n ** 19n }), { nil: undefined, freq: 10 }),
})
const usage = fc
  .record({
    images: fc.nat(10),
    given: anyGiven,
    size: fc.constantFrom(...SIZES),
    quality: fc.constantFrom(...QUALITIES),
    tokens: fc.record({
      ...byKind(() => maybeCount),
      cachedTextInput: maybeCount,
      cachedImageInput: maybeCount,
    }),
  })
  .map(({ size: [width, height], ...rest }): ImageUsage => ({ ...rest, width, height }))

test('no request costs more than was reserved for it, in however many rows it is charged', () => {
  const rows = fc.array(fc.record({ usage, estimate }), { minLength: 1, maxLength: 4 })
  let compared = 0
  fc.assert(
    fc.property(anyPrice, rows, (price, rows) => {
      const most = (kind: keyof ImageTokens) =>
        rows.reduce((sum, { usage, estimate }) => sum + Math.max(usage.tokens[kind] ?? 0, estimate[kind]), 0)
      const max = maxImageCostOf(price, {
        images: rows.reduce((sum, { usage }) => sum + usage.images, 0),
        sizes: rows.map(({ usage }) => usage),
        qualities: rows.map(({ usage }) => usage.quality),
        given: rows.map(({ usage }) => usage.given).reduce(addGiven),
        tokens: byKind(most),
        rows: rows.length,
      })
      if (max.kind === 'unpriced') return
      compared += 1
      const cost = rows.map(({ usage, estimate }) => imageCostOf(price, usage, estimate)).reduce(addCosts)
      assert.ok(known(cost) <= max.nanoUsd)
    }),
    MANY_RUNS,
  )
  assert.ok(compared > MANY_RUNS.numRuns / 4, `only ${compared} had a price`)
})

function addGiven(a: GivenUsage, b: GivenUsage): GivenUsage {
  const isMeasured = a.pixels !== undefined && b.pixels !== undefined
  return { images: a.images + b.images, pixels: isMeasured ? a.pixels + b.pixels : undefined }
}

test('a cost is the exact sum, rounded up once to the next nano-dollar, however large the numbers', () => {
  const huge = fc.maxSafeNat()
  const counts = fc.record(byKind(() => huge))
  fc.assert(
    fc.property(fc.oneof(perMegapixel, perKind), counts, huge, anyGiven, (price, counts, images, given) => {
      // Primes: products with powers of two would be exact in floating point, too.
      const size = { width: 1021, height: 1019 }
      const usage = { ...SQUARE, ...size, images, given, ...tokens(counts) }
      const cost = imageCostOf(price, usage, NO_TOKENS)
      const exact = exactCost(price, counts, usage)
      if (exact === undefined) return assert.equal(cost.kind, 'unpriced')
      const charged = known(cost) * 1_000_000n
      assert.ok(charged >= exact && charged < exact + 1_000_000n)
    }),
    MANY_RUNS,
  )
})

/** In millionths of a nano-dollar. */
function exactCost(
  price: ImagePrice,
  tokens: ImageTokens,
  { images, given }: ImageUsage,
): bigint | undefined {
  if (price.kind === 'perMegapixel') {
    const made = BigInt(images) * 1021n * 1019n * price.nanoUsdPerMegapixel
    if (given.images === 0 || price.given.kind === 'free') return made
    if (price.given.kind === 'unpriced') return undefined
    if (price.given.kind === 'perImage') return made + BigInt(given.images) * 1_000_000n * price.given.nanoUsd
    return given.pixels === undefined ? undefined : made + given.pixels * price.given.nanoUsd
  }
  assert.ok(price.kind === 'perTokenKind')
  const products = KINDS.map((kind) => [tokens[kind], price.nanoUsdPerMillionTokens[kind]] as const)
  if (products.some(([count, nanoUsd]) => count > 0 && nanoUsd === undefined)) return undefined
  return products.reduce((sum, [count, nanoUsd = 0n]) => sum + BigInt(count) * nanoUsd, 0n)
}

test('parts of a bill sum to no less than the whole, and exceed it by less than a nano-dollar each', () => {
  const parts = fc.array(fc.record({ images: fc.nat(10), tokens: estimate }), { minLength: 1, maxLength: 8 })
  fc.assert(
    fc.property(anyPrice, parts, fc.constantFrom(...QUALITIES), (price, parts, quality) => {
      const costOfPart = (images: number, tokens: ImageTokens) =>
        imageCostOf(price, { ...SQUARE, quality, images }, tokens)
      const sum = parts.map(({ images, tokens }) => costOfPart(images, tokens)).reduce(addCosts)
      const total = (kind: keyof ImageTokens) => parts.reduce((sum, { tokens }) => sum + tokens[kind], 0)
      const whole = costOfPart(
        parts.reduce((sum, { images }) => sum + images, 0),
        byKind(total),
      )
      assert.equal(sum.kind, whole.kind)
      if (sum.kind === 'unpriced') return
      assert.ok(sum.nanoUsd >= known(whole) && sum.nanoUsd < known(whole) + BigInt(parts.length))
    }),
    MANY_RUNS,
  )
})

test('more of anything never costs less, and more of it cached never costs more', () => {
  const what = fc.constantFrom('images', 'given', ...KINDS)
  const cached = fc.constantFrom('cachedTextInput', 'cachedImageInput')
  fc.assert(
    fc.property(
      anyPrice,
      usage,
      estimate,
      what,
      cached,
      count,
      (price, usage, estimate, what, cached, more) => {
        const cost = imageCostOf(price, usage, estimate)
        const larger = imageCostOf(price, withMore(usage, estimate, what, more), estimate)
        if (larger.kind === 'known') assert.ok(known(cost) <= larger.nanoUsd)
        const tokens = { ...usage.tokens, [cached]: (usage.tokens[cached] ?? 0) + more }
        const cheaper = imageCostOf(price, { ...usage, tokens }, estimate)
        if (cheaper.kind === 'known') assert.ok(known(cost) >= cheaper.nanoUsd)
      },
    ),
    MANY_RUNS,
  )
})

function withMore(
  usage: ImageUsage,
  estimate: ImageTokens,
  what: 'images' | 'given' | keyof ImageTokens,
  more: number,
): ImageUsage {
  if (what === 'images') return { ...usage, images: usage.images + more }
  if (what === 'given') return { ...usage, given: addGiven(usage.given, { images: 1, pixels: BigInt(more) }) }
  return { ...usage, tokens: { ...usage.tokens, [what]: (usage.tokens[what] ?? estimate[what]) + more } }
}

test('an unknown count costs what its estimate costs', () => {
  const kind = fc.constantFrom(...KINDS)
  fc.assert(
    fc.property(anyPrice, usage, estimate, kind, (price, usage, estimate, kind) => {
      const unknown = { ...usage, tokens: { ...usage.tokens, [kind]: undefined } }
      const counted = { ...usage, tokens: { ...usage.tokens, [kind]: estimate[kind] } }
      assert.deepEqual(imageCostOf(price, unknown, estimate), imageCostOf(price, counted, estimate))
    }),
    MANY_RUNS,
  )
})
