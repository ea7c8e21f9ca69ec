/**
 * Texts in, vectors out, in order: equal texts once, those that are known already from the cache or from another request that
 * waits for them, and the rest from deployments.
 */
import { dedupe } from '#core/embedding/batches.ts'
import { inputCount, pick, type Input } from '#core/embedding/input.ts'
import type { Vector } from '#core/embedding/vector.ts'
import { Fault } from '#core/fault/fault.ts'
import { serve, type Served, type Serving } from './serve.ts'
import { fromOffer, gatherShared, type Hit, type Sharing } from './shared-vectors.ts'

export interface Gathering extends Omit<Serving, 'placeOf'> {
  readonly input: Input
  /** Undefined: this request shares nothing with others. */
  readonly sharing: Sharing | undefined
}

export interface Gathered {
  /** One vector per input, in order, at the width of the answer. */
  readonly vectors: readonly Vector[]
  /** For each input, which distinct input it equals. */
  readonly slots: readonly number[]
  readonly served: readonly Served[]
  readonly hits: readonly Hit[]
}

const ONE_SLOT = [0] as const
const NO_HITS: readonly Hit[] = []

export async function gather(gathering: Gathering): Promise<Gathered> {
  const { input, wholeBecauseOf, sharing } = gathering
  const count = inputCount(input)
  if (count === 1) return gatherOne(gathering)
  const { firsts, slots } =
    wholeBecauseOf === undefined ? dedupe(input) : { firsts: [...countTo(count)], slots: [...countTo(count)] }
  const distinct = firsts.length === count ? input : pick(input, firsts)
  if (gathering.isLarge) await gathering.outside.nextTurn()
  const serving: Serving = { ...gathering, placeOf: (slot) => firsts[slot] ?? slot }
  if (sharing !== undefined) {
    const { vectors, served, hits } = await gatherShared(serving, sharing, distinct)
    return { vectors: slots.map((slot) => vectors[slot] as Vector), slots, served, hits }
  }
  const served = await serve(serving, distinct, [...countTo(firsts.length)])
  const bySlot = Array.from<Vector>({ length: firsts.length })
  for (const { offer, answer, slots: own } of served) {
    for (const [position, slot] of own.entries())
      bySlot[slot] = fromOffer(answer.vectors[position] as Vector, offer)
  }
  return { vectors: slots.map((slot) => bySlot[slot] as Vector), slots, served, hits: NO_HITS }
}

/** One input, the most common request: nothing to dedupe, to split or to join. */
async function gatherOne(gathering: Gathering): Promise<Gathered> {
  const { input, sharing } = gathering
  const serving: Serving = { ...gathering, placeOf: (slot) => slot }
  if (sharing !== undefined) {
    const { vectors, served, hits } = await gatherShared(serving, sharing, input)
    return { vectors, slots: ONE_SLOT, served, hits }
  }
  const served = await serve(serving, input, ONE_SLOT)
  const [only] = served
  if (only === undefined) throw new Fault('internal_error', 'No call served the request.')
  return {
    vectors: [fromOffer(only.answer.vectors[0] as Vector, only.offer)],
    slots: ONE_SLOT,
    served,
    hits: NO_HITS,
  }
}

function countTo(count: number): Iterable<number> {
  return Array.from({ length: count }).keys()
}
