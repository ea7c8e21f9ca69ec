import type { LedgerEntry } from '#core/money/ledger.ts'
import type { Ledger } from '#ports/ledger.ts'
import type { MemoryBooks } from './books.ts'

/** The ledger of a node that keeps nothing: what dies with the process needs no journal, and stands as soon as it is noted. */
export class MemoryLedger implements Ledger {
  readonly #books: MemoryBooks
  readonly #nodeId: string

  constructor(books: MemoryBooks, nodeId: string) {
    this.#books = books
    this.#nodeId = nodeId
  }

  begin(): undefined {}

  forget(): void {}

  write(entries: readonly LedgerEntry[]): Promise<void> | undefined {
    try {
      this.#books.add(this.#nodeId, entries)
      return undefined
    } catch (error) {
      return Promise.reject(error)
    }
  }
}
