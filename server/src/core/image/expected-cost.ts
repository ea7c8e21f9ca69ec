/**
 * Upper bounds of the usage and cost of an image request's calls, by the facts of the model. A streamed image costs the
 * same as one that comes as a whole.
 */
import type { ImageModel, ImageSizes, ImageTokenTable, PixelSize } from '../catalog/catalog.ts'
import { addCosts, maxImageCostOf, type Cost } from '../money/price.ts'
import { NOTHING_GIVEN } from '../money/usage.ts'
import type { GivenUsage, ImageBounds, ImageTokens } from '../money/usage.ts'
import { utf8Bytes } from './bytes.ts'
import { givenIn } from './given.ts'
import type { ImageOffer } from './negotiate.ts'
import type { ImageRequest } from './request.ts'

/** What OpenAI charges for each preview, in output tokens. */
const TOKENS_PER_PREVIEW = 100

const UNPRICED: Cost = { kind: 'unpriced' }

/** The most that one call for this many images may use. Output tokens are 0 where the model's facts do not name them. */
export function boundsOf(
  request: ImageRequest,
  model: ImageModel,
  offer: ImageOffer,
  images: number,
): ImageBounds {
  const sizes = possibleSizes(offer)
  const qualities = possibleQualities(offer)
  const perPicture = dearestTokens(model, sizes, qualities) ?? 0
  return {
    images,
    sizes,
    qualities,
    given: givenUsage(request),
    tokens: tokensOf(request, model, images * (perPicture * framesOf(request) + previewTokens(offer))),
    rows: 1,
  }
}

export function maxCallCost(
  request: ImageRequest,
  model: ImageModel,
  offer: ImageOffer,
  images: number,
): Cost {
  const { price } = offer.deployment
  // Another model writes an SVG, and the length of its text is not known.
  if (request.format === 'svg' && price.kind !== 'free') return UNPRICED
  const bounds = boundsOf(request, model, offer, images)
  // Without the tokens of an image only the prompt would be reserved, which is next to nothing.
  const isBounded =
    dearestTokens(model, bounds.sizes, bounds.qualities) !== undefined &&
    (request.edit === undefined || model.facts.inputImageTokens !== undefined)
  if (price.kind === 'perTokenKind' && !isBounded) return UNPRICED
  return maxImageCostOf(price, bounds)
}

/** Each call receives all images again, and pays for them. */
export function maxRequestCost(request: ImageRequest, model: ImageModel, offer: ImageOffer): Cost {
  return offer.perCall.map((images) => maxCallCost(request, model, offer, images)).reduce(addCosts)
}

export const NO_TOKENS: ImageTokens = { textInput: 0, imageInput: 0, textOutput: 0, imageOutput: 0 }

/** A mask may be charged as an image. The pixels behind an address are not known, and have no upper bound. */
export function givenUsage({ edit }: ImageRequest): GivenUsage {
  if (edit === undefined) return NOTHING_GIVEN
  const given = givenIn(edit)
  let pixels = 0n
  for (const one of given) {
    if (one.kind === 'address') return { images: given.length, pixels: undefined }
    pixels += BigInt(one.width) * BigInt(one.height)
  }
  return { images: given.length, pixels }
}

/** No tokenizer makes more tokens of a text than the text has bytes. A mask may be read as an image. */
export function tokensOf(
  { prompt, edit }: ImageRequest,
  { facts }: ImageModel,
  imageOutput: number,
): ImageTokens {
  const given = edit === undefined ? 0 : givenIn(edit).length
  return {
    ...NO_TOKENS,
    textInput: utf8Bytes(prompt),
    imageInput: given * (facts.inputImageTokens ?? 0),
    imageOutput,
  }
}

/** OpenAI's default for a GIF without a number of frames. */
const FRAMES_UNASKED = 9

/** Each frame of a GIF is drawn, and takes as many tokens as an image. */
export function framesOf({ format, frameCount }: ImageRequest): number {
  return frameCount ?? (format === 'gif' ? FRAMES_UNASKED : 1)
}

export function previewTokens({ partialImages }: ImageOffer): number {
  return TOKENS_PER_PREVIEW * (partialImages ?? 0)
}

export function possibleSizes({ size, deployment }: ImageOffer): readonly PixelSize[] {
  return size === undefined ? unaskedSizes(deployment.capabilities.sizes) : [size]
}

function unaskedSizes(sizes: ImageSizes): readonly PixelSize[] {
  return sizes.kind === 'list' ? sizes.values : [sizes.default]
}

export function possibleQualities({ quality, deployment }: ImageOffer): readonly (string | undefined)[] {
  if (quality !== undefined) return [quality]
  const { qualities } = deployment.capabilities
  return qualities.length === 0 ? [undefined] : qualities
}

/** Longest edge that a model makes. A header with a longer one is not believed: a price by pixels would have no bound. */
const MAX_MADE_EDGE = 65_536

export function madeSizes(picture: PixelSize, offer: ImageOffer): readonly PixelSize[] {
  const isPlausible = pixelsOf(picture) > 0 && Math.max(picture.width, picture.height) <= MAX_MADE_EDGE
  return isPlausible ? [picture] : possibleSizes(offer)
}

/** The upstream's word for what it made, if it is a known one; otherwise the requested one. */
export function madeQualities(
  offer: ImageOffer,
  { quality }: Readonly<Record<string, unknown>>,
): readonly (string | undefined)[] {
  const isKnown = typeof quality === 'string' && offer.deployment.capabilities.qualities.includes(quality)
  return isKnown ? [quality] : possibleQualities(offer)
}

/** Undefined when the facts lack one of the outcomes: it may be the most expensive one. */
export function dearestTokens(
  { facts: { outputTokens } }: ImageModel,
  sizes: readonly PixelSize[],
  qualities: readonly (string | undefined)[],
): number | undefined {
  if (outputTokens === undefined) return undefined
  let dearest = 0
  for (const size of sizes) {
    for (const quality of qualities) {
      const tokens = tokensInTable(outputTokens, size, quality)
      if (tokens === undefined) return undefined
      dearest = Math.max(dearest, tokens)
    }
  }
  return dearest
}

/** A named size without the requested quality uses the table's default, like a size that is not named. */
function tokensInTable(
  table: ImageTokenTable,
  { width, height }: PixelSize,
  quality: string | undefined,
): number | undefined {
  for (const size of [`${width}x${height}`, 'default']) {
    const row = table.get(size)
    const tokens = (quality === undefined ? undefined : row?.get(quality)) ?? row?.get('default')
    if (tokens !== undefined) return tokens
  }
  return undefined
}

export function pixelsOf({ width, height }: PixelSize): number {
  return width * height
}
