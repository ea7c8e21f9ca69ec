/** Stores what this node saw, for every node to know. */
import type { ProbeResult, SpaceStore } from '#ports/spaces.ts'
import { StoreUnreachable } from '#ports/store.ts'
import type { SpaceKnowledge } from './knowledge.ts'

/** The results that were stored. Rejects when the store is unreachable: what is left is stored later. */
export async function recordSeen(
  known: SpaceKnowledge,
  store: SpaceStore,
  onTrouble: (error: unknown) => void,
): Promise<ReadonlySet<ProbeResult>> {
  // First: a suspect window begins after the last good ride.
  await recordRides(known, store, onTrouble)
  const written = new Set<ProbeResult>()
  for (const result of known.unrecorded) {
    try {
      await store.record(result)
      written.add(result)
    } catch (error) {
      if (error instanceof StoreUnreachable) throw error
      // A defect: the result still counts here, and does not hold up others.
      onTrouble(error)
    }
  }
  return written
}

async function recordRides(
  { rides }: SpaceKnowledge,
  store: SpaceStore,
  onTrouble: (error: unknown) => void,
): Promise<void> {
  const taken = rides.take()
  if (taken.length === 0) return
  try {
    await store.recordRides(taken)
  } catch (error) {
    if (!(error instanceof StoreUnreachable)) return onTrouble(error)
    rides.putBack(taken)
    throw error
  }
}
