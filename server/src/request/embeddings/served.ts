/** The result of a request: the inputs that calls served, the vectors that needed no call, and all of them in order. */
import type { Offer } from '#core/embedding/negotiate.ts'
import { truncate, valuesOf, type Vector } from '#core/embedding/vector.ts'
import { Fault } from '#core/fault/fault.ts'
import type { Usage } from '#core/money/usage.ts'
import type { EmbeddingAnswer } from '#ports/upstream.ts'

export type KnownUsage = Exclude<Usage, { readonly kind: 'unknown' }>

/** An answer whose usage is known, at least by our own estimate. */
export interface AccountedAnswer extends EmbeddingAnswer {
  readonly usage: KnownUsage
}

/** The inputs that one call served. */
export interface ServedInputs {
  readonly offer: Offer
  /** Slots of the distinct inputs, in the order of the call. */
  readonly slots: readonly number[]
  readonly answer: AccountedAnswer
}

/** A vector that cost nothing now. */
export interface Hit {
  readonly slot: number
  readonly tokens: number
  /** The deployment that made it, and when. */
  readonly deployment: string
  readonly madeAtMs: number
  /** Torana cut it, because its upstream ignored `dimensions`. */
  readonly isCut?: boolean | undefined
}

export interface GatheredVectors {
  /** One vector per input, in order, at the width of the answer. */
  readonly vectors: readonly Vector[]
  /** For each input, the slot of the distinct input that it equals. */
  readonly slots: readonly number[]
  readonly served: readonly ServedInputs[]
  readonly hits: readonly Hit[]
}

/** What Torana did itself for a request: what it offered to do, and truncation that an upstream should have done. */
export function emulatedIn(
  { served, hits }: Pick<GatheredVectors, 'served' | 'hits'>,
  first: Offer,
): readonly string[] {
  const [one, ...others] = served
  if (one !== undefined && others.length === 0 && hits.length === 0 && !one.answer.isFullWidth)
    return one.offer.emulated
  const offers = one === undefined ? [first] : served.map(({ offer }) => offer)
  const isCut = served.some(({ answer }) => answer.isFullWidth) || hits.some((hit) => hit.isCut)
  const names = offers.flatMap(({ emulated }) => emulated)
  return [...new Set(isCut ? [...names, 'dimensions'] : names)]
}

export const ONE_SLOT = [0] as const
export const NO_HITS: readonly Hit[] = []

/** The result of a request with one input. */
export function servedOne(served: readonly ServedInputs[]): GatheredVectors {
  const [only] = served
  if (only === undefined) throw new Fault('internal_error', 'No call served the request.')
  return {
    vectors: [fromOffer(only.answer.vectors[0] as Vector, only.offer)],
    slots: ONE_SLOT,
    served,
    hits: NO_HITS,
  }
}

/** Puts the vectors of calls into their slots, at the width of the answer. */
export function placeVectors(served: readonly ServedInputs[], bySlot: (Vector | undefined)[]): void {
  for (const { offer, slots, answer } of served)
    for (const [position, slot] of slots.entries())
      bySlot[slot] = fromOffer(answer.vectors[position] as Vector, offer)
}

/** A vector of a call at the width of the answer. */
function fromOffer(vector: Vector, { width, upstreamWidth }: Offer): Vector {
  return width === upstreamWidth ? vector : narrowed(vector, width)
}

/** Returns the same bits where nothing has to be truncated. */
export function narrowed(vector: Vector, width: number): Vector {
  const values = valuesOf(vector)
  return values.length === width ? vector : { form: 'float32', values: truncate(values, width) }
}
