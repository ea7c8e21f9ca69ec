/**
 * Texts in, vectors out, in order. Equal texts are fetched once; known ones come from the cache or from
 * another request that waits for them; deployments make the rest.
 */
import { dedupe } from '#core/embedding/batches.ts'
import { inputCount, pick, type Input } from '#core/embedding/input.ts'
import type { Vector } from '#core/embedding/vector.ts'
import { Fault } from '#core/fault/fault.ts'
import type { AdmittedRequest } from './admitted-request.ts'
import { serve } from './serve.ts'
import { fromOffer, placeVectors, type GatheredVectors, type Hit } from './served.ts'
import { gatherShared, type SharingRules } from './shared-vectors.ts'

/** An admitted request before its equal inputs are found. */
export interface GatherRequest extends Omit<AdmittedRequest, 'placeOf'> {
  readonly input: Input
  /** Undefined: this request shares nothing with others. */
  readonly sharing: SharingRules | undefined
}

const ONE_SLOT = [0] as const
const NO_HITS: readonly Hit[] = []

export async function gather(asked: GatherRequest): Promise<GatheredVectors> {
  const { input, wholeBecauseOf, sharing } = asked
  const count = inputCount(input)
  if (count === 1) return gatherOne(asked)
  const { firsts, slots } =
    wholeBecauseOf === undefined ? dedupe(input) : { firsts: [...countTo(count)], slots: [...countTo(count)] }
  const distinct = firsts.length === count ? input : pick(input, firsts)
  if (asked.isLarge) await asked.outside.yieldLoop()
  const request: AdmittedRequest = { ...asked, placeOf: (slot) => firsts[slot] ?? slot }
  if (sharing !== undefined) {
    const { vectors, served, hits } = await gatherShared(request, sharing, distinct)
    return { vectors: slots.map((slot) => vectors[slot] as Vector), slots, served, hits }
  }
  const served = await serve(request, distinct, [...countTo(firsts.length)])
  const bySlot = Array.from<Vector>({ length: firsts.length })
  placeVectors(served, bySlot)
  return { vectors: slots.map((slot) => bySlot[slot] as Vector), slots, served, hits: NO_HITS }
}

/** One input, the most common request: nothing to dedupe, to split or to join. */
async function gatherOne(asked: GatherRequest): Promise<GatheredVectors> {
  const { input, sharing } = asked
  const request: AdmittedRequest = { ...asked, placeOf: (slot) => slot }
  if (sharing !== undefined) {
    const { vectors, served, hits } = await gatherShared(request, sharing, input)
    return { vectors, slots: ONE_SLOT, served, hits }
  }
  const served = await serve(request, input, ONE_SLOT)
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
