import { systemClock } from '#runtime/clock.ts'
import { uuidv7Identifiers } from '#runtime/identifiers.ts'
import type { MoneyOutside } from '#request/money/admission.ts'
import { Leases } from '#request/money/leases.ts'
import { MemoryLedgerStore } from '#test/support/stores/ledger-store.ts'
import { MemoryLedger } from '#test/support/stores/ledger.ts'
import { MemoryLimiter } from '#stores/memory/limiter.ts'

/** The dependencies of admission, all in memory and real. */
export function memoryMoney(): MoneyOutside & {
  readonly memory: MemoryLedgerStore
  readonly nodeId: string
} {
  const identifiers = uuidv7Identifiers(systemClock)
  const nodeId = identifiers.next()
  const memory = new MemoryLedgerStore(systemClock)
  // Nothing in it waits: the node is known before the next line runs.
  void memory.startNode({ id: nodeId })
  return {
    memory,
    nodeId,
    ledger: new MemoryLedger(memory, nodeId),
    limiter: new MemoryLimiter(systemClock, () => 1),
    leases: new Leases({
      nodeId,
      store: memory,
      clock: systemClock,
      identifiers,
      liveNodes: () => 1,
      budgetInForce: () => undefined,
      isStoreUnreachable: () => false,
    }),
    underBudget: () => {},
    bytesOf: (text) => Buffer.byteLength(text),
    unsettled: (_, error) => {
      throw error
    },
  }
}
