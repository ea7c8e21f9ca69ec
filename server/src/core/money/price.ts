/** Money is integer nano-dollars. A price is what one deployment charges; unknown is a kind, never zero. */
import type { PartKind } from '../content/content.ts'
import { usedKinds, type PartUse } from './part-use.ts'
import type {
  CachedTokenKind,
  GivenUsage,
  ImageBounds,
  ImageTokenKind,
  ImageTokens,
  ImageUsage,
  SvgTokenKind,
  TokenBounds,
} from './usage.ts'

type WithoutAmount = { readonly kind: 'free' } | { readonly kind: 'unpriced' }

/** What an embedding deployment charges. */
export type Price =
  | {
      readonly kind: 'perToken'
      /** Nano-dollars for a million input tokens: $0.02 is 20,000,000. */ readonly nanoUsdPerMillionTokens: bigint
    }
  | {
      readonly kind: 'perPart'
      /** By kind of part. A kind that is absent is unpriced. */ readonly rates: PartRates
    }
  | WithoutAmount

/** What a kind of part costs: by its tokens, or by its characters, images, seconds or pages. */
export interface PartRate {
  readonly by: 'tokens' | 'count'
  /** Nano-dollars for a million of them. */
  readonly nanoUsdPerMillion: bigint
}

export type PartRates = Readonly<Partial<Record<PartKind, PartRate>>>

/** What an image deployment charges. */
export type ImagePrice =
  | { readonly kind: 'perImage'; readonly nanoUsd: ImagePriceTable; readonly given: GivenPrice }
  | { readonly kind: 'perMegapixel'; readonly nanoUsdPerMegapixel: bigint; readonly given: GivenPrice }
  | { readonly kind: 'perTokenKind'; readonly nanoUsdPerMillionTokens: ImageTokenPrices }
  | WithoutAmount

/** Where a price comes from. */
export type PriceFrom =
  | { readonly from: 'configuration'; /** Such as `torana.yaml:88`. */ readonly at: string }
  | { readonly from: 'store'; readonly by: string; readonly atMs: number }
  | { readonly from: 'catalog'; readonly source?: string | undefined; readonly asOf?: string | undefined }

/**
 * The charge for images that a call is given, beside those it makes. Token prices count them as a separate kind of input.
 */
export type GivenPrice =
  | { readonly kind: 'perImage' | 'perMegapixel'; readonly nanoUsd: bigint }
  | WithoutAmount

/** Nano-dollars per image by size (`1024x1024`), then by quality; `default` covers all that are not named. */
export type ImagePriceTable = ReadonlyMap<string, ReadonlyMap<string, bigint>>

/** Nano-dollars per million tokens of each kind. Undefined: the price is not known. */
export type ImageTokenPrices = Readonly<Record<ImageTokenKind | CachedTokenKind, bigint | undefined>> &
  Readonly<Partial<Record<SvgTokenKind, bigint | undefined>>>

export type Cost = { readonly kind: 'known'; readonly nanoUsd: bigint } | { readonly kind: 'unpriced' }

const MILLION = 1_000_000n
const UNPRICED: Cost = { kind: 'unpriced' }

/**
 * The cost of tokens, rounded up to the next nano-dollar so that a sum of parts never undercuts the bill. `use` says what they
 * were; without it, all of them were text.
 */
export function costOf(price: Price, tokens: number, use?: PartUse): Cost {
  switch (price.kind) {
    case 'free':
      return known(0n)
    case 'unpriced':
      return UNPRICED
    case 'perToken':
      return known(millionthUp(BigInt(tokens) * price.nanoUsdPerMillionTokens))
    case 'perPart':
      return partsCost(price.rates, use ?? { text: { tokens, count: undefined } })
  }
}

/** The most an embeddings request can cost. */
export function maxCostOf(price: Price, { tokens, rows, use }: TokenBounds): Cost {
  const whole = costOf(price, tokens, use)
  return price.kind === 'perToken' || price.kind === 'perPart' ? withRounding(whole, rows) : whole
}

function partsCost(rates: PartRates, use: PartUse): Cost {
  let sum = 0n
  for (const [kind, { tokens, count }] of usedKinds(use)) {
    const rate = rates[kind]
    const amount = rate?.by === 'tokens' ? tokens : count
    if (rate === undefined || amount === undefined) return UNPRICED
    sum += BigInt(Math.ceil(amount)) * rate.nanoUsdPerMillion
  }
  return known(millionthUp(sum))
}

/**
 * The cost of an image call, rounded up once. Counts that the upstream did not report are taken from `estimate`; input that
 * it did not report as cached is charged in full. Unpriced where the price does not cover what was used.
 */
export function imageCostOf(price: ImagePrice, usage: ImageUsage, estimate: ImageTokens): Cost {
  const images = BigInt(usage.images)
  switch (price.kind) {
    case 'free':
      return known(0n)
    case 'unpriced':
      return UNPRICED
    case 'perImage': {
      const nanoUsd = priceInTable(price.nanoUsd, usage)
      return nanoUsd === undefined
        ? UNPRICED
        : withGiven(images * nanoUsd * MILLION, price.given, usage.given)
    }
    case 'perMegapixel': {
      const pixels = images * BigInt(usage.width) * BigInt(usage.height)
      return withGiven(pixels * price.nanoUsdPerMegapixel, price.given, usage.given)
    }
    case 'perTokenKind':
      return tokenKindsCost(price.nanoUsdPerMillionTokens, usage.tokens, estimate)
  }
}

/** The cost of the given images alone, rounded up. Unpriced where their price, or their number of pixels, is not known. */
export function givenCostOf(price: GivenPrice, given: GivenUsage): Cost {
  return withGiven(0n, price, given)
}

/** The highest cost of an image request: that of its most expensive outcome. */
export function maxImageCostOf(price: ImagePrice, bounds: ImageBounds): Cost {
  const { images, given, tokens, rows } = bounds
  const uncached = { ...tokens, cachedTextInput: undefined, cachedImageInput: undefined }
  const costs = bounds.sizes.flatMap(({ width, height }) =>
    bounds.qualities.map((quality) =>
      imageCostOf(price, { images, width, height, quality, given, tokens: uncached }, tokens),
    ),
  )
  // Without a first value: bounds that allow nothing throw, where a start at zero would admit them for free.
  const dearest = costs.reduce(dearerOf)
  return isRounded(price) ? withRounding(dearest, rows) : dearest
}

/** One unpriced part makes the sum unpriced: a partial sum would read as the whole. */
export function addCosts(a: Cost, b: Cost): Cost {
  if (a.kind === 'unpriced' || b.kind === 'unpriced') return UNPRICED
  return known(a.nanoUsd + b.nanoUsd)
}

/** The larger of two, and unpriced if either is: it may be the larger one. */
export function dearerOf(a: Cost, b: Cost): Cost {
  if (a.kind === 'unpriced' || b.kind === 'unpriced') return UNPRICED
  return a.nanoUsd >= b.nanoUsd ? a : b
}

/** `0.000000020`, or `unpriced`: the form of the `x-torana-cost` header. */
export function costText(cost: Cost): string {
  return cost.kind === 'unpriced' ? 'unpriced' : decimalOf(cost.nanoUsd)
}

/** `$12.50`, `$0.000000020`: for people. Cents at least, and as many decimals as the amount has. */
export function dollars(nanoUsd: bigint): string {
  return `$${decimalOf(nanoUsd).replace(/0{1,7}$/, '')}`
}

/** The number nearest to the amount, for JSON; the ledger keeps the exact one. */
export function usdOf(nanoUsd: bigint): number {
  return Number(decimalOf(nanoUsd))
}

/** `12.500000000`: exact, and the form of money in every answer of the control API. */
export function decimalOf(nanoUsd: bigint): string {
  const [sign, digits] =
    nanoUsd < 0n ? ['-', `${-nanoUsd}`.padStart(10, '0')] : ['', `${nanoUsd}`.padStart(10, '0')]
  return `${sign}${digits.slice(0, -9)}.${digits.slice(-9)}`
}

/** `0.02`: dollars without zeros at the end. */
export function usdText(nanoUsd: bigint): string {
  return decimalOf(nanoUsd).replace(/\.?0+$/, '')
}

/** Reads `0.02` (dollars) exactly: decimal text, never binary floating point. */
export function nanoUsdOf(usd: number | string): bigint {
  const text = typeof usd === 'number' ? plainDecimal(usd) : usd
  const match = /^(\d+)(?:\.(\d{1,9})0*)?$/.exec(text)
  if (!match) throw new RangeError(`${text} is not a dollar amount with at most nine decimals`)
  return BigInt(match[1] ?? '0') * 1_000_000_000n + BigInt((match[2] ?? '').padEnd(9, '0'))
}

/** `5e-7` → `0.0000005`: numbers below 1e-6 print in exponent form. */
function plainDecimal(value: number): string {
  const text = String(value)
  const plain = text.includes('e') ? value.toFixed(9) : text
  if (Number(plain) !== value)
    throw new RangeError(`${text} is not a dollar amount with at most nine decimals`)
  return plain
}

/** A named size without the requested quality uses the table's default, like a size that is not named. */
function priceInTable(table: ImagePriceTable, { width, height, quality }: ImageUsage): bigint | undefined {
  for (const size of [`${width}x${height}`, 'default']) {
    const row = table.get(size)
    const nanoUsd = (quality === undefined ? undefined : row?.get(quality)) ?? row?.get('default')
    if (nanoUsd !== undefined) return nanoUsd
  }
  return undefined
}

/** `made` is in millionths of a nano-dollar, so that the sum is rounded up once. */
function withGiven(made: bigint, price: GivenPrice, { images, pixels }: GivenUsage): Cost {
  if (images === 0 || price.kind === 'free') return known(millionthUp(made))
  if (price.kind === 'unpriced') return UNPRICED
  const units = price.kind === 'perImage' ? BigInt(images) * MILLION : pixels
  return units === undefined ? UNPRICED : known(millionthUp(made + units * price.nanoUsd))
}

function tokenKindsCost(
  prices: ImageTokenPrices,
  reported: ImageUsage['tokens'],
  estimate: ImageTokens,
): Cost {
  const count = (kind: ImageTokenKind) => reported[kind] ?? estimate[kind]
  // No upstream can have cached more than it read.
  const cachedText = Math.min(reported.cachedTextInput ?? 0, count('textInput'))
  const cachedImage = Math.min(reported.cachedImageInput ?? 0, count('imageInput'))
  const parts = [
    [count('textInput') - cachedText, prices.textInput],
    [cachedText, prices.cachedTextInput],
    [count('imageInput') - cachedImage, prices.imageInput],
    [cachedImage, prices.cachedImageInput],
    [count('textOutput'), prices.textOutput],
    [count('imageOutput'), prices.imageOutput],
    [reported.svgInput ?? 0, prices.svgInput],
    [reported.svgOutput ?? 0, prices.svgOutput],
  ] as const
  let sum = 0n
  for (const [tokens, nanoUsd] of parts) {
    if (tokens === 0) continue
    if (nanoUsd === undefined) return UNPRICED
    sum += BigInt(tokens) * nanoUsd
  }
  return known(millionthUp(sum))
}

function known(nanoUsd: bigint): Cost {
  return { kind: 'known', nanoUsd }
}

function millionthUp(value: bigint): bigint {
  return (value + MILLION - 1n) / MILLION
}

/** Prices per image are whole nano-dollars. */
function isRounded(price: ImagePrice): boolean {
  if (price.kind === 'perImage') return price.given.kind === 'perMegapixel'
  return price.kind === 'perMegapixel' || price.kind === 'perTokenKind'
}

/** Each row beyond the first may add almost a nano-dollar by being rounded up. */
function withRounding(whole: Cost, rows: number): Cost {
  return addCosts(whole, known(BigInt(rows - 1)))
}
