import type { LedgerEntry } from '#core/ledger.ts'
import type { Ledger } from '#ports/ledger.ts'
import type { MemoryBooks } from './books.ts'

/** The ledger of a node that keeps nothing: what dies with the process needs no journal. */
export class MemoryLedger implements Ledger {
  readonly #books: MemoryBooks
  readonly #nodeId: string

  constructor(books: MemoryBooks, nodeId: string) {
    this.#books = books
    this.#nodeId = nodeId
  }

  begin(): Promise<void> {
    return NOTHING
  }

  forget(): void {}

  write(entries: readonly LedgerEntry[]): Promise<void> {
    return entries.length === 0 ? NOTHING : this.#books.append(this.#nodeId, entries)
  }
}

const NOTHING = Promise.resolve()
