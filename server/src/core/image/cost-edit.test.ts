import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  SQUARE,
  UNPRICED,
  UNREPORTED,
  WIDE,
  aFile,
  anAddress,
  anEdit,
  answered,
  given,
  outputTokens,
  perGivenImage,
  perGivenMegapixel,
  perImage,
  perMegapixel,
  perToken,
  countsOf,
} from '#test/support/image-costs.ts'
import { costText } from '../money/price.ts'
import { maxCallCost, maxRequestCost } from './expected-cost.ts'

const low = { quality: 'low', edit: anEdit() }
const masked = anEdit({ pictures: [aFile(SQUARE), aFile(WIDE)], mask: aFile(SQUARE) })
const markedUp = anEdit({
  pictures: [aFile({ width: 1, height: 1 })],
  markup: aFile({ width: 1, height: 1 }),
})
const linked = anEdit({ pictures: [aFile(SQUARE), anAddress] })

/** Images of 1024x1024 and low quality, each of which costs 10 nano-dollars by itself and 1049 by its pixels. */
for (const [what, price, edit, most, paid] of [
  ['nothing for what is given', perImage, masked, '0.000000010', 'upstream'],
  ['each given picture', { ...perImage, given: perGivenImage }, anEdit(), '0.000000013', 'upstream'],
  ['a mask like a picture', { ...perImage, given: perGivenImage }, masked, '0.000000019', 'upstream'],
  ['a markup like a picture', { ...perImage, given: perGivenImage }, markedUp, '0.000000016', 'upstream'],
  ['an address like a picture', { ...perImage, given: perGivenImage }, linked, '0.000000016', 'upstream'],
  ['given pixels', { ...perImage, given: perGivenMegapixel }, masked, '0.000007351', 'upstream'],
  ['pixels in and out', { ...perMegapixel, given: perGivenMegapixel }, markedUp, '0.000001049', 'upstream'],
  [
    'given pictures beside pixels',
    { ...perMegapixel, given: perGivenImage },
    masked,
    '0.000001058',
    'upstream',
  ],
  ['the pixels of an address', { ...perImage, given: perGivenMegapixel }, linked, 'unpriced', 'estimated'],
  ['the same beside pixels', { ...perMegapixel, given: perGivenMegapixel }, linked, 'unpriced', 'estimated'],
  ['nobody knows what', { ...perImage, given: UNPRICED }, anEdit(), 'unpriced', 'upstream'],
  ['the same beside pixels made', { ...perMegapixel, given: UNPRICED }, anEdit(), 'unpriced', 'upstream'],
  ['nothing, in words', { kind: 'free' }, linked, '0.000000000', 'upstream'],
] as const) {
  test(`an edit may cost, and costs, ${most} where it pays ${what}`, () => {
    const base = given(price, { size: SQUARE, quality: 'low', edit })
    assert.equal(costText(maxCallCost(base.request, base.model, base.offer, 1)), most)
    const { cost, source } = answered(base)
    assert.deepEqual([costText(cost), source], [most, paid])
  })
}

test('where the price of given pictures is not known, pictures made from text alone have theirs', () => {
  const { request, model, offer } = given({ ...perImage, given: UNPRICED }, { size: SQUARE, quality: 'low' })
  assert.equal(costText(maxRequestCost(request, model, offer)), '0.000000010')
})

test('each call of an edit is given all pictures again, and pays for them again', () => {
  const price = { ...perImage, given: perGivenImage }
  const { request, model, offer } = given(price, { ...low, size: SQUARE, images: 10, edit: masked })
  assert.deepEqual(offer.perCall, [4, 4, 2])
  // Ten images of 10, three calls with three given ones of 3.
  assert.equal(costText(maxRequestCost(request, model, offer)), '0.000000127')
})

test('given pictures are paid for once a call, however many come of it, and however few', () => {
  for (const [pictures, cost] of [
    [[SQUARE], '0.000000013'],
    [[SQUARE, SQUARE, SQUARE], '0.000000033'],
  ] as const) {
    const base = given({ ...perImage, given: perGivenImage }, { ...low, images: 4 })
    assert.equal(costText(answered(base, { pictures }).cost), cost)
  }
})

/** Five bytes of prompt, and an image of at most 300 tokens. */
const byTokens = {
  ...perToken.nanoUsdPerMillionTokens,
  imageInput: 10_000_000_000n,
  cachedImageInput: 10_000_000_000n,
}
const editByTokens = given(
  { kind: 'perTokenKind', nanoUsdPerMillionTokens: byTokens },
  { size: SQUARE, quality: 'low', edit: anEdit() },
  { table: outputTokens, inputImageTokens: 300 },
)

test('an edit by tokens is reserved with the most that its pictures count', () => {
  const { request, model, offer } = editByTokens
  // 5 × 5 + 300 × 10 + 272 × 40, in thousands of nano-dollars.
  assert.equal(costText(maxCallCost(request, model, offer, 1)), '0.013905000')
})

for (const [what, tokens, expected] of [
  ['by kinds', { ...countsOf(5, 272), imageInput: 200 }, ['0.012905000', 'upstream', 477]],
  ['by kinds, and the text alone', countsOf(3, 272), ['0.013895000', 'estimated', 575]],
  // It may be one sum of both kinds, reported as if it were text.
  ['in one sum', countsOf(205, 272), ['0.013905000', 'estimated', 577]],
  [
    'in one sum with some remembered',
    { ...countsOf(205, 272), cachedTextInput: 200 },
    ['0.013905000', 'estimated', 577],
  ],
  ['in one sum of more than was to be expected', countsOf(405, 272), ['0.014905000', 'estimated', 677]],
  ['not at all', { ...UNREPORTED, imageOutput: 272 }, ['0.013905000', 'estimated', 577]],
] as const) {
  test(`an edit whose input was counted ${what} is never charged less than it may have cost`, () => {
    const { cost, source, tokens: count } = answered(editByTokens, { tokens })
    assert.deepEqual([costText(cost), source, count], expected)
  })
}

test('an edit with uncounted pictures has no price where their tokens are unknown', () => {
  const base = given(
    { kind: 'perTokenKind', nanoUsdPerMillionTokens: byTokens },
    { quality: 'low', edit: anEdit() },
    { table: outputTokens },
  )
  const { cost, source, tokens } = answered(base, { tokens: countsOf(205, 272) })
  assert.deepEqual([costText(cost), source, tokens], ['unpriced', 'estimated', undefined])
  const counted = answered(base, { tokens: { ...countsOf(5, 272), imageInput: 200 } })
  assert.deepEqual([costText(counted.cost), counted.source], ['0.012905000', 'upstream'])
})
