import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { anyText } from '#test/support/arbitraries.ts'
import {
  SQUARE,
  UNKNOWN_SIZE,
  UNREPORTED,
  WIDE,
  answered,
  given,
  outputTokens,
  perImage,
  perMegapixel,
  perToken,
  countsOf,
} from '#test/support/image-costs.ts'
import type { ImageSizes } from '../catalog/catalog.ts'
import { costText } from '../money/price.ts'
import { boundsOf, maxCallCost, maxRequestCost } from './expected-cost.ts'

test('what is left open is bounded by all that it may become', () => {
  const { request, model, offer } = given(
    perToken,
    { prompt: 'é😀漢a', stream: true, partialImages: 2 },
    { table: outputTokens },
  )
  const bounds = boundsOf(request, model, offer, 3)
  assert.deepEqual(
    bounds.sizes.map(({ width, height }) => `${width}x${height}`),
    ['1024x1024', '1536x1024', '1024x1536'],
  )
  assert.deepEqual(bounds.qualities, ['low', 'medium', 'high'])
  assert.deepEqual(bounds.tokens, {
    textInput: 2 + 4 + 3 + 1,
    imageInput: 0,
    textOutput: 0,
    imageOutput: 3 * (6240 + 2 * 100),
  })
  assert.equal(bounds.images, 3)
})

test('what is asked for is bounded by itself', () => {
  const { request, model, offer } = given(perToken, { size: SQUARE, quality: 'low' }, { table: outputTokens })
  const bounds = boundsOf(request, model, offer, 1)
  assert.deepEqual([bounds.sizes, bounds.qualities, bounds.tokens.imageOutput], [[SQUARE], ['low'], 272])
})

for (const sizes of [
  { kind: 'any', default: WIDE },
  { kind: 'free', default: WIDE, multipleOf: 1, minPixels: 1, maxPixels: 9e9, maxEdge: 9e4, maxRatio: 9 },
] as const satisfies readonly ImageSizes[]) {
  test(`a size left open is the default where sizes are ${sizes.kind}`, () => {
    const { request, model, offer } = given(perImage, {}, { capabilities: { sizes, qualities: [] } })
    const bounds = boundsOf(request, model, offer, 1)
    assert.deepEqual([bounds.sizes, bounds.qualities], [[WIDE], [undefined]])
  })
}

test('the bytes of any text are those of its UTF-8', () => {
  fc.assert(
    fc.property(anyText, (prompt) => {
      const { request, model, offer } = given(perToken, { prompt })
      const { textInput } = boundsOf(request, model, offer, 1).tokens
      assert.equal(textInput, new TextEncoder().encode(prompt).length)
    }),
  )
})

for (const [what, base, expected] of [
  ['an image price, the dearest of sizes and qualities', given(perImage), '0.000000120'],
  ['an image price, what was asked for', given(perImage, { size: SQUARE, quality: 'low' }), '0.000000010'],
  ['a pixel price', given(perMegapixel, { size: SQUARE }), '0.000001049'],
  [
    'a token price',
    given(perToken, { size: SQUARE, quality: 'low' }, { table: outputTokens }),
    '0.010905000',
  ],
  ['a token price of a model whose tokens nobody knows', given(perToken), 'unpriced'],
  [
    'a token price of a size whose tokens nobody knows',
    given(perToken, { size: WIDE, quality: 'low' }, { table: new Map([...outputTokens].slice(0, 1)) }),
    'unpriced',
  ],
  ['no price', given({ kind: 'unpriced' }), 'unpriced'],
  ['nothing', given({ kind: 'free' }), '0.000000000'],
] as const) {
  test(`a call may cost at most, by ${what}: ${expected}`, () => {
    assert.equal(costText(maxCallCost(base.request, base.model, base.offer, 1)), expected)
  })
}

test('each call of a request pays for the prompt again', () => {
  const { request, model, offer } = given(
    perToken,
    { images: 10, size: SQUARE, quality: 'low' },
    { table: outputTokens },
  )
  assert.deepEqual(offer.perCall, [4, 4, 2])
  // Ten images of 272 tokens, three prompts of 5.
  assert.equal(costText(maxRequestCost(request, model, offer)), '0.108875000')
})

for (const [what, base, answer, expected] of [
  [
    'tokens the upstream counted',
    given(perToken),
    { tokens: countsOf(10, 1000) },
    ['0.040050000', 'upstream', 1010],
  ],
  [
    'tokens with some remembered',
    given(perToken),
    { tokens: { ...countsOf(10, 1000), cachedTextInput: 10 } },
    ['0.040012500', 'upstream', 1010],
  ],
  [
    'pictures whose tokens nobody counted',
    given(perToken, { quality: 'low', images: 2 }, { table: outputTokens }),
    { pictures: [SQUARE, WIDE] },
    ['0.027225000', 'estimated', 5 + 272 + 408],
  ],
  [
    'an echoed quality rather than the dearest',
    given(perToken, {}, { table: outputTokens }),
    { echoes: { quality: 'medium' } },
    ['0.042265000', 'estimated', 5 + 1056],
  ],
  [
    'a prompt that nobody counted',
    given(perToken, {}, { table: outputTokens }),
    { tokens: { ...UNREPORTED, imageOutput: 100 } },
    ['0.004025000', 'estimated', 105],
  ],
  [
    'pictures for which the upstream counted no token',
    given(perToken, { quality: 'low' }, { table: outputTokens }),
    { tokens: countsOf(0, 0) },
    ['0.010905000', 'estimated', 5 + 272],
  ],
  [
    'no token, and nobody knows what',
    given(perToken),
    { tokens: countsOf(0, 0) },
    ['unpriced', 'estimated', undefined],
  ],
  ['nobody knows what', given(perToken), {}, ['unpriced', 'estimated', undefined]],
  [
    'pictures of several sizes, each by its own',
    given(perImage, { quality: 'high' }),
    { pictures: [SQUARE, WIDE, SQUARE] },
    ['0.000000280', 'upstream', undefined],
  ],
  [
    'an echoed quality',
    given(perImage),
    { echoes: { quality: 'medium' } },
    ['0.000000020', 'upstream', undefined],
  ],
  ['the dearest quality where none is told', given(perImage), {}, ['0.000000080', 'estimated', undefined]],
  [
    'the quality asked for where the echo is a word nobody knows',
    given(perImage, { quality: 'low' }),
    { echoes: { quality: 'hd' } },
    ['0.000000010', 'upstream', undefined],
  ],
  [
    'the dearest size where the picture does not tell its own',
    given(perImage, { quality: 'low' }),
    { pictures: [UNKNOWN_SIZE] },
    ['0.000000120', 'estimated', undefined],
  ],
  [
    'the size asked for where the picture’s has no price',
    given(perImage, { quality: 'low', size: SQUARE }),
    { pictures: [{ width: 1023, height: 1024 }] },
    ['0.000000010', 'estimated', undefined],
  ],
  [
    'pixels, rounded up once',
    given(perMegapixel),
    {
      pictures: [
        { width: 1, height: 1 },
        { width: 2, height: 3 },
      ],
    },
    ['0.000000001', 'upstream', undefined],
  ],
  [
    'an image price with tokens told',
    given(perImage, { quality: 'low' }),
    { tokens: countsOf(3, 4) },
    ['0.000000010', 'upstream', 7],
  ],
  ['no price', given({ kind: 'unpriced' }), { tokens: countsOf(3, 4) }, ['unpriced', 'upstream', 7]],
  ['nothing', given({ kind: 'free' }), {}, ['0.000000000', 'upstream', undefined]],
] as const) {
  test(`a call is charged by ${what}`, () => {
    const { cost, source, tokens } = answered(base, answer)
    assert.deepEqual([costText(cost), source, tokens], expected)
  })
}

test('a stream costs what the same picture costs in one piece', () => {
  const tokens = countsOf(5, 372)
  const streamed = given(perToken, { stream: true, partialImages: 1 }, { table: outputTokens })
  assert.deepEqual(answered(streamed, { tokens }), answered(given(perToken), { tokens }))
})

test('a total that is repeated in each of several events is charged once; pictures that count the same are added up', () => {
  const base = given(perToken, { size: SQUARE, quality: 'medium' }, { table: outputTokens })
  const pictures = [SQUARE, SQUARE, SQUARE]
  const ask = (each: number) =>
    answered(base, { images: 3, pictures, tokens: countsOf(3 * 4, 3 * each), eachTokens: countsOf(4, each) })
  const once = answered(base, { images: 3, pictures, tokens: countsOf(4, 3 * 1056) })
  assert.deepEqual(ask(3 * 1056), once)
  assert.deepEqual([once.source, once.excessTokens], ['upstream', 0])
  const own = ask(1056)
  assert.deepEqual(own, answered(base, { images: 3, pictures, tokens: countsOf(12, 3 * 1056) }))
  // More than is expected by either reading is said to be.
  assert.ok(ask(9 * 1056).excessTokens > 0)
})

for (const [counted, charged, source] of [
  [1056, 1056, 'upstream'],
  [1057, 1057, 'upstream'],
  [4 * 1056, 4 * 1056, 'upstream'],
  [4 * 1056 + 1, 4 * 1056, 'estimated'],
  [9e15, 4 * 1056, 'estimated'],
] as const) {
  test(`the upstream's meter is charged up to four times what is expected: ${counted} of 1056`, () => {
    const base = given(perToken, { size: SQUARE, quality: 'medium' }, { table: outputTokens })
    const paid = answered(base, { tokens: countsOf(5, counted), pictures: [SQUARE] })
    assert.deepEqual(
      [paid.charged.imageOutput, paid.source, paid.tokens, paid.excessTokens, paid.cutTokens],
      [charged, source, 5 + charged, Math.max(0, counted - 1056), counted - charged],
    )
    assert.equal(paid.reported.imageOutput, counted)
    assert.deepEqual(paid.cost, { kind: 'known', nanoUsd: 25_000n + BigInt(charged) * 40_000n })
  })
}

test('the model that writes an SVG is charged by its own prices, and without them the cost is unknown', () => {
  const tokens = { ...countsOf(5, 272), svgInput: 1000, svgOutput: 2000 }
  const pictures = [UNKNOWN_SIZE]
  const asked = { format: 'svg' }
  const unpriced = answered(given(perToken, asked), { tokens, pictures })
  assert.deepEqual([costText(unpriced.cost), unpriced.tokens], ['unpriced', 3277])
  const prices = { ...perToken.nanoUsdPerMillionTokens, svgInput: 1_000_000_000n, svgOutput: 4_000_000_000n }
  const priced = answered(given({ kind: 'perTokenKind', nanoUsdPerMillionTokens: prices }, asked), {
    tokens,
    pictures,
  })
  const whole = 5n * 5_000n + 272n * 40_000n + 1000n * 1_000n + 2000n * 4_000n
  assert.deepEqual(
    [priced.cost, priced.tokens, priced.source],
    [{ kind: 'known', nanoUsd: whole }, 3277, 'upstream'],
  )
  const perPicture = answered(given(perImage, { ...asked, size: SQUARE, quality: 'low' }), {
    tokens,
    pictures: [SQUARE],
  })
  assert.equal(costText(perPicture.cost), 'unpriced')
  const base = given(perToken, asked, { table: outputTokens })
  assert.deepEqual(maxCallCost(base.request, base.model, base.offer, 1), { kind: 'unpriced' })
})

test('each frame of a GIF is reserved and expected, nine by default', () => {
  const facts = { table: outputTokens }
  const ask = (more: object) => given(perToken, { size: SQUARE, quality: 'low', ...more }, facts)
  const most = (base: ReturnType<typeof ask>) =>
    boundsOf(base.request, base.model, base.offer, 1).tokens.imageOutput
  assert.deepEqual(
    [most(ask({})), most(ask({ format: 'gif' })), most(ask({ format: 'gif', frameCount: 16 }))],
    [272, 9 * 272, 16 * 272],
  )
  const paid = answered(ask({ format: 'gif', frameCount: 16 }), {
    tokens: countsOf(5, 16 * 272),
    pictures: [SQUARE],
  })
  assert.deepEqual([paid.source, paid.excessTokens], ['upstream', 0])
})

for (const [what, price, reported, expected] of [
  ['as expected', perImage, 7n, ['0.000000007', 'upstream', 'upstream', 0n, 0n]],
  [
    'of a call without a price',
    { kind: 'unpriced' },
    45_000_000n,
    ['0.045000000', 'upstream', 'upstream', 0n, 0n],
  ],
  [
    'beyond any image, of a call without a price',
    { kind: 'unpriced' },
    10_000_000_007n,
    ['10.000000000', 'estimated', 'upstream', 7n, 7n],
  ],
  ['of what is declared free', { kind: 'free' }, 45n, ['0.000000000', 'upstream', 'price', 0n, 0n]],
] as const) {
  test(`the cost that an upstream names is charged and marked: ${what}`, () => {
    const paid = answered(given(price, { size: SQUARE, quality: 'low' }), {
      pictures: [SQUARE],
      reportedNanoUsd: reported,
    })
    const { source, costBy, excessNanoUsd, cutNanoUsd } = paid
    assert.deepEqual([costText(paid.cost), source, costBy, excessNanoUsd, cutNanoUsd], expected)
  })
}

test('a cost that an upstream names is charged up to four times the most that the price says', () => {
  const base = given(perImage, { size: SQUARE, quality: 'low' })
  const most = maxCallCost(base.request, base.model, base.offer, 1)
  assert.ok(most.kind === 'known')
  const ask = (reportedNanoUsd: bigint) => answered(base, { pictures: [SQUARE], reportedNanoUsd })
  const { nanoUsd } = most
  assert.deepEqual(ask(4n * nanoUsd).cost, { kind: 'known', nanoUsd: 4n * nanoUsd })
  assert.deepEqual([ask(4n * nanoUsd).excessNanoUsd, ask(4n * nanoUsd).cutNanoUsd], [3n * nanoUsd, 0n])
  assert.deepEqual(ask(4n * nanoUsd + 1n).cost, { kind: 'known', nanoUsd: 4n * nanoUsd })
  assert.deepEqual([ask(4n * nanoUsd + 1n).source, ask(4n * nanoUsd + 1n).cutNanoUsd], ['estimated', 1n])
})
