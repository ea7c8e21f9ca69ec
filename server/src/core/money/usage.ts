import type { PartKind } from '../content/content.ts'
import type { PartUse } from './part-use.ts'

/** Tokens by kind of part. Kinds that the upstream does not report are absent. */
export type TokensByKind = Readonly<Partial<Record<PartKind, number>>>

/** Tokens an upstream charged for. Unknown is a kind, so that it can't be added up as zero. */
export type Usage =
  | {
      readonly kind: 'measured'
      readonly tokens: number
      /** Absent where the upstream counts all parts together. */
      readonly byKind?: TokensByKind | undefined
    }
  | { readonly kind: 'estimated'; readonly tokens: number; readonly reportedTokens?: number | undefined }
  | { readonly kind: 'unknown' }

/**
 * Bound of charges by an upstream's own meter, as a multiple of the maximum that Torana expects of the call. Torana's facts
 * can be out of date, and an upstream can make the next quality up, which takes four times the tokens; a meaningless count
 * is off by orders of magnitude.
 */
export const MAX_TIMES_EXPECTED = 4

/**
 * The charged part of an upstream's count, where `most` is the maximum that Torana expects of the call. Up to
 * `MAX_TIMES_EXPECTED` times that, the upstream's meter counts. A larger count is cut there, and keeps the reported one. A
 * count smaller than `least` comes from a server that does not count: it is unknown.
 */
export function chargedUsage(usage: Usage, least: number, most: number): Usage {
  if (usage.kind !== 'measured') return usage
  const { tokens } = usage
  const bound = most * MAX_TIMES_EXPECTED
  if (tokens > bound) return { kind: 'estimated', tokens: bound, reportedTokens: tokens }
  return tokens < least ? UNKNOWN_USAGE : usage
}

const UNKNOWN_USAGE: Usage = { kind: 'unknown' }

/** The kinds of tokens of an image call, which have different prices. */
export type ImageTokenKind = 'textInput' | 'imageInput' | 'textOutput' | 'imageOutput'
/** Input that the upstream had cached from an earlier call. Such tokens are counted under their own kind as well. */
export type CachedTokenKind = 'cachedTextInput' | 'cachedImageInput'

/** Tokens of the model that writes an SVG after an image, which has separate prices. */
export type SvgTokenKind = 'svgInput' | 'svgOutput'

export type ImageTokens = Readonly<Record<ImageTokenKind, number>>

/** The images that one call was given to edit, masks and markups included. */
export interface GivenUsage {
  readonly images: number
  /** Sum of all of them. Undefined when it is not known for one of them. */
  readonly pixels: bigint | undefined
}

export const NOTHING_GIVEN: GivenUsage = { images: 0, pixels: 0n }

/** The usage of one image call: images of one size and quality. An undefined count is unknown, not zero. */
export interface ImageUsage {
  readonly images: number
  /** In pixels. */
  readonly width: number
  readonly height: number
  /** Undefined when neither the request nor the answer names one. */
  readonly quality: string | undefined
  readonly given: GivenUsage
  readonly tokens: Readonly<Record<ImageTokenKind | CachedTokenKind, number | undefined>> &
    // Absent when no SVG was written, which is no unknown count.
    Readonly<Partial<Record<SvgTokenKind, number | undefined>>>
}

/** No count is known. */
export const UNKNOWN_TOKENS: ImageUsage['tokens'] = Object.freeze({
  textInput: undefined,
  imageInput: undefined,
  textOutput: undefined,
  imageOutput: undefined,
  cachedTextInput: undefined,
  cachedImageInput: undefined,
})

/** Sum of all kinds; unknown counts add nothing. */
export function countedTokens(tokens: ImageUsage['tokens']): number {
  const { textInput, imageInput, textOutput, imageOutput } = tokens
  return (textInput ?? 0) + (imageInput ?? 0) + (textOutput ?? 0) + (imageOutput ?? 0) + svgTokens(tokens)
}

/** Tokens of the model that wrote an SVG, if one did. */
export function svgTokens({ svgInput = 0, svgOutput = 0 }: ImageUsage['tokens']): number {
  return svgInput + svgOutput
}

/** Whether any count is known. */
export function hasCounted(tokens: ImageUsage['tokens']): boolean {
  return Object.values(tokens).some((count) => count !== undefined && count > 0)
}

export function areSameTokens(a: ImageUsage['tokens'], b: ImageUsage['tokens']): boolean {
  return Object.entries(a).every(([kind, count]) => b[kind as keyof ImageUsage['tokens']] === count)
}

/** The counts of a server that does not count: zeros become unknown. */
export function zerosUnknown(tokens: ImageUsage['tokens']): ImageUsage['tokens'] {
  const counted = Object.entries(tokens).filter(([, count]) => count !== 0)
  return { ...UNKNOWN_TOKENS, ...Object.fromEntries(counted) }
}

/** Adds the counts of each kind. A sum with an unknown part is unknown: a lower bound must not look like a full count. */
export function addTokens(a: ImageUsage['tokens'], b: ImageUsage['tokens']): ImageUsage['tokens'] {
  const sum = (kind: keyof ImageUsage['tokens']): number | undefined => {
    const [left, right] = [a[kind], b[kind]]
    return left === undefined || right === undefined ? undefined : left + right
  }
  return {
    textInput: sum('textInput'),
    imageInput: sum('imageInput'),
    textOutput: sum('textOutput'),
    imageOutput: sum('imageOutput'),
    cachedTextInput: sum('cachedTextInput'),
    cachedImageInput: sum('cachedImageInput'),
    ...(svgTokens(a) + svgTokens(b) > 0 && {
      svgInput: (a.svgInput ?? 0) + (b.svgInput ?? 0),
      svgOutput: (a.svgOutput ?? 0) + (b.svgOutput ?? 0),
    }),
  }
}

/** Upper bound of the usage of an embeddings request. */
export interface TokenBounds {
  readonly tokens: number
  /** Absent for texts and token ids. */
  readonly use?: PartUse | undefined
  /** Rows of the ledger in which it may be charged, each of which is rounded up. */
  readonly rows: number
}

/** Upper bound of the usage of an image request. Where it leaves a choice open (`auto`), all possible outcomes. */
export interface ImageBounds {
  readonly images: number
  readonly sizes: readonly { readonly width: number; readonly height: number }[]
  readonly qualities: readonly (string | undefined)[]
  readonly given: GivenUsage
  readonly tokens: ImageTokens
  readonly rows: number
}

/**
 * Divides a total among shares in proportion to their weights by largest remainder, so that the parts sum exactly to the
 * total. Ties go to the earlier share, which makes the result a function of its arguments alone.
 */
export function divideTokens(total: number, weights: readonly number[]): number[] {
  const sum = weights.reduce((a, b) => a + b, 0)
  if (weights.length === 0) return []
  if (sum === 0)
    return divideTokens(
      total,
      weights.map(() => 1),
    )
  const shares = weights.map((weight) => dividedBy(total, weight, sum))
  const parts = shares.map(({ whole }) => whole)
  const missing = total - parts.reduce((a, b) => a + b, 0)
  const byRemainder = shares.map(({ remainder }, index) => ({ index, remainder }))
  byRemainder.sort((a, b) => b.remainder - a.remainder || a.index - b.index)
  for (const { index } of byRemainder.slice(0, missing)) parts[index] = (parts[index] ?? 0) + 1
  return parts
}

/** `total × weight ÷ sum` in whole numbers: a product beyond 2^53 is not exact as a number. */
function dividedBy(
  total: number,
  weight: number,
  sum: number,
): { readonly whole: number; readonly remainder: number } {
  const product = total * weight
  if (product <= Number.MAX_SAFE_INTEGER) {
    const remainder = product % sum
    return { whole: (product - remainder) / sum, remainder }
  }
  const exact = BigInt(total) * BigInt(weight)
  return { whole: Number(exact / BigInt(sum)), remainder: Number(exact % BigInt(sum)) }
}

/**
 * The same, where each share has a maximum. If weights would give a share more than that, the total is divided by the
 * maxima. It is not above their sum.
 */
export function divideWithin(total: number, weights: readonly number[], mosts: readonly number[]): number[] {
  const parts = divideTokens(total, weights)
  return parts.every((part, index) => part <= (mosts[index] ?? 0)) ? parts : divideTokens(total, mosts)
}
