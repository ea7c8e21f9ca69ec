/**
 * Hard budgets as one node sees them: the node leases money from the store, and reserves and releases it in
 * memory. A request that finds enough does not wait. Otherwise the node asks the store once for all waiting
 * requests.
 */
import { windowOf, type Budget, type BudgetWindow } from '#core/money/budget.ts'
import type { BudgetStore, LeaseAnswer } from '#ports/budgets.ts'
import type { Clock, Identifiers } from '#ports/clock.ts'
import { changed, refused, unreachable } from './budget-refusal.ts'

export interface LeaseParts {
  readonly nodeId: string
  readonly store: BudgetStore
  readonly clock: Clock
  readonly identifiers: Identifiers
  readonly liveNodes: () => number
  /** The current budget of this id in the key directory: the same object until it changes. Undefined when there is none. */
  readonly budgetInForce: (budgetId: string) => Budget | undefined
  /** While the store is unreachable nothing is returned: money in a return whose answer is lost can't be spent either. */
  readonly isStoreUnreachable: () => boolean
}

/** Idle time after which a lease is returned: other nodes may need it. */
const IDLE_MS = 1000
/** Time for which the node remembers a refusal: a flood of requests must not become a flood of questions to the store. */
const REFUSAL_MS = 250

interface WaitingRequest {
  readonly amountNanoUsd: bigint
  readonly resolve: () => void
  readonly reject: (fault: unknown) => void
}

interface Lease {
  /** The newest terms. A request that ends brings the terms it began with, and changes nothing. */
  budget: Budget
  /** Windows of two periods may begin at the same moment. They share one lease. */
  window: BudgetWindow
  /** The time of the last request that reserved from it: a moment of the window. */
  atMs: number
  /** Money granted under exactly the terms of `budget`. */
  availableNanoUsd: bigint
  /**
   * Money to be returned: idle, or granted under earlier terms. The limit may have been higher then, or it
   * was higher in between and other nodes have leased the rest. Only the store can decide whether it may
   * still be spent.
   */
  homewardNanoUsd: bigint
  /** The time when money was last taken. A refused request takes none, so it does not keep the lease alive. */
  usedAtMs: number
  readonly waiting: WaitingRequest[]
  /** Whether a question or a return is in progress. Its id is kept until the answer, so that money is granted once. */
  isAsking: boolean
  operation: { readonly id: string; readonly budget: Budget } | undefined
  returning: { readonly operation: string; readonly amountNanoUsd: bigint } | undefined
  refusal:
    | { readonly answer: LeaseAnswer; readonly neededNanoUsd: bigint; readonly untilMs: number }
    | undefined
}

export class Leases {
  readonly #parts: LeaseParts
  readonly #leases = new Map<string, Lease>()

  constructor(parts: LeaseParts) {
    this.#parts = parts
  }

  /** The current budget. A request may bring older terms: its body took long, or its image job began long ago. */
  inForce(budget: Budget): Budget {
    return this.#parts.budgetInForce(budget.id) ?? budget
  }

  /** Reserves money for a request that was accepted at `atMs`. A promise when the node has to ask the store. */
  reserve(budget: Budget, atMs: number, amountNanoUsd: bigint): Promise<void> | undefined {
    const lease = this.#leaseOf(budget, atMs)
    lease.atMs = atMs
    if (!this.#follow(lease, budget)) throw changed(lease)
    const nowMs = this.#parts.clock.monotonicMs()
    if (lease.waiting.length === 0 && lease.availableNanoUsd >= amountNanoUsd) {
      lease.availableNanoUsd -= amountNanoUsd
      lease.usedAtMs = nowMs
      return undefined
    }
    const { refusal } = lease
    if (refusal && nowMs < refusal.untilMs && amountNanoUsd >= refusal.neededNanoUsd) {
      throw refused(lease, amountNanoUsd, refusal.answer)
    }
    return new Promise((resolve, reject) => {
      lease.waiting.push({ amountNanoUsd, resolve, reject })
      if (!lease.isAsking) void this.#ask(lease)
    })
  }

  /** Releases what was reserved under this budget and not spent. */
  release(budget: Budget, atMs: number, amountNanoUsd: bigint): void {
    if (amountNanoUsd === 0n) return
    const lease = this.#leaseOf(budget, atMs)
    this.#follow(lease)
    gain(lease, amountNanoUsd, budget)
    lease.refusal = undefined
    this.#serve(lease)
  }

  /** Gives back leases that no request used for a while. Called several times a second. */
  async returnIdle(): Promise<void> {
    if (this.#parts.isStoreUnreachable()) return
    const nowMs = this.#parts.clock.monotonicMs()
    for (const [id, lease] of this.#leases) {
      if (lease.isAsking || lease.waiting.length > 0) continue
      if (lease.homewardNanoUsd === 0n && nowMs - lease.usedAtMs < IDLE_MS) continue
      if (isEmpty(lease)) {
        // The lease is empty. It is forgotten, or the windows of years would accumulate.
        if (nowMs - lease.usedAtMs >= FORGET_MS) this.#leases.delete(id)
        continue
      }
      await this.#giveBack(lease)
    }
  }

  /** Returns everything that is not reserved, at the end of the node. */
  async returnAll(): Promise<void> {
    for (const lease of this.#leases.values()) if (!lease.isAsking) await this.#giveBack(lease)
  }

  #leaseOf(budget: Budget, atMs: number): Lease {
    const window = windowOf(budget.per, atMs)
    const id = `${budget.id}@${window.startMs}`
    let lease = this.#leases.get(id)
    if (lease === undefined) {
      lease = {
        budget,
        window,
        atMs,
        availableNanoUsd: 0n,
        homewardNanoUsd: 0n,
        usedAtMs: this.#parts.clock.monotonicMs(),
        waiting: [],
        isAsking: false,
        operation: undefined,
        returning: undefined,
        refusal: undefined,
      }
      this.#leases.set(id, lease)
    }
    return lease
  }

  /**
   * Takes over the newest terms. Money granted under others is not spent any more. False when the budget has
   * another period now: its window is another lease, and nothing more is reserved here.
   */
  #follow(lease: Lease, given = lease.budget): boolean {
    const now = this.inForce(given)
    if (now === lease.budget) return true
    const window = windowOf(now.per, lease.atMs)
    const isHere = window.startMs === lease.window.startMs
    const budget = now.hard && isHere ? now : given
    if (budget !== lease.budget) {
      lease.budget = budget
      lease.window = budget === now ? window : windowOf(budget.per, lease.atMs)
      lease.refusal = undefined
      lease.homewardNanoUsd += lease.availableNanoUsd
      lease.availableNanoUsd = 0n
    }
    return isHere || !now.hard
  }

  async #ask(lease: Lease): Promise<void> {
    lease.isAsking = true
    try {
      for (;;) {
        await this.#comeHome(lease)
        const first = this.#serve(lease)
        if (first === undefined) break
        const neededNanoUsd = first.amountNanoUsd - lease.availableNanoUsd
        // If the answer to the last operation was lost, the node repeats that operation first.
        const isRepeated = lease.operation !== undefined
        const { budget } = lease
        const answer = await this.#question(lease, neededNanoUsd)
        // A repeated answer grants what the earlier question needed, not what this one needs.
        const isOther = isRepeated || lease.budget !== budget || lease.homewardNanoUsd > 0n
        if (isOther || answer.grantedNanoUsd >= neededNanoUsd) continue
        // Money that other requests released meanwhile may be enough. Otherwise all that need as much are refused.
        const left = this.#serve(lease)
        if (left === undefined) break
        const atLeast = left.amountNanoUsd
        lease.refusal = {
          answer,
          neededNanoUsd: atLeast,
          untilMs: this.#parts.clock.monotonicMs() + REFUSAL_MS,
        }
        for (const waiting of lease.waiting.splice(0)) {
          if (waiting.amountNanoUsd >= atLeast) waiting.reject(refused(lease, waiting.amountNanoUsd, answer))
          else lease.waiting.push(waiting)
        }
      }
    } catch (cause) {
      for (const { reject } of lease.waiting.splice(0)) reject(unreachable(lease, cause))
    } finally {
      lease.isAsking = false
    }
  }

  /** Serves waiting requests in order. Returns the first that has to keep waiting. */
  #serve(lease: Lease): WaitingRequest | undefined {
    if (!this.#follow(lease)) for (const { reject } of lease.waiting.splice(0)) reject(changed(lease))
    for (let [first] = lease.waiting; first !== undefined; [first] = lease.waiting) {
      if (lease.availableNanoUsd < first.amountNanoUsd) return first
      lease.availableNanoUsd -= first.amountNanoUsd
      lease.usedAtMs = this.#parts.clock.monotonicMs()
      lease.waiting.shift()
      first.resolve()
    }
    return undefined
  }

  async #giveBack(lease: Lease): Promise<void> {
    lease.isAsking = true
    try {
      if (lease.operation !== undefined) await this.#question(lease, 0n)
      lease.homewardNanoUsd += lease.availableNanoUsd
      lease.availableNanoUsd = 0n
      await this.#comeHome(lease)
    } catch {
      // The store is unreachable. The same operation is repeated later, so that it happens once; until then
      // the money counts as leased.
    } finally {
      lease.isAsking = false
      if (lease.waiting.length > 0) void this.#ask(lease)
    }
  }

  /** Asks for money, or repeats a question whose answer was lost. */
  async #question(lease: Lease, neededNanoUsd: bigint): Promise<LeaseAnswer> {
    const { nodeId, store, identifiers, liveNodes } = this.#parts
    this.#follow(lease)
    const { budget, window } = lease
    const asked = (lease.operation ??= { id: identifiers.next(), budget })
    const answer = await store.lease({
      budget,
      window,
      nodeId,
      operation: asked.id,
      neededNanoUsd,
      liveNodes: liveNodes(),
    })
    lease.operation = undefined
    this.#follow(lease)
    // The first question, or this one, may have been granted under terms that have changed meanwhile.
    gain(lease, answer.grantedNanoUsd, asked.budget === budget ? budget : undefined)
    return answer
  }

  /**
   * Returns money that is due. This comes before any other question: the store knows only the last operation,
   * and would repeat an earlier one. For the same reason it waits for a question whose answer was lost.
   */
  async #comeHome(lease: Lease): Promise<void> {
    const { nodeId, store, identifiers } = this.#parts
    for (;;) {
      if (lease.returning === undefined) {
        if (lease.homewardNanoUsd === 0n || lease.operation !== undefined) return
        lease.returning = { operation: identifiers.next(), amountNanoUsd: lease.homewardNanoUsd }
        lease.homewardNanoUsd = 0n
      }
      await store.giveBack({ budgetId: lease.budget.id, window: lease.window, nodeId, ...lease.returning })
      lease.returning = undefined
    }
  }
}

/** Only what was granted or reserved under the terms in force may be spent. */
function gain(lease: Lease, amountNanoUsd: bigint, under: Budget | undefined): void {
  if (under === lease.budget) lease.availableNanoUsd += amountNanoUsd
  else lease.homewardNanoUsd += amountNanoUsd
}

function isEmpty({ returning, operation, availableNanoUsd, homewardNanoUsd }: Lease): boolean {
  return (
    returning === undefined && operation === undefined && availableNanoUsd === 0n && homewardNanoUsd === 0n
  )
}

/** Time after which an empty lease is forgotten. */
const FORGET_MS = 60_000
