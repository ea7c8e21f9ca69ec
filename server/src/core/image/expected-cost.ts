/** What the calls of an image request may use and cost at most, by the facts of the model. A streamed picture costs what it costs in one piece. */
import type { ImageModel, ImageSizes, ImageTokenTable, PixelSize } from '../catalog.ts'
import { addCosts, maxImageCostOf, type Cost } from '../price.ts'
import { NOTHING_GIVEN } from '../usage.ts'
import type { GivenUsage, ImageBounds, ImageTokens } from '../usage.ts'
import { utf8Bytes } from './bytes.ts'
import { givenIn } from './given.ts'
import type { ImageOffer } from './negotiate.ts'
import type { ImageRequest } from './request.ts'

/** What OpenAI charges for each preview, in output tokens. */
const TOKENS_PER_PREVIEW = 100

const UNPRICED: Cost = { kind: 'unpriced' }

/** The most that one call for so many pictures may use. Output tokens are 0 where the model's facts do not tell them. */
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
  // Another model writes an SVG, and nobody knows how much it will write.
  if (request.format === 'svg' && price.kind !== 'free') return UNPRICED
  const bounds = boundsOf(request, model, offer, images)
  // Without the tokens of a picture the prompt alone would be reserved, which is next to nothing.
  const isBounded =
    dearestTokens(model, bounds.sizes, bounds.qualities) !== undefined &&
    (request.edit === undefined || model.facts.inputImageTokens !== undefined)
  if (price.kind === 'perTokenKind' && !isBounded) return UNPRICED
  return maxImageCostOf(price, bounds)
}

/** Each call is given all pictures anew, and pays for them. */
export function maxRequestCost(request: ImageRequest, model: ImageModel, offer: ImageOffer): Cost {
  return offer.perCall.map((images) => maxCallCost(request, model, offer, images)).reduce(addCosts)
}

export const NO_TOKENS: ImageTokens = { textInput: 0, imageInput: 0, textOutput: 0, imageOutput: 0 }

/** A mask may be charged as a picture. Of an address nobody knows the pixels, and there is no most that could stand for them. */
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

/** No tokenizer makes more tokens of a text than the text has bytes. A mask may be read as a picture. */
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

/** OpenAI's, where a GIF is asked for without a number of frames. */
const FRAMES_UNASKED = 9

/** Each frame of a GIF is drawn, and takes as many tokens as a picture. */
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

/** No model makes a longer edge. A header that tells of one is not believed: a price by pixels would be without bounds. */
const LONGEST_MADE_EDGE = 65_536

export function madeSizes(picture: PixelSize, offer: ImageOffer): readonly PixelSize[] {
  const isTold = pixelsOf(picture) > 0 && Math.max(picture.width, picture.height) <= LONGEST_MADE_EDGE
  return isTold ? [picture] : possibleSizes(offer)
}

/** The upstream's word for what it made, if it is one we know; else what was asked for. */
export function madeQualities(
  offer: ImageOffer,
  { quality }: Readonly<Record<string, unknown>>,
): readonly (string | undefined)[] {
  const isKnown = typeof quality === 'string' && offer.deployment.capabilities.qualities.includes(quality)
  return isKnown ? [quality] : possibleQualities(offer)
}

/** Undefined when the facts are silent about one of the outcomes: it may be the dearest. */
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

/** A named size without the quality asked for falls to the table's default, like a size that is not named. */
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
