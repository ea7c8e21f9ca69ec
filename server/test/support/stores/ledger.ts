import type { LedgerEntry } from '#core/money/ledger.ts'
import type { Ledger } from '#ports/ledger.ts'
import type { MemoryLedgerStore } from './ledger-store.ts'

/** The ledger of a node that keeps nothing: what dies with the process needs no journal, and stands as soon as it is noted. */
export class MemoryLedger implements Ledger {
  readonly #memory: MemoryLedgerStore
  readonly #nodeId: string

  constructor(memory: MemoryLedgerStore, nodeId: string) {
    this.#memory = memory
    this.#nodeId = nodeId
  }

  begin(): undefined {}

  forget(): void {}

  write(entries: readonly LedgerEntry[]): Promise<void> | undefined {
    try {
      this.#memory.add(this.#nodeId, entries)
      return undefined
    } catch (error) {
      return Promise.reject(error)
    }
  }
}
