/** What contents use: upper bounds to reserve, estimates where an upstream does not count, and the shares of each kind. */
import type { ContentCapabilities } from '../catalog/content-capabilities.ts'
import type { EmbeddingFacts } from '../catalog/catalog.ts'
import { addUse, usedKinds, type KindUse, type PartUse } from '../money/part-use.ts'
import { divideTokens, type TokensByKind, type Usage } from '../money/usage.ts'
import {
  hasAddress,
  isText,
  type Content,
  type MediaPart,
  type Part,
  type PartKind,
} from '../content/content.ts'

/** How the tokens of texts are counted: every byte may be one, or four bytes are one. */
export type Counting = 'most' | 'likely'

/** Bytes of a token of English text. */
const BYTES_PER_TOKEN = 4

/** Tokens that a part of unknown length may have where the model's limit is not known: that of the longest known model. */
const UNKNOWN_TOKENS = 131_072

export interface UseRules {
  readonly facts: Pick<EmbeddingFacts, 'maxInputTokens' | 'mediaTokens'>
  /** Bounds of what is not known of a part. Undefined where several deployments differ. */
  readonly contents: Pick<ContentCapabilities, 'maxSeconds' | 'maxPages'> | undefined
  readonly bytesOf: (text: string) => number
}

export function usedBy(contents: readonly Content[], rules: UseRules, counting: Counting): PartUse {
  let use: PartUse = {}
  for (const content of contents) use = addUse(use, usedByContent(content, rules, counting))
  return use
}

/** No kind has more tokens than the model reads of one input. */
export function usedByContent({ parts }: Content, rules: UseRules, counting: Counting): PartUse {
  let use: PartUse = {}
  for (const part of parts) use = addUse(use, { [part.kind]: usedByPart(part, rules, counting) })
  const { maxInputTokens = Infinity } = rules.facts
  return Object.fromEntries(
    usedKinds(use).map(([kind, { tokens, count }]) => [
      kind,
      { tokens: Math.min(tokens, maxInputTokens), count },
    ]),
  )
}

/** Tokens of all kinds together. */
export function tokensIn(use: PartUse): number {
  return usedKinds(use).reduce((sum, [, { tokens }]) => sum + tokens, 0)
}

function usedByPart(part: Part, rules: UseRules, counting: Counting): KindUse {
  if (isText(part)) {
    const bytes = rules.bytesOf(part.text)
    return {
      tokens: counting === 'most' ? bytes : Math.max(1, Math.ceil(bytes / BYTES_PER_TOKEN)),
      count: part.text.length,
    }
  }
  const { maxInputTokens = UNKNOWN_TOKENS } = rules.facts
  // What the upstream fetches itself has an unknown length.
  if (hasAddress(part))
    return { tokens: maxInputTokens, count: part.kind === 'image' ? 1 : longestOf(part.kind, rules) }
  return {
    tokens: Math.min(mediaTokens(part, rules) ?? maxInputTokens, maxInputTokens),
    count: countOf(part, rules),
  }
}

/** Undefined when it is not known. */
function mediaTokens({ kind, media }: MediaPart, { facts }: UseRules): number | undefined {
  const { pixelsPerToken, maxPerImage, perAudioSecond, perVideoSecond, perPage } = facts.mediaTokens ?? {}
  switch (kind) {
    case 'image': {
      const { width, height } = media
      const isKnown = pixelsPerToken !== undefined && width !== undefined && height !== undefined
      const byPixels = isKnown ? Math.ceil((width * height) / pixelsPerToken) : undefined
      return byPixels === undefined ? maxPerImage : Math.min(byPixels, maxPerImage ?? Infinity)
    }
    case 'audio':
      return times(media.seconds, perAudioSecond)
    case 'video':
      return times(media.seconds, perVideoSecond)
    case 'file':
      return times(media.pages, perPage)
  }
}

function times(amount: number | undefined, each: number | undefined): number | undefined {
  return amount === undefined || each === undefined ? undefined : Math.ceil(amount * each)
}

function countOf({ kind, media }: MediaPart, rules: UseRules): number | undefined {
  switch (kind) {
    case 'image':
      return 1
    case 'audio':
    case 'video':
      return media.seconds === undefined ? longestOf(kind, rules) : Math.ceil(media.seconds)
    case 'file':
      return media.pages ?? longestOf(kind, rules)
  }
}

/** The longest that the deployment takes stands in for an unknown length. */
function longestOf(kind: PartKind, { contents }: UseRules): number | undefined {
  return kind === 'file' ? contents?.maxPages : contents?.maxSeconds
}

/**
 * What a call used, from the tokens that it is charged: by the upstream's own count of each kind or, where it counts all
 * together, divided by our estimate.
 */
export function chargedUse(usage: Exclude<Usage, { readonly kind: 'unknown' }>, likely: PartUse): PartUse {
  const byKind = tokensByKind(usage, likely)
  return Object.fromEntries(
    Object.entries(byKind).map(([kind, tokens]) => [
      kind,
      { tokens, count: likely[kind as PartKind]?.count },
    ]),
  )
}

export function tokensByKind(
  usage: Exclude<Usage, { readonly kind: 'unknown' }>,
  likely: PartUse,
): TokensByKind {
  const reported = usage.kind === 'measured' ? usage.byKind : undefined
  if (reported !== undefined && totalOf(reported) === usage.tokens) return withUsedKinds(reported, likely)
  const kinds = usedKinds(likely)
  const tokens = divideTokens(
    usage.tokens,
    kinds.map(([, one]) => one.tokens),
  )
  return Object.fromEntries(kinds.map(([kind], index) => [kind, tokens[index] as number]))
}

/** The tokens of one call, by kind for each of its contents: each kind in proportion to our estimate of that kind. */
export function tokensOfContents(
  usage: Exclude<Usage, { readonly kind: 'unknown' }>,
  likely: readonly PartUse[],
): readonly TokensByKind[] {
  const whole = tokensByKind(
    usage,
    likely.reduce((sum, use) => addUse(sum, use), {}),
  )
  const each = likely.map((): Partial<Record<PartKind, number>> => ({}))
  for (const [kind, tokens] of Object.entries(whole) as [PartKind, number][]) {
    const weights = likely.map((use) => use[kind]?.tokens ?? 0)
    for (const [index, share] of divideTokens(tokens, weights).entries())
      if (share > 0 || likely[index]?.[kind] !== undefined)
        (each[index] as (typeof each)[number])[kind] = share
  }
  return each
}

export function totalOf(tokens: TokensByKind): number {
  return Object.values(tokens).reduce((sum, count) => sum + count, 0)
}

/** A kind that was sent and has no tokens still counts: it may be charged by number. */
function withUsedKinds(reported: TokensByKind, likely: PartUse): TokensByKind {
  return { ...Object.fromEntries(usedKinds(likely).map(([kind]) => [kind, 0])), ...reported }
}
