/** What dead nodes left on this disk is put into the books: their spool, then their open calls, then their leases. */
import type { LedgerStore, OpenCall, Spool } from '#ports/ledger.ts'
import { handOver, type LedgerEvents } from './batched-ledger.ts'

/** What a dead node left behind, held so that nobody else takes it up at the same time. */
export interface LeftBehind {
  readonly nodeId: string
  readonly spool: Spool
  readonly openCalls: { readonly calls: readonly OpenCall[]; readonly damagedLines: number }
  discard(): void
  release(): void
}

export interface Recovered {
  readonly nodeId: string
  readonly spooled: number
  readonly openCalls: number
  readonly damagedLines: number
}

/** Rejects when the store goes away; what was not finished is left for the next time, and repeating it changes nothing. */
export async function recover(
  left: Iterable<LeftBehind>,
  store: LedgerStore,
  events: LedgerEvents,
): Promise<Recovered[]> {
  const recovered: Recovered[] = []
  for (const dead of left) {
    const { nodeId, spool } = dead
    const { calls, damagedLines } = dead.openCalls
    const spooled = spool.waiting
    try {
      // First what it knew, then what nobody knows: a call whose end waits in the spool is no unknown.
      await spool.drain((entries) => handOver(nodeId, entries, { store, spool, events }))
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
