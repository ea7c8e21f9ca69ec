/** Writes into the ledger what dead nodes left on this disk: their spool, their open calls, their leases. */
import type { LedgerStore, OpenCall, Spool } from '#ports/ledger.ts'
import { handOver, type RefusalEvents } from './hand-over.ts'

/** What a dead node left behind, locked so that no other process recovers it at the same time. */
export interface DeadNode {
  readonly nodeId: string
  readonly spool: Spool
  readonly openCalls: { readonly calls: readonly OpenCall[]; readonly damagedLines: number }
  discard(): void
  release(): void
}

export interface Recovery {
  readonly nodeId: string
  readonly spooled: number
  readonly openCalls: number
  readonly damagedLines: number
}

/** Rejects when the store becomes unreachable. The rest is left for the next time; repeating it changes nothing. */
export async function recover(
  left: Iterable<DeadNode>,
  store: LedgerStore,
  events: RefusalEvents,
): Promise<Recovery[]> {
  const recovered: Recovery[] = []
  for (const dead of left) {
    const { nodeId, spool } = dead
    const { calls, damagedLines } = dead.openCalls
    let spooled = 0
    try {
      // The spool comes before the open calls: a call whose end is in the spool is not unknown.
      await spool.drain((entries) => {
        spooled += entries.length
        return handOver(nodeId, entries, { store, events })
      })
      await store.endNode(nodeId, calls)
    } catch (error) {
      dead.release()
      throw error
    }
    dead.discard()
    recovered.push({ nodeId, spooled, openCalls: calls.length, damagedLines })
  }
  return recovered
}
