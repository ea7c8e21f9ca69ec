/** The cost of one image call: by its upstream's own meter within bounds, and by the facts where it has none. */
import { UpstreamFailure } from '../fault/failure.ts'
import type { ImageModel, PixelSize } from '../catalog/catalog.ts'
import {
  addCosts,
  givenCostOf,
  imageCostOf,
  maxImageCostOf,
  type Cost,
  type ImagePrice,
} from '../money/price.ts'
import { MAX_TIMES_EXPECTED, NOTHING_GIVEN, svgTokens, zerosUnknown } from '../money/usage.ts'
import type { ImageTokenKind, ImageTokens, ImageUsage } from '../money/usage.ts'
import {
  dearestTokens,
  framesOf,
  givenUsage,
  madeQualities,
  madeSizes,
  maxCallCost,
  NO_TOKENS,
  pixelsOf,
  possibleQualities,
  possibleSizes,
  previewTokens,
  tokensOf,
} from './expected-cost.ts'
import type { ImageOffer } from './negotiate.ts'
import type { ImageRequest } from './request.ts'

const UNPRICED: Cost = { kind: 'unpriced' }
const NOTHING: Cost = { kind: 'known', nanoUsd: 0n }
const TOKEN_KINDS: readonly ImageTokenKind[] = ['textInput', 'imageInput', 'textOutput', 'imageOutput']
const COUNTED_KINDS = [
  ...TOKEN_KINDS,
  'cachedTextInput',
  'cachedImageInput',
  'svgInput',
  'svgOutput',
] as const

export interface AnsweredCall {
  readonly request: ImageRequest
  readonly model: ImageModel
  readonly offer: ImageOffer
  /** Number of requested images. */
  readonly images: number
  /** What the upstream counted. */
  readonly tokens: ImageUsage['tokens']
  /** The counts of each of several events, if all are equal; `tokens` is their sum. */
  readonly eachTokens?: ImageUsage['tokens'] | undefined
  /** Sizes of the received images, from their headers. An edge of 0: the header does not say. */
  readonly pictures: readonly PixelSize[]
  /** What the upstream says it made: `quality` is what matters here. */
  readonly echoes: Readonly<Record<string, unknown>>
  /** The cost that the upstream reports for the call. Undefined: it reports none. */
  readonly reportedNanoUsd?: bigint | undefined
}

interface CallCost {
  readonly cost: Cost
  /** `upstream`: it follows from what the upstream counted and delivered. `estimated`: part of it had to be assumed. */
  readonly source: 'upstream' | 'estimated'
  /** Sum of all kinds. Undefined: not known. */
  readonly tokens: number | undefined
}

/** The upstream's own count, and the part of it that is charged. */
interface MeteredTokens {
  /** What the upstream counted. Callers get it unchanged. */
  readonly reported: ImageUsage['tokens']
  /** The part of it that is charged. */
  readonly charged: ImageUsage['tokens']
  /** Tokens counted above the expected maximum of the call. */
  readonly excessTokens: number
  /** Tokens of these that are not charged. */
  readonly cutTokens: number
}

/** The same for the cost that an upstream reports itself. */
interface MeteredCost {
  /** `upstream`: the cost is its own figure. `price`: it follows from the price and the counts. */
  readonly costBy: 'price' | 'upstream'
  readonly excessNanoUsd: bigint
  readonly cutNanoUsd: bigint
}

export interface AccountedCall extends CallCost, MeteredTokens, MeteredCost {
  /** The upstream counted no token for images whose tokens are paid for. Images have tokens, so they were estimated. */
  readonly isUncounted: boolean
}

/** The cost of one call: as reported by its upstream, within bounds; where nothing is reported, the highest possible. */
export function callCost(call: AnsweredCall): AccountedCall {
  const metered = meteredTokens(call)
  const { charged, excessTokens, cutTokens } = metered
  const { eachTokens } = call
  // The sum exceeds what is expected of the call, and each event alone does not: each repeats the total.
  if (excessTokens > 0 && eachTokens && meteredTokens({ ...call, tokens: eachTokens }).excessTokens === 0)
    return callCost({ ...call, tokens: eachTokens, eachTokens: undefined })
  const isByTokens = call.offer.deployment.price.kind === 'perTokenKind'
  const isUncounted = isByTokens && call.tokens.imageOutput === 0 && call.pictures.length > 0
  const counted = { ...call, tokens: isUncounted ? zerosUnknown(charged) : charged }
  const byPrice = isByTokens ? costByTokens(counted) : costByPictures(counted)
  const source = cutTokens === 0 ? byPrice.source : 'estimated'
  return { ...byPrice, ...metered, ...reportedCost(call, { ...byPrice, source }), isUncounted }
}

/** Tokens say what a call without images cost only where the price is by tokens. A price by image leaves it unknown. */
export function withKnownCharge(failure: UpstreamFailure, { kind }: ImagePrice): UpstreamFailure {
  const { counted, ...detail } = failure.detail
  if (counted === undefined || (kind !== 'perImage' && kind !== 'perMegapixel')) return failure
  const unknown = new UpstreamFailure(failure.kind, failure.message, detail)
  unknown.cause = failure.cause
  return unknown
}

/**
 * Highest reported cost of one image of a model without a price. The most expensive image of any price list costs less than
 * a dollar.
 */
const MAX_NANO_USD_PER_IMAGE = 10_000_000_000n

/** The upstream's own figure replaces ours, within the same bound as its counts. What is declared free stays free. */
function reportedCost(call: AnsweredCall, byPrice: CallCost): Omit<CallCost, 'tokens'> & MeteredCost {
  const { request, model, offer, reportedNanoUsd } = call
  const ours = {
    cost: byPrice.cost,
    source: byPrice.source,
    costBy: 'price',
    excessNanoUsd: 0n,
    cutNanoUsd: 0n,
  } as const
  if (reportedNanoUsd === undefined || offer.deployment.price.kind === 'free') return ours
  const images = Math.max(call.images, call.pictures.length)
  const reserved = maxCallCost(request, model, offer, images)
  const known = [reserved, byPrice.cost].flatMap((cost) => (cost.kind === 'known' ? [cost.nanoUsd] : []))
  const expected = known.reduce((most, nanoUsd) => (nanoUsd > most ? nanoUsd : most), 0n)
  const isExpected = known.length > 0
  const bound = isExpected ? expected * BigInt(MAX_TIMES_EXPECTED) : BigInt(images) * MAX_NANO_USD_PER_IMAGE
  const cutNanoUsd = reportedNanoUsd > bound ? reportedNanoUsd - bound : 0n
  return {
    cost: { kind: 'known', nanoUsd: reportedNanoUsd - cutNanoUsd },
    source: cutNanoUsd === 0n ? 'upstream' : 'estimated',
    costBy: 'upstream',
    excessNanoUsd: isExpected && reportedNanoUsd > expected ? reportedNanoUsd - expected : cutNanoUsd,
    cutNanoUsd,
  }
}

/** Tokens that upstreams add around a prompt: few, but more than a short prompt has. */
const FRAME_TOKENS = 256
/** Bound for kinds of tokens without a known maximum, such as the thoughts of a model. No call uses as many. */
const MAX_TOKENS_PER_KIND = 10_000_000

function meteredTokens(call: AnsweredCall): MeteredTokens {
  const most = mostTokens(call)
  const charged = { ...call.tokens }
  let [excessTokens, cutTokens] = [0, 0]
  for (const kind of COUNTED_KINDS) {
    const count = call.tokens[kind] ?? 0
    const bound = Math.max(most[kind], Math.min(boundOf(most[kind]), MAX_TOKENS_PER_KIND))
    excessTokens += Math.max(0, count - most[kind])
    if (count <= bound) continue
    charged[kind] = bound
    cutTokens += count - bound
  }
  return { reported: call.tokens, charged, excessTokens, cutTokens }
}

/** For kinds of tokens that are not expected: as many as upstreams add around a prompt. */
function boundOf(expected: number): number {
  return expected === 0 ? FRAME_TOKENS : expected * MAX_TIMES_EXPECTED
}

/** By the same facts as the reservation, and by the received images: they may be more or larger than requested. */
function mostTokens({
  request,
  model,
  offer,
  images,
  tokens,
  pictures,
  echoes,
}: AnsweredCall): Readonly<Record<keyof ImageUsage['tokens'], number>> {
  const sizes = [...possibleSizes(offer), ...pictures.flatMap((picture) => madeSizes(picture, offer))]
  const qualities = [...possibleQualities(offer), ...madeQualities(offer, echoes)]
  const perPicture = dearestTokens(model, sizes, qualities)
  const imageOutput =
    perPicture === undefined
      ? MAX_TOKENS_PER_KIND
      : Math.max(images, pictures.length) * (perPicture * framesOf(request) + previewTokens(offer))
  const isGivenBounded = request.edit === undefined || model.facts.inputImageTokens !== undefined
  const given = tokensOf(request, model, 0)
  const imageInput = isGivenBounded ? given.imageInput : MAX_TOKENS_PER_KIND
  // Images that were not counted separately are among the text.
  const textInput = given.textInput + FRAME_TOKENS + (tokens.imageInput === undefined ? imageInput : 0)
  return {
    textInput,
    imageInput,
    textOutput: MAX_TOKENS_PER_KIND,
    imageOutput,
    cachedTextInput: textInput,
    cachedImageInput: imageInput,
    svgInput: MAX_TOKENS_PER_KIND,
    svgOutput: MAX_TOKENS_PER_KIND,
  }
}

function costByTokens(call: AnsweredCall): CallCost {
  const { request, model, offer, tokens, pictures } = call
  const output = estimatedOutput(call)
  const isInputReported = request.edit === undefined || tokens.imageInput !== undefined
  if (
    (tokens.imageOutput === undefined && output === undefined) ||
    (!isInputReported && model.facts.inputImageTokens === undefined)
  )
    return { cost: UNPRICED, source: 'estimated', tokens: undefined }
  const estimate = tokensOf(request, model, output ?? 0)
  const counted = isInputReported ? tokens : dearestInput(tokens, estimate)
  // The price needs tokens alone; there is no image whose edges would count.
  const usage: ImageUsage = {
    images: pictures.length,
    width: 0,
    height: 0,
    quality: undefined,
    given: NOTHING_GIVEN,
    tokens: counted,
  }
  const isReported = isInputReported && tokens.imageOutput !== undefined && tokens.textInput !== undefined
  return {
    cost: imageCostOf(offer.deployment.price, usage, estimate),
    source: isReported ? 'upstream' : 'estimated',
    tokens: TOKEN_KINDS.reduce((sum, kind) => sum + (counted[kind] ?? estimate[kind]), svgTokens(counted)),
  }
}

/**
 * An edit whose images were not counted separately. Where the upstream reported one sum of all input, it came as text: what
 * exceeds the prompt are images. Which kind the cached tokens are is not reported either, so none is taken as cheaper.
 */
function dearestInput(tokens: ImageUsage['tokens'], estimate: ImageTokens): ImageUsage['tokens'] {
  const reported = tokens.textInput ?? estimate.textInput
  const textInput = Math.min(reported, estimate.textInput)
  const imageInput = Math.max(reported - textInput, estimate.imageInput)
  return { ...tokens, textInput, imageInput, cachedTextInput: undefined, cachedImageInput: undefined }
}

function estimatedOutput({ request, model, offer, pictures, echoes }: AnsweredCall): number | undefined {
  const qualities = madeQualities(offer, echoes)
  let sum = 0
  for (const picture of pictures) {
    const tokens =
      dearestTokens(model, madeSizes(picture, offer), qualities) ??
      dearestTokens(model, possibleSizes(offer), qualities)
    if (tokens === undefined) return undefined
    sum += tokens * framesOf(request) + previewTokens(offer)
  }
  return sum
}

function costByPictures({ request, offer, tokens, pictures, echoes }: AnsweredCall): CallCost {
  const { price } = offer.deployment
  const qualities = madeQualities(offer, echoes)
  const given = givenUsage(request)
  const costOfSizes = (sizes: readonly PixelSize[], given = NOTHING_GIVEN) =>
    maxImageCostOf(price, { images: 1, sizes, qualities, given, tokens: NO_TOKENS, rows: 1 })
  let isAssumed =
    (qualities.length > 1 && dependsOnQuality(offer)) ||
    (given.pixels === undefined && dependsOnGivenPixels(offer))
  let cost = price.kind === 'unpriced' ? UNPRICED : NOTHING
  let pixels = 0
  // One by one: they may differ in size where the size was left to the upstream.
  for (const picture of pictures) {
    const sizes = madeSizes(picture, offer)
    const exact = costOfSizes(sizes)
    // A size without a price is charged like the sizes that were to be expected.
    cost = addCosts(cost, exact.kind === 'known' ? exact : costOfSizes(possibleSizes(offer)))
    pixels += Math.max(...sizes.map(pixelsOf))
    isAssumed ||= sizes[0] !== picture || (exact.kind === 'unpriced' && price.kind !== 'unpriced')
  }
  // Together, so that they are rounded up once.
  if (price.kind === 'perMegapixel' && pixels > 0) cost = costOfSizes([{ width: pixels, height: 1 }], given)
  else if (price.kind === 'perImage' || price.kind === 'perMegapixel')
    cost = addCosts(cost, givenCostOf(price.given, given))
  const kinds = [...TOKEN_KINDS, 'svgInput', 'svgOutput'] as const
  const counted = kinds.map((kind) => tokens[kind]).filter((count) => count !== undefined)
  return {
    // A price per image does not cover the model that wrote an SVG.
    cost: svgTokens(tokens) > 0 && price.kind !== 'free' ? UNPRICED : cost,
    source: isAssumed ? 'estimated' : 'upstream',
    tokens: counted.length === 0 ? undefined : counted.reduce((sum, count) => sum + count, 0),
  }
}

function dependsOnQuality({ deployment: { price } }: ImageOffer): boolean {
  if (price.kind !== 'perImage') return false
  return [...price.nanoUsd.values()].some((row) => [...row.keys()].some((quality) => quality !== 'default'))
}

function dependsOnGivenPixels({ deployment: { price } }: ImageOffer): boolean {
  return (price.kind === 'perImage' || price.kind === 'perMegapixel') && price.given.kind === 'perMegapixel'
}
