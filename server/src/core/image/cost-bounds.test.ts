/** Property tests: whatever is asked, given, counted and priced. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { runs } from '#test/support/arbitraries.ts'
import {
  FREE,
  SQUARE,
  UNKNOWN_SIZE,
  UNPRICED,
  UNREPORTED,
  WIDE,
  aFile,
  anAddress,
  answered,
  given,
  outputTokens,
  countsOf,
  type Given,
} from '#test/support/image-costs.ts'
import type { PixelSize } from '../catalog/catalog.ts'
import { addCosts, costText, type Cost, type ImagePrice } from '../money/price.ts'
import { type AnsweredCall } from './cost.ts'
import { boundsOf, maxCallCost, maxRequestCost } from './expected-cost.ts'

const amount = fc.bigInt({ min: 0n, max: 100_000_000_000n })
const qualityRow = (value: fc.Arbitrary<bigint>) =>
  fc.record({ low: value, medium: value, high: value, default: value }, { requiredKeys: ['default'] })
const anyGivenPrice = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constantFrom('perImage', 'perMegapixel'), nanoUsd: amount }) },
  { weight: 1, arbitrary: fc.constantFrom(FREE, UNPRICED) },
)
const sizeTable = fc.record({ '1024x1024': qualityRow(amount), default: qualityRow(amount) })
const anyPrice: fc.Arbitrary<ImagePrice> = fc.oneof(
  fc.tuple(sizeTable, anyGivenPrice).map(([table, given]): ImagePrice => ({
    kind: 'perImage',
    nanoUsd: new Map(Object.entries(table).map(([size, row]) => [size, new Map(Object.entries(row))])),
    given,
  })),
  fc.tuple(amount, anyGivenPrice).map(([nanoUsdPerMegapixel, given]): ImagePrice => ({
    kind: 'perMegapixel',
    nanoUsdPerMegapixel,
    given,
  })),
  fc.tuple(amount, amount, amount, amount).map(([textInput, imageInput, imageOutput, cut]): ImagePrice => ({
    kind: 'perTokenKind',
    nanoUsdPerMillionTokens: {
      textInput,
      cachedTextInput: textInput > cut ? textInput - cut : textInput,
      imageInput,
      cachedImageInput: imageInput > cut ? imageInput - cut : imageInput,
      textOutput: undefined,
      imageOutput,
    },
  })),
  fc.constantFrom<ImagePrice>({ kind: 'free' }, { kind: 'unpriced' }),
)
const anyFile = fc
  .record({ width: fc.integer({ min: 1, max: 16_384 }), height: fc.integer({ min: 1, max: 16_384 }) })
  .map(aFile)
const anyOverlay = fc.option(anyFile, { nil: undefined })
const anyEdit = fc.record({
  pictures: fc.array(
    fc.oneof({ weight: 9, arbitrary: anyFile }, { weight: 1, arbitrary: fc.constant(anAddress) }),
    {
      minLength: 1,
      maxLength: 16,
    },
  ),
  mask: anyOverlay,
  markup: anyOverlay,
  fidelity: fc.constant(undefined),
})
const anyAsked = fc
  .record({
    edit: fc.option(anyEdit, { nil: undefined, freq: 2 }),
    images: fc.integer({ min: 1, max: 10 }),
    prompt: fc.string(),
    size: fc.constantFrom(undefined, SQUARE, WIDE),
    quality: fc.constantFrom(undefined, 'low', 'high'),
    partialImages: fc.nat(3),
  })
  // Only a single call has previews.
  .map((asked) => (asked.images > 4 ? { ...asked, partialImages: 0 } : { ...asked, stream: true }))
const drawn = fc.record({
  size: fc.nat(3),
  quality: fc.nat(3),
  missing: fc.nat(2),
  tokens: fc.array(fc.option(fc.nat(1000), { nil: undefined }), { minLength: 5, maxLength: 5 }),
  /** Its upstream reports all input in one sum. */
  isOneSum: fc.boolean(),
})

const RUNS = runs(3000).numRuns

test('no call costs more than was reserved for it, nor all calls together more than for the request', () => {
  let compared = 0
  let editsCompared = 0
  fc.assert(
    fc.property(
      anyPrice,
      anyAsked,
      fc.array(drawn, { minLength: 3, maxLength: 3 }),
      (price, asked, draws) => {
        const base = given(price, asked, { table: outputTokens, inputImageTokens: 1500 })
        const { request, model, offer } = base
        const costs = offer.perCall.map((images, index): Cost => {
          const { cost } = answered(base, answerWithin(base, images, draws[index % draws.length] as Drawn))
          const most = maxCallCost(request, model, offer, images)
          assertWithin(cost, most)
          return cost
        })
        const most = maxRequestCost(request, model, offer)
        assertWithin(costs.reduce(addCosts), most)
        if (most.kind === 'unpriced' || most.nanoUsd === 0n) return
        compared += 1
        if (request.edit !== undefined) editsCompared += 1
      },
    ),
    { numRuns: RUNS },
  )
  assert.ok(compared > RUNS / 4, `only ${compared} had a price`)
  assert.ok(editsCompared > RUNS / 10, `only ${editsCompared} were edits`)
})

test('whatever an upstream counts and whatever its pictures say of themselves, the cost fits into the ledger', () => {
  const count = fc.option(fc.oneof(fc.nat(5000), fc.maxSafeNat()), { nil: undefined })
  const edge = fc.oneof(fc.nat(2048), fc.nat(2 ** 31 - 1))
  const pictures = fc.array(fc.record({ width: edge, height: edge }), { minLength: 1, maxLength: 10 })
  const tokens = fc.record({
    textInput: count,
    cachedTextInput: count,
    imageInput: count,
    cachedImageInput: count,
    textOutput: fc.constant(undefined),
    imageOutput: count,
  })
  let cut = 0
  fc.assert(
    fc.property(
      anyPrice,
      anyAsked,
      pictures,
      tokens,
      fc.boolean(),
      (price, asked, pictures, tokens, knows) => {
        const facts = knows ? { table: outputTokens, inputImageTokens: 1500 } : {}
        const base = given(price, asked, facts)
        const paid = answered(base, { pictures, tokens })
        const { cost, source, reported, charged, excessTokens, cutTokens } = paid
        if (cost.kind === 'known') assert.ok(cost.nanoUsd < 2n ** 63n, costText(cost))
        const kinds = Object.keys(tokens) as (keyof typeof tokens)[]
        const uncharged = kinds.reduce((sum, kind) => sum + (tokens[kind] ?? 0) - (charged[kind] ?? 0), 0)
        // Sums of such counts are not exact.
        assert.equal(cutTokens > 0, uncharged > 0)
        assert.ok(cutTokens <= excessTokens)
        for (const kind of kinds) assert.equal(reported[kind], tokens[kind])
        if (cutTokens > 0) assert.equal(source, 'estimated')
        cut += cutTokens > 0 ? 1 : 0
        if (!knows) return
        const previews = 100 * (base.offer.partialImages ?? 0)
        const images = Math.max(pictures.length, asked.images)
        assert.ok((charged.imageOutput ?? 0) <= 4 * images * (6240 + previews))
        assert.ok((charged.textInput ?? 0) <= 4 * (3 * asked.prompt.length + 256 + 18 * 1500))
      },
    ),
    { numRuns: RUNS },
  )
  assert.ok(cut > RUNS / 10, `only ${cut} were cut`)
})

test('an edit whose input was reported in one sum costs no less than the same reported by kinds', () => {
  const all = fc.nat(1000)
  fc.assert(
    fc.property(anyPrice, anyEdit, fc.tuple(all, all, all, all), (price, edit, parts) => {
      const base = given(price, { edit }, { table: outputTokens, inputImageTokens: 1500 })
      const { tokens } = boundsOf(base.request, base.model, base.offer, 1)
      const [text, image, cachedText, cachedImage] = parts.map((part, index) =>
        Math.floor((part * (index % 2 === 0 ? tokens.textInput : tokens.imageInput)) / 1000),
      ) as [number, number, number, number]
      const byKinds = { ...countsOf(text, 272), imageInput: image }
      const remembered = {
        cachedTextInput: Math.min(cachedText, text),
        cachedImageInput: Math.min(cachedImage, image),
      }
      const oneSum = {
        ...countsOf(text + image, 272),
        cachedTextInput: remembered.cachedTextInput + remembered.cachedImageInput,
      }
      const { cost } = answered(base, { tokens: { ...byKinds, ...remembered } })
      assertWithin(cost, answered(base, { tokens: oneSum }).cost)
    }),
    { numRuns: RUNS },
  )
})

type Drawn = typeof drawn extends fc.Arbitrary<infer T> ? T : never

function answerWithin(
  { request, model, offer }: Given,
  images: number,
  { size, quality, missing, tokens: [text, cached, output, image, cachedImage], isOneSum }: Drawn,
): Partial<AnsweredCall> {
  const bounds = boundsOf(request, model, offer, images)
  const sizes: readonly PixelSize[] = [...bounds.sizes, UNKNOWN_SIZE]
  const share = (part: number | undefined, most: number) =>
    part === undefined ? undefined : Math.floor((part * most) / 1000)
  const { textInput, imageInput, imageOutput } = bounds.tokens
  const input = isOneSum
    ? {
        textInput: share(text, textInput + imageInput),
        cachedTextInput: share(cached, textInput + imageInput),
      }
    : {
        textInput: share(text, textInput),
        cachedTextInput: share(cached, textInput),
        imageInput: share(image, imageInput),
        cachedImageInput: share(cachedImage, imageInput),
      }
  return {
    pictures: Array.from(
      { length: Math.max(1, images - missing) },
      (_, index) => sizes[(size + index) % sizes.length] as PixelSize,
    ),
    echoes: { quality: [...bounds.qualities, 'nobody knows it'][quality % (bounds.qualities.length + 1)] },
    tokens: { ...UNREPORTED, ...input, imageOutput: share(output, imageOutput) },
  }
}

function assertWithin(cost: Cost, most: Cost): void {
  if (most.kind === 'unpriced') return
  assert.ok(cost.kind === 'known', 'what was reserved for has a price')
  assert.ok(cost.nanoUsd <= most.nanoUsd, `${costText(cost)} is more than ${costText(most)}`)
}
