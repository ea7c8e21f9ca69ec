/**
 * Texts in, vectors out, in order. Equal texts are fetched once; known ones come from the cache or from
 * another request that already waits for them; deployments make the rest.
 */
import { dedupe } from '#core/embedding/batches.ts'
import { inputCount, pick } from '#core/embedding/input.ts'
import type { Vector } from '#core/embedding/vector.ts'
import type { AdmittedRequest } from './admitted-request.ts'
import { gatherAlone, turnAlone, type GatherRequest } from './gather-alone.ts'
import { serve } from './serve.ts'
import { NO_HITS, ONE_SLOT, placeVectors, servedOne, type GatheredVectors } from './served.ts'
import { gatherShared } from './shared-vectors.ts'

export function gather(asked: GatherRequest): Promise<GatheredVectors> {
  if (inputCount(asked.input) !== 1) return gatherSeveral(asked)
  const turn = turnAlone(asked)
  return turn === undefined ? gatherOne(asked) : gatherAlone(asked, turn)
}

async function gatherSeveral(asked: GatherRequest): Promise<GatheredVectors> {
  const { input, wholeBecauseOf, sharing } = asked
  const count = inputCount(input)
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

/** One input: nothing to dedupe, to split or to join. */
async function gatherOne(asked: GatherRequest): Promise<GatheredVectors> {
  const { input, sharing } = asked
  if (sharing !== undefined) {
    const { vectors, served, hits } = await gatherShared(asked, sharing, input)
    return { vectors, slots: ONE_SLOT, served, hits }
  }
  return servedOne(await serve(asked, input, ONE_SLOT))
}

/** The index of a distinct input in the request while no two inputs are known to be equal. */
export function sameSlot(slot: number): number {
  return slot
}

function countTo(count: number): Iterable<number> {
  return Array.from({ length: count }).keys()
}
