/** Stores what this node saw, for every node to know. */
import type { ProbeResult, SpaceStore } from '#ports/spaces.ts'
import { StoreUnreachable } from '#ports/store.ts'
import type { Recorded } from './good-checks.ts'
import type { SpaceKnowledge } from './knowledge.ts'

/** What was stored. Rejects when the store is unreachable: what is left is stored later. */
export async function recordSeen(
  known: SpaceKnowledge,
  store: SpaceStore,
  onTrouble: (error: unknown) => void,
): Promise<Recorded> {
  const written = async (writing: Promise<void>): Promise<boolean> => {
    try {
      await writing
      return true
    } catch (error) {
      if (error instanceof StoreUnreachable) throw error
      // A defect: what was seen still counts here, and does not hold up other things.
      onTrouble(error)
      return false
    }
  }
  // First: a suspect window begins after the last good probe.
  const good = known.good.all
  if (good.length > 0) await written(store.recordGood(good))
  const results = new Set<ProbeResult>()
  for (const result of known.unrecorded) if (await written(store.record(result))) results.add(result)
  return { good, results }
}
