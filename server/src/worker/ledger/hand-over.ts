/** Hands entries that waited on a disk over to the store. */
import type { LedgerEntry } from '#core/money/ledger.ts'
import { EntriesRefused, type LedgerStore } from '#ports/ledger.ts'

export interface RefusalEvents {
  /** The store refused this entry for its content, also alone. It is set aside, and waits for a retry. */
  refused(entry: LedgerEntry, error: Error): void
}

interface HandOverParts {
  readonly store: Pick<LedgerStore, 'appendLate' | 'setAside'>
  readonly events: RefusalEvents
}

/** An entry that the store refuses twice, the second time alone, is set aside: it must not hold up the others. */
export async function handOver(
  nodeId: string,
  entries: readonly LedgerEntry[],
  { store, events }: HandOverParts,
): Promise<void> {
  if ((await refusalBy(store.appendLate(nodeId, entries))) === undefined) return
  for (const entry of entries) {
    const refusal = await refusalBy(store.appendLate(nodeId, [entry]))
    if (refusal === undefined) continue
    await store.setAside(nodeId, entry, refusal.message)
    events.refused(entry, refusal)
  }
}

/** Undefined: it wrote them. */
async function refusalBy(writing: Promise<void>): Promise<EntriesRefused | undefined> {
  try {
    await writing
    return undefined
  } catch (error) {
    if (error instanceof EntriesRefused) return error
    throw error
  }
}
