/**
 * A call of an image job is noted in the store of jobs before the ledger's journal has it. So whatever the journal of a dead
 * node holds is known to the job, and a number that the job does not know was never used: it can be bought anew.
 */
import type { LedgerEntry } from '#core/ledger.ts'
import type { Ledger } from '#ports/ledger.ts'

interface CallNote {
  note(attempt: number): Promise<void>
  /** It was noted, and is not sent after all. */
  takeBack(attempt: number): Promise<void>
}

export class CallNotes {
  /** For the admission that begins the calls. */
  readonly ledger: Ledger
  readonly #coming = new Map<string, CallNote>()

  constructor(ledger: Ledger) {
    this.ledger = {
      begin: (open) => this.#begin(open, ledger),
      forget: (requestId, attempt) => ledger.forget(requestId, attempt),
      write: (entries) => ledger.write(entries),
    }
  }

  /** While `begin` runs, the call of this id is noted as soon as it has a number. */
  async during<Result>(callId: string, note: CallNote, begin: () => Promise<Result>): Promise<Result> {
    this.#coming.set(callId, note)
    try {
      return await begin()
    } finally {
      this.#coming.delete(callId)
    }
  }

  async #begin(open: LedgerEntry, ledger: Ledger): Promise<void> {
    const note = this.#coming.get(open.callId)
    await note?.note(open.attempt)
    try {
      await ledger.begin(open)
    } catch (error) {
      await note?.takeBack(open.attempt)
      throw error
    }
  }
}
