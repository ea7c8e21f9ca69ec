import { systemClock } from '#runtime/clock.ts'
import { uuidv7Identifiers } from '#runtime/identifiers.ts'
import type { MoneyOutside } from '#request/money/admission.ts'
import { Leases } from '#request/money/leases.ts'
import { MemoryBooks } from '#test/support/stores/books.ts'
import { MemoryLedger } from '#test/support/stores/ledger.ts'
import { MemoryLimiter } from '#stores/memory/limiter.ts'

/** The dependencies of admission, all in memory and real. */
export function memoryMoney(): MoneyOutside & { readonly books: MemoryBooks; readonly nodeId: string } {
  const identifiers = uuidv7Identifiers(systemClock)
  const nodeId = identifiers.next()
  const books = new MemoryBooks(systemClock)
  // Nothing in it waits: the node is known before the next line runs.
  void books.startNode({ id: nodeId })
  return {
    books,
    nodeId,
    ledger: new MemoryLedger(books, nodeId),
    limiter: new MemoryLimiter(systemClock, () => 1),
    leases: new Leases({
      nodeId,
      store: books,
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
