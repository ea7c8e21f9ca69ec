/** The money that one request holds of hard budgets: reserved, given to calls, and released to the budgets it came from. */
import type { Budget } from '#core/money/budget.ts'
import { momentOf } from '#core/money/ledger.ts'
import type { Leases } from './leases.ts'

/** An amount in each of these budgets. */
export interface Leased {
  readonly budgets: readonly Budget[]
  readonly nanoUsd: bigint
}

export class HeldMoney {
  readonly #leases: Leases
  readonly #requestId: string
  #budgets: readonly Budget[]
  /** Reserved in each budget and not yet given to a call. */
  #freeNanoUsd = 0n
  #hasEnded = false

  constructor(leases: Leases, budgets: readonly Budget[], requestId: string) {
    this.#leases = leases
    this.#budgets = budgets
    this.#requestId = requestId
  }

  /** The hard budgets in force at the last look. */
  get budgets(): readonly Budget[] {
    return this.#budgets
  }

  /** Pays calls from these budgets from here on. Money reserved in others goes back to them. */
  follow(budgets: readonly Budget[]): void {
    const before = this.#budgets
    const isSame = budgets.length === before.length && budgets.every((one, place) => one === before[place])
    if (isSame) return
    const free = this.#freeNanoUsd
    this.#freeNanoUsd = 0n
    this.#budgets = budgets
    this.release({ budgets: before, nanoUsd: free })
  }

  /** Reserves in each budget, or in none. */
  async setAside(nanoUsd: bigint): Promise<void> {
    const budgets = this.#budgets
    await this.#reserve({ budgets, nanoUsd })
    this.giveBack({ budgets, nanoUsd })
  }

  /**
   * Takes reserved money first and the rest from the budgets. The reserved money is taken before the first
   * wait: the request may end meanwhile.
   */
  async take(nanoUsd: bigint): Promise<Leased> {
    const budgets = this.#budgets
    const free = this.#freeNanoUsd < nanoUsd ? this.#freeNanoUsd : nanoUsd
    this.#freeNanoUsd -= free
    if (free < nanoUsd) {
      try {
        await this.#reserve({ budgets, nanoUsd: nanoUsd - free })
      } catch (error) {
        this.giveBack({ budgets, nanoUsd: free })
        throw error
      }
    }
    return { budgets, nanoUsd }
  }

  /** The next call may have it, unless the request has ended or other budgets are in force by now. */
  giveBack(leased: Leased): void {
    if (this.#hasEnded || leased.budgets !== this.#budgets) this.release(leased)
    else this.#freeNanoUsd += leased.nanoUsd
  }

  release({ budgets, nanoUsd }: Leased): void {
    for (const budget of budgets) this.#leases.release(budget, this.#atMs(), nanoUsd)
  }

  /** Ends the request: money that no call has taken is released; calls in progress keep theirs. */
  end(): void {
    this.#hasEnded = true
    const nanoUsd = this.#freeNanoUsd
    this.#freeNanoUsd = 0n
    this.release({ budgets: this.#budgets, nanoUsd })
  }

  /** The time that decides on the window of a budget: that of the request, not of its end. */
  #atMs(): number {
    return momentOf(this.#requestId)
  }

  async #reserve({ budgets, nanoUsd }: Leased): Promise<void> {
    const atMs = this.#atMs()
    const done: Budget[] = []
    try {
      for (const budget of budgets) {
        await this.#leases.reserve(budget, atMs, nanoUsd)
        done.push(budget)
      }
    } catch (error) {
      for (const budget of done) this.#leases.release(budget, atMs, nanoUsd)
      throw error
    }
  }
}
