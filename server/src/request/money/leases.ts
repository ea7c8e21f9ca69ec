/**
 * Hard budgets as one node sees them: the node leases money from the store, and reserves and releases it in
 * memory. A request that finds enough does not wait. If there is too little, the node asks the store once for
 * all requests that wait.
 */
import { windowOf, type Budget, type BudgetWindow } from '#core/budget.ts'
import { Fault } from '#core/fault/fault.ts'
import { dollars } from '#core/price.ts'
import type { BudgetStore, LeaseAnswer } from '#ports/budgets.ts'
import type { Clock, Identifiers } from '#ports/clock.ts'
import { ownerOf } from './hard-budget.ts'

export interface LeaseParts {
  readonly nodeId: string
  readonly store: BudgetStore
  readonly clock: Clock
  readonly identifiers: Identifiers
  readonly liveNodes: () => number
  /** While the store is away nothing is returned: a return whose answer is lost can't be spent either. */
  readonly isStoreAway: () => boolean
}

/** A lease that no request took from for so long is given back: other nodes may need it. */
const IDLE_MS = 1000
/**
 * The node remembers a refusal for so long: a flood of
 * requests must not become a flood of questions to the store.
 */
const REFUSAL_MS = 250
/** When other nodes hold the rest: their idle leases have come back by then. */
const RETRY_AFTER_MS = 1500

interface WaitingRequest {
  readonly amountNanoUsd: bigint
  readonly resolve: () => void
  readonly reject: (fault: unknown) => void
}

interface Lease {
  budget: Budget
  readonly window: BudgetWindow
  availableNanoUsd: bigint
  /** When money was last taken. A refused request takes none, so it does not keep the lease alive. */
  usedAtMs: number
  readonly waiting: WaitingRequest[]
  /**
   * Whether a question or a return is under way. Its id is
   * kept until the answer, so that money is granted once.
   */
  isAsking: boolean
  operation: string | undefined
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

  /** Reserves money for a request that was accepted at `atMs`. A promise: the node has to ask the store. */
  reserve(budget: Budget, atMs: number, amountNanoUsd: bigint): Promise<void> | undefined {
    const lease = this.#leaseOf(budget, atMs)
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

  /** Releases what was reserved and not spent. */
  release(budget: Budget, atMs: number, amountNanoUsd: bigint): void {
    if (amountNanoUsd === 0n) return
    const lease = this.#leaseOf(budget, atMs)
    lease.availableNanoUsd += amountNanoUsd
    lease.refusal = undefined
    this.#serve(lease)
  }

  /** Gives back leases that no request used for a while. Called several times a second. */
  async returnIdle(): Promise<void> {
    if (this.#parts.isStoreAway()) return
    const nowMs = this.#parts.clock.monotonicMs()
    for (const [id, lease] of this.#leases) {
      const isIdle = !lease.isAsking && lease.waiting.length === 0 && nowMs - lease.usedAtMs >= IDLE_MS
      if (!isIdle) continue
      if (lease.returning === undefined && lease.availableNanoUsd === 0n && lease.operation === undefined) {
        // The lease is empty. It is forgotten, or the windows of years would pile up.
        if (nowMs - lease.usedAtMs >= FORGET_MS) this.#leases.delete(id)
        continue
      }
      await this.#giveBack(lease)
    }
  }

  /** Gives back everything that is not reserved, at the end of the node. */
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
        availableNanoUsd: 0n,
        usedAtMs: this.#parts.clock.monotonicMs(),
        waiting: [],
        isAsking: false,
        operation: undefined,
        returning: undefined,
        refusal: undefined,
      }
      this.#leases.set(id, lease)
    }
    if (lease.budget.limitNanoUsd !== budget.limitNanoUsd) {
      lease.budget = budget
      lease.refusal = undefined
    }
    return lease
  }

  async #ask(lease: Lease): Promise<void> {
    const { nodeId, store, identifiers, liveNodes, clock } = this.#parts
    lease.isAsking = true
    try {
      await this.#finishReturn(lease)
      for (let first = this.#serve(lease); first !== undefined; first = this.#serve(lease)) {
        const neededNanoUsd = first.amountNanoUsd - lease.availableNanoUsd
        // If the answer to the last operation was lost, the node asks for that one again first.
        const isRepeated = lease.operation !== undefined
        lease.operation ??= identifiers.next()
        const answer = await store.lease({
          budget: lease.budget,
          window: lease.window,
          nodeId,
          operation: lease.operation,
          neededNanoUsd,
          liveNodes: liveNodes(),
        })
        lease.operation = undefined
        lease.availableNanoUsd += answer.grantedNanoUsd
        // A repeated answer grants what the earlier question needed, not what this one needs.
        if (isRepeated || answer.grantedNanoUsd >= neededNanoUsd) continue
        // Money that other requests released meanwhile may be enough. Else all that need as much are refused.
        const left = this.#serve(lease)
        if (left === undefined) break
        const atLeast = left.amountNanoUsd
        lease.refusal = {
          answer,
          neededNanoUsd: atLeast,
          untilMs: clock.monotonicMs() + REFUSAL_MS,
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

  /** Serves waiting requests in order. Returns the first that has to wait on. */
  #serve(lease: Lease): WaitingRequest | undefined {
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
    const { nodeId, store, identifiers, liveNodes } = this.#parts
    lease.isAsking = true
    try {
      if (lease.operation !== undefined) {
        const answer = await store.lease({
          budget: lease.budget,
          window: lease.window,
          nodeId,
          operation: lease.operation,
          neededNanoUsd: 0n,
          liveNodes: liveNodes(),
        })
        lease.operation = undefined
        lease.availableNanoUsd += answer.grantedNanoUsd
      }
      await this.#finishReturn(lease)
      if (lease.availableNanoUsd > 0n) {
        lease.returning = { operation: identifiers.next(), amountNanoUsd: lease.availableNanoUsd }
        lease.availableNanoUsd = 0n
        await this.#finishReturn(lease)
      }
    } catch {
      // The store is away. The same operation is tried again, so
      // that it happens once; until then the money counts as leased.
    } finally {
      lease.isAsking = false
      if (lease.waiting.length > 0) void this.#ask(lease)
    }
  }

  /**
   * Comes before any other question: the store knows only
   * the last operation, and would do an earlier one again.
   */
  async #finishReturn(lease: Lease): Promise<void> {
    if (lease.returning === undefined) return
    const { nodeId, store } = this.#parts
    await store.giveBack({ budgetId: lease.budget.id, window: lease.window, nodeId, ...lease.returning })
    lease.returning = undefined
  }
}

/** An empty lease is forgotten after so long. */
const FORGET_MS = 60_000

function refused({ budget, window }: Lease, amountNanoUsd: bigint, answer: LeaseAnswer): Fault {
  const { limitNanoUsd, spentNanoUsd } = answer
  const which = `hard budget of ${ownerOf(budget)} (${dollars(limitNanoUsd)} ${periodOf(budget)})`
  if (spentNanoUsd + amountNanoUsd > limitNanoUsd) {
    const until =
      budget.per === 'total' ? '' : ` The next period begins at ${new Date(window.endMs).toISOString()}.`
    return new Fault(
      'budget_exhausted',
      `The ${which} has ${dollars(spentNanoUsd < limitNanoUsd ? limitNanoUsd - spentNanoUsd : 0n)} left; this request can cost up to ${dollars(amountNanoUsd)}.${until}`,
    )
  }
  return new Fault(
    'budget_reserved',
    `The rest of the ${which} is reserved for running requests; this one can cost up to ${dollars(amountNanoUsd)}. Retry in ${RETRY_AFTER_MS} ms.`,
    { retryAfterMs: RETRY_AFTER_MS },
  )
}

function unreachable({ budget }: Lease, cause: unknown): Fault {
  return new Fault(
    'budget_store_unreachable',
    `The hard budget of ${ownerOf(budget)} cannot be checked at the moment. Retry.`,
    { cause },
  )
}

function periodOf({ per }: Budget): string {
  return per === 'total' ? 'in total' : `a ${per}`
}
