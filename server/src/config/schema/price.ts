/** Every way to write a price, in torana.yaml and in the built-in facts. */
import { z } from 'zod'
import { INPUT_UNITS } from '#core/money/price-form.ts'
import { nanoUsdOf } from '#core/money/price.ts'

const NO_DOLLARS = 'expected dollars such as 0.02, above zero (else write free), with at most nine decimals'

/** As a number or as text: both are read as decimals, exactly. Nothing is `free`, in words. */
const dollars = [
  z.number().refine(isDollarAmount, NO_DOLLARS),
  z.string().refine(isDollarAmount, NO_DOLLARS),
] as const

/** In a table, one of several amounts may be nothing. */
const amount = [z.literal('free'), ...dollars] as const

const NO_GIVEN_DOLLARS =
  'expected dollars such as 0.02, above zero (else leave it out), with at most nine decimals, or unknown'

/** A missing field means that given images are free, so an unknown price has a word of its own. */
const givenAmount = z.union([
  z.literal('unknown'),
  z.number().refine(isDollarAmount, NO_GIVEN_DOLLARS),
  z.string().refine(isDollarAmount, NO_GIVEN_DOLLARS),
])

const imageSize = z
  .string()
  .regex(
    /^([1-9]\d*x[1-9]\d*|default)$/,
    'expected a size in pixels such as 1024x1024, or default for all that are not named',
  )

const pricesByQuality = z
  .record(z.string(), z.union(amount))
  .refine(isNotEmpty, 'name at least one quality, or default')

const pricesBySize = z
  .record(imageSize, z.union([...amount, pricesByQuality]))
  .refine(isNotEmpty, 'name at least one size, or default')

const pricesByTokenKind = z
  .strictObject({
    textInput: z.union(amount).describe('Images: dollars per million tokens of the prompt, or `free`.'),
    cachedTextInput: z
      .union(amount)
      .optional()
      .describe('Images: the same for cached tokens that the upstream reports. Default: `textInput`.'),
    imageInput: z
      .union(amount)
      .optional()
      .describe(
        'Images: dollars per million tokens of input images. Absent: a call with such tokens is unpriced.',
      ),
    cachedImageInput: z
      .union(amount)
      .optional()
      .describe('Images: the same for cached tokens that the upstream reports. Default: `imageInput`.'),
    textOutput: z
      .union(amount)
      .optional()
      .describe(
        'Images: dollars per million tokens of text in the answer. Absent: a call with such tokens is unpriced.',
      ),
    imageOutput: z
      .union(amount)
      .describe('Images: dollars per million tokens of the images that are made, or `free`.'),
    svgInput: z
      .union(amount)
      .optional()
      .describe(
        'Images: dollars per million input tokens of the model that writes an SVG (`svg_usage`). Absent: a call with such tokens is unpriced.',
      ),
    svgOutput: z.union(amount).optional().describe('Images: the same for its output, reasoning included.'),
  })
  // A reservation takes all input as not cached; that must be the most it can cost.
  .refine(({ textInput, cachedTextInput }) => isDiscount(cachedTextInput, textInput), {
    path: ['cachedTextInput'],
    error: 'must not be above textInput',
  })
  .refine(({ imageInput, cachedImageInput }) => isDiscount(cachedImageInput, imageInput), {
    path: ['cachedImageInput'],
    error: 'must not be above imageInput, and means nothing without it',
  })

const inputAmount = (what: string) =>
  z.union(amount).optional().describe(`Embeddings: dollars per ${what}, or \`free\`.`)

/** Prices of an embedding model that reads more than text, by what a part is and how it is counted. */
const pricesByInput = z
  .strictObject({
    millionTextTokens: inputAmount('million tokens of text'),
    millionImageTokens: inputAmount('million tokens of images'),
    millionAudioTokens: inputAmount('million tokens of audio'),
    millionVideoTokens: inputAmount('million tokens of video'),
    millionFileTokens: inputAmount('million tokens of PDF'),
    thousandCharacters: inputAmount('thousand characters of text'),
    image: inputAmount('image'),
    audioSecond: inputAmount('second of audio'),
    videoSecond: inputAmount('second of video'),
    page: inputAmount('page of a PDF'),
  } satisfies Record<keyof typeof INPUT_UNITS, unknown>)
  .refine(isNotEmpty, 'name the price of one kind of input at least')
  .refine((prices) => namedTwice(prices) === undefined, {
    error: ({ input }) => `${namedTwice(input as object)?.join(' and ')} price the same inputs: keep one`,
  })

export const priceWord = z.enum(['free', 'unpriced'])

/** Three ways to count what is made, and two to count what was given. */
export const priceFields = z.strictObject({
  usdPerMillionTokens: z
    .union([...dollars, pricesByTokenKind])
    .optional()
    .describe('Dollars per million input tokens; for an image model, a mapping by kinds of tokens.'),
  usdPerInput: pricesByInput
    .optional()
    .describe('Embeddings: a mapping by what a part is, for models that read more than text.'),
  usdPerImage: z
    .union([...dollars, pricesBySize])
    .optional()
    .describe(
      'Images: dollars per image, or a mapping by sizes such as `1024x1024`, each with dollars or a mapping by qualities. `default` is for all others; without it they are unpriced.',
    ),
  usdPerMegapixel: z
    .union(dollars)
    .optional()
    .describe('Images: dollars per million pixels, counted exactly.'),
  usdPerGivenImage: givenAmount
    .optional()
    .describe(
      'Images, in addition to `usdPerImage` or `usdPerMegapixel`: dollars per input image of a call, including mask and markup, or `unknown`: then edits are unpriced. Default: input images cost nothing.',
    ),
  usdPerGivenMegapixel: givenAmount
    .optional()
    .describe(
      'Images: the same per million pixels of the input images, counted exactly. An edit with an input image by address is unpriced.',
    ),
})

/** In torana.yaml the kind of a model is known only once its facts are: `build.ts` reports prices of the other kind. */
export const anyPrice = z
  .union([priceWord, priceFields])
  .superRefine((form, context) => void (typeof form === 'string' || hasOneWay(form, context)))

export const embeddingPrice = z.union([priceWord, priceFields]).transform(forEmbeddings)

export const imagePrice = z.union([priceWord, priceFields]).transform(forImages)

type PriceForm = z.output<typeof priceWord> | z.output<typeof priceFields>

/** An embedding call uses input: tokens, or parts of several kinds. */
export function forEmbeddings(form: PriceForm, context: z.RefinementCtx) {
  if (typeof form === 'string') return form
  const { usdPerMillionTokens, usdPerInput } = form
  if (!hasOneWay(form, context)) return z.NEVER
  const [given] = givenWaysIn(form)
  if (given === undefined && usdPerInput !== undefined) return { usdPerInput }
  if (given === undefined && isAmount(usdPerMillionTokens)) return { usdPerMillionTokens }
  const message = 'is a price for images; write usdPerMillionTokens: <dollars> for an embedding model'
  context.addIssue({ code: 'custom', path: given === undefined ? waysIn(form) : [given], message })
  return z.NEVER
}

/** Two names for the price of one kind of input. Undefined when there are none. */
function namedTwice(prices: object): readonly string[] | undefined {
  const named = Object.keys(INPUT_UNITS).filter((name) => name in prices) as (keyof typeof INPUT_UNITS)[]
  return [...Map.groupBy(named, (name) => INPUT_UNITS[name].kind).values()].find(({ length }) => length > 1)
}

/** Images are counted, measured, or charged by several kinds of tokens. */
export function forImages(form: PriceForm, context: z.RefinementCtx) {
  if (typeof form === 'string') return form
  const { usdPerMillionTokens, usdPerImage, usdPerMegapixel, usdPerGivenImage, usdPerGivenMegapixel } = form
  if (!hasOneWay(form, context) || !hasOneGivenWay(form, context)) return z.NEVER
  const given = { usdPerGivenImage, usdPerGivenMegapixel }
  if (usdPerImage !== undefined) return { usdPerImage, ...given }
  if (usdPerMegapixel !== undefined) return { usdPerMegapixel, ...given }
  if (typeof usdPerMillionTokens === 'object') return { usdPerMillionTokens }
  const message =
    'an image model uses several kinds of tokens; write the price of each, as textInput and imageOutput'
  context.addIssue({ code: 'custom', path: waysIn(form), message })
  return z.NEVER
}

function hasOneWay(form: object, context: z.RefinementCtx): boolean {
  const ways = waysIn(form)
  if (ways.length > 1) context.addIssue(`${ways.join(', ')} contradict each other: keep one`)
  // An unknown field in its place has been reported already.
  if (ways.length === 0 && context.issues.length === 0) {
    context.addIssue(`write one of ${WAYS.join(', ')}, or free or unpriced instead`)
  }
  return ways.length === 1
}

function hasOneGivenWay(form: z.output<typeof priceFields>, context: z.RefinementCtx): boolean {
  const ways = givenWaysIn(form)
  const [first] = ways
  if (first === undefined) return true
  if (form.usdPerMillionTokens !== undefined) {
    const message = 'input images are tokens here; write their price as usdPerMillionTokens.imageInput'
    context.addIssue({ code: 'custom', path: [first], message })
    return false
  }
  if (ways.length > 1) context.addIssue(`${ways.join(', ')} contradict each other: keep one`)
  return ways.length === 1
}

const GIVEN_WAYS: readonly string[] = ['usdPerGivenImage', 'usdPerGivenMegapixel'] satisfies PriceField[]
const WAYS = priceFields.keyof().options.filter((name) => !GIVEN_WAYS.includes(name))

type PriceField = keyof z.output<typeof priceFields>

/** Facts also hold the source of a price. */
function waysIn(form: object): string[] {
  return fieldsIn(form, WAYS)
}

function givenWaysIn(form: object): string[] {
  return fieldsIn(form, GIVEN_WAYS)
}

function fieldsIn(form: object, names: readonly string[]): string[] {
  return Object.entries(form).flatMap(([name, value]) =>
    names.includes(name) && value !== undefined ? [name] : [],
  )
}

function isAmount(value: unknown): value is number | string {
  return typeof value === 'number' || typeof value === 'string'
}

function isNotEmpty(table: object): boolean {
  return Object.keys(table).length > 0
}

type Amount = z.output<(typeof amount)[number]>

/** Ignores invalid amounts: those have been reported already. */
function isDiscount(reduced: Amount | undefined, full: Amount | undefined): boolean {
  if (reduced === undefined) return true
  if (full === undefined) return false
  const isSound = [reduced, full].every((value) => value === 'free' || isDollarAmount(value))
  return !isSound || nanoUsdIn(reduced) <= nanoUsdIn(full)
}

export function nanoUsdIn(amount: Amount): bigint {
  return amount === 'free' ? 0n : nanoUsdOf(amount)
}

function isDollarAmount(value: number | string): boolean {
  try {
    if (typeof value === 'number' && Number(value.toFixed(9)) !== value) return false
    return nanoUsdOf(value) > 0n
  } catch (error) {
    if (error instanceof RangeError) return false
    throw error
  }
}

export type AnyPriceFields = z.output<typeof anyPrice>
export type EmbeddingPriceFields = z.output<typeof embeddingPrice>
export type ImagePriceFields = z.output<typeof imagePrice>
