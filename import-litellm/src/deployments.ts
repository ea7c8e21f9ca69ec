/** What LiteLLM's routing fields mean for the deployments of one model: order, shares and prices. */
import { numberOf, textOf, type Fields } from './read.ts'
import type { Kind } from './identity.ts'
import type { LimitsDraft, PriceDraft } from './torana-file.ts'

export interface Rank {
  readonly priority: number
  readonly weight: number
}

/**
 * The lowest `order` goes first, none at all last. Among equals LiteLLM draws by `weight`, else by `rpm`, else by `tpm`,
 * whichever is the first that any of them has; who then has none is drawn only when the others are gone.
 */
export function ranksOf(
  group: readonly { readonly params: Fields; readonly info: Fields }[],
  drawsByRate: boolean,
): Rank[] {
  const metrics = drawsByRate ? ['weight', 'rpm', 'tpm'] : ['weight']
  const metric = metrics.find((name) => group.some(({ params }) => (numberOf(params[name]) ?? 0) > 0))
  const steps = group.map(({ params, info }) => {
    const order = numberOf(params['order'] ?? info['order']) ?? Number.POSITIVE_INFINITY
    const share = metric === undefined ? 1 : (numberOf(params[metric]) ?? 0)
    return { order, isDrawn: share > 0, weight: share > 0 ? share : 1 }
  })
  const isBefore = (one: (typeof steps)[number], other: (typeof steps)[number]) =>
    one.order === other.order ? one.isDrawn && !other.isDrawn : one.order < other.order
  const even = new Set(steps.filter(({ isDrawn }) => isDrawn).map(({ weight }) => weight)).size === 1
  return steps.map((step) => {
    const before = new Set(
      steps.filter((other) => isBefore(other, step)).map(({ order, isDrawn }) => `${order} ${isDrawn}`),
    )
    return { priority: before.size, weight: even ? 1 : step.weight }
  })
}

/** Ten thousand times the dearest published model: a higher price is one per million tokens, written as one per token. */
const MAX_USD_PER_MILLION_TOKENS = 10_000

/** Dollars for one token → dollars for a million, shifted as decimal text so that no digit is invented. */
export function priceOf(kind: Kind, params: Fields, info: Fields): PriceDraft | 'unreadable' | undefined {
  if (kind === 'image') return imagePriceOf(params, info)
  const given = params['input_cost_per_token'] ?? info['input_cost_per_token']
  if (given == null) return undefined
  const usd = numberOf(given)
  if (usd === undefined || usd < 0) return 'unreadable'
  if (usd === 0) return 'free'
  const [mantissa = '', exponent = '0'] = (textOf(given) ?? '').toLowerCase().split('e')
  const perMillion = Number(`${mantissa}e${Number(exponent) + 6}`)
  // Torana counts in nano-dollars.
  const rounded = Number(perMillion.toFixed(9))
  return rounded > 0 && rounded <= MAX_USD_PER_MILLION_TOKENS
    ? { usdPerMillionTokens: rounded }
    : 'unreadable'
}

/** Dollars for one image. Prices by tokens have three kinds of them in Torana: the built-in ones are better. */
function imagePriceOf(params: Fields, info: Fields): PriceDraft | 'unreadable' | undefined {
  const fields = ['output_cost_per_image', 'input_cost_per_image']
  const given = [params, info].flatMap((from) => fields.flatMap((field) => from[field] ?? []))[0]
  if (given == null) return undefined
  const usd = numberOf(given)
  if (usd === undefined || usd < 0) return 'unreadable'
  return usd === 0 ? 'free' : { usdPerImage: Number(usd.toFixed(9)) }
}

const MAX_PER_MINUTE = 1_000_000_000

/** The rates of a deployment, where LiteLLM's router refuses what goes beyond them. */
export function limitsOf(params: Fields): LimitsDraft | undefined {
  const rate = (field: string) => {
    const value = numberOf(params[field])
    return value !== undefined && Number.isInteger(value) && value > 0 && value <= MAX_PER_MINUTE
      ? value
      : undefined
  }
  const limits = { requestsPerMinute: rate('rpm'), tokensPerMinute: rate('tpm') }
  return limits.requestsPerMinute === undefined && limits.tokensPerMinute === undefined ? undefined : limits
}
