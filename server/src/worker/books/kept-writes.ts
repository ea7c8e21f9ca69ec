/** Entries of begun calls that neither store nor spool took. They wait in memory until either does. */
import type { LedgerEntry } from '#core/ledger.ts'
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
   * Entries without a call are forgotten: their answers did not leave. Should this process end before the others are written, the
   * journal brings their calls back as unknowns.
   */
  keep(writes: readonly KeptWrite[]): void {
    const isBegun = ({ requestId, attempt }: LedgerEntry): boolean => this.#journal.has(requestId, attempt)
    for (const { entries, writtenLate } of writes)
      if (entries.some(isBegun)) this.#waiting.push({ entries: entries.filter(isBegun), writtenLate })
  }

  /** Rejects with the first rejection of `append`; what is left stays. */
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
