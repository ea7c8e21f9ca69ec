/** The result of an embeddings request, as the listener writes it and the log records it. */
import type { EmbeddingModel } from '#core/catalog/catalog.ts'
import { chargedUse } from '#core/embedding/content-use.ts'
import { pick, type Input } from '#core/embedding/input.ts'
import type { Offer } from '#core/embedding/negotiate.ts'
import type { TypeView } from '#core/embedding/vector-types/view.ts'
import type { Vector } from '#core/embedding/vector.ts'
import type { RateState } from '#core/limits/limit.ts'
import type { UnconfirmedVectors } from '#core/money/entry-remarks.ts'
import { costOf } from '#core/money/price.ts'
import type { SavedCall } from '../money/call.ts'
import { emulatedIn, type GatheredVectors, type Hit, type ServedInputs } from './served.ts'
import type { SharingRules } from './shared-vectors.ts'
import { partUseOf, type TokenContext } from './tokens.ts'
import type { RequestUsage } from './usage.ts'

export interface EmbedResult {
  readonly kind: 'embedded'
  readonly model: EmbeddingModel
  /** Float32, or the numbers of a type that the upstream made. */
  readonly vectors: readonly Vector[]
  /** The types in which they are written. Undefined: float. */
  readonly views?: readonly TypeView[] | undefined
  readonly usage: RequestUsage
  /** The state of the caller's rate limits. */
  readonly rates: readonly RateState[]
  /**
   * The name of the vectors' space. Undefined when a field of unknown effect may have changed the vectors, or
   * when this node does not know the space yet.
   */
  readonly space: string | undefined
  /**
   * The space that the deployments are checked against, also when a field of unknown effect leaves the
   * vectors without a name.
   */
  readonly guardedSpace: string | undefined
  readonly width: number
  readonly attempts: number
  /** Ids of the deployments that served it, and `CACHE` where there were hits. */
  readonly deployments: readonly string[]
  /** The calls that served it. */
  readonly served: readonly ServedInputs[]
  readonly hits: readonly Hit[]
  readonly emulated: readonly string[]
  readonly dropped: readonly string[]
  /** How many inputs needed no call, and how many did. Undefined where nothing is shared. */
  readonly cache: { readonly hits: number; readonly misses: number } | undefined
  /** Extra top-level fields of the upstream's answer, kept only when one call served the request. */
  readonly extraFields: Readonly<Record<string, unknown>>
}

/** Listed among the deployments for vectors that needed no call. */
const CACHE = 'cache'

export function resultOf(
  gathered: GatheredVectors,
  first: Offer,
  known: Pick<
    EmbedResult,
    'model' | 'usage' | 'rates' | 'space' | 'guardedSpace' | 'views' | 'attempts' | 'dropped'
  >,
  isShared: boolean,
): EmbedResult {
  const { served, hits, slots } = gathered
  const only = served.length === 1 && hits.length === 0 ? served[0] : undefined
  return {
    kind: 'embedded',
    model: known.model,
    vectors: gathered.vectors,
    usage: known.usage,
    rates: known.rates,
    space: known.space,
    guardedSpace: known.guardedSpace,
    views: known.views,
    attempts: known.attempts,
    width: first.width,
    deployments: only === undefined ? deploymentsOf(served, hits.length > 0) : [only.offer.deployment.id],
    served,
    hits,
    emulated: emulatedIn(gathered, first),
    dropped: known.dropped,
    cache: isShared ? cacheCounts(slots, hits) : undefined,
    extraFields: only?.answer.extraFields ?? NO_FIELDS,
  }
}

/** The deployments that made the vectors, and the cache. */
function deploymentsOf(served: readonly ServedInputs[], hasHits: boolean): readonly string[] {
  return [...new Set([...served.map(({ offer }) => offer.deployment.id), ...(hasHits ? [CACHE] : [])])]
}

function cacheCounts(
  slots: readonly number[],
  hits: readonly { readonly slot: number }[],
): { readonly hits: number; readonly misses: number } {
  const known = new Set(hits.map(({ slot }) => slot))
  const found = slots.filter((slot) => known.has(slot)).length
  return { hits: found, misses: slots.length - found }
}

/**
 * What the hits would have cost at the deployments that made them, or, for deployments that are gone, at the
 * first offer.
 */
export function savedBy(
  { hits, slots }: GatheredVectors,
  input: Input,
  offers: readonly Offer[],
  { model, outside }: TokenContext,
): SavedCall {
  const byOffer = Map.groupBy(
    hits,
    ({ deployment }) => offers.find((offer) => offer.deployment.id === deployment) ?? (offers[0] as Offer),
  )
  let savedNanoUsd = 0n
  for (const [{ deployment }, own] of byOffer) {
    const tokens = own.reduce((sum, hit) => sum + hit.tokens, 0)
    const found = pick(
      input,
      own.map(({ slot }) => slots.indexOf(slot)),
    )
    const likely = partUseOf(found, model, outside.bytesOf, deployment, 'likely')
    const use = likely && chargedUse({ kind: 'estimated', tokens }, likely)
    const cost = costOf(deployment.price, tokens, use)
    if (cost.kind === 'known') savedNanoUsd += cost.nanoUsd
  }
  return { hits: cacheCounts(slots, hits).hits, savedNanoUsd }
}

/** The hits that no good check has confirmed, by the deployment that made them. Undefined: there are none. */
export function unconfirmedIn(
  { hits }: Pick<GatheredVectors, 'hits'>,
  sharing: Pick<SharingRules, 'isConfirmed'> | undefined,
): readonly UnconfirmedVectors[] | undefined {
  const some = hits.filter(({ deployment, madeAtMs }) => sharing?.isConfirmed(deployment, madeAtMs) === false)
  if (some.length === 0) return undefined
  return Array.from(
    Map.groupBy(some, ({ deployment }) => deployment),
    ([deployment, made]) => ({
      deployment,
      fromMs: Math.min(...made.map(({ madeAtMs }) => madeAtMs)),
      untilMs: Math.max(...made.map(({ madeAtMs }) => madeAtMs)),
      vectors: made.length,
    }),
  )
}

const NO_FIELDS: Readonly<Record<string, unknown>> = Object.freeze({})
