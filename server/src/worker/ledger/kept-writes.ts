/** Entries of begun calls that neither store nor spool accepted. They wait in memory until either does. */
import type { LedgerEntry } from '#core/money/ledger.ts'
import type { Journal } from '#ports/ledger.ts'

export interface KeptWrite {
  readonly entries: readonly LedgerEntry[]
  /** Called once they are written. */
  readonly writtenLate: (() => void) | undefined
}

export class KeptWrites {
  readonly #journal: Journal
  readonly #waiting: KeptWrite[] = []

  constructor(journal: Journal) {
    this.#journal = journal
  }

  get size(): number {
    return this.#waiting.length
  }

  /**
   * Entries without a call are dropped: their answers did not leave. If this process ends before the others
   * are written, the journal turns their calls into unknowns.
   */
  keep(writes: readonly KeptWrite[]): void {
    const isBegun = ({ requestId, attempt }: LedgerEntry): boolean => this.#journal.has(requestId, attempt)
    for (const { entries, writtenLate } of writes)
      if (entries.some(isBegun)) this.#waiting.push({ entries: entries.filter(isBegun), writtenLate })
  }

  /** Rejects with the first rejection of `append`; the rest stays. */
  async write(append: (entries: readonly LedgerEntry[]) => Promise<void>): Promise<void> {
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      try {
        await append(next.entries)
      } catch (error) {
        this.#waiting.unshift(next)
        throw error
      }
      for (const { requestId, attempt } of next.entries) this.#journal.close(requestId, attempt)
      next.writtenLate?.()
    }
  }
}
