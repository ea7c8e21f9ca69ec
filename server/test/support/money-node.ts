/** One node's share of the money, made of the real parts, on a ledger behind a link that can fail. */
import { setImmediate as yieldLoop } from 'node:timers/promises'
import type { Budget } from '#core/money/budget.ts'
import type { LedgerEntry } from '#core/money/ledger.ts'
import type { BudgetStore } from '#ports/budgets.ts'
import type { Clock, Identifiers } from '#ports/clock.ts'
import type { Journal, LedgerStore, OpenCall, Spool } from '#ports/ledger.ts'
import type { RateLimiter } from '#ports/limiter.ts'
import type { MoneyOutside } from '#request/money/admission.ts'
import { Leases } from '#request/money/leases.ts'
import { BatchedLedger, type LedgerEvents } from '#worker/ledger/batched-ledger.ts'
import { behind, Link } from './losing-store.ts'

/** Entries that wait for the store, in memory. */
export class MemorySpool implements Spool {
  isFull = false
  readonly #groups: (readonly LedgerEntry[])[] = []

  get waiting(): number {
    return this.#groups.reduce((sum, group) => sum + group.length, 0)
  }

  async append(entries: readonly LedgerEntry[]): Promise<void> {
    if (this.isFull) throw new Error('no space left')
    this.#groups.push(entries)
  }

  async drain(take: (entries: readonly LedgerEntry[]) => Promise<void>): Promise<void> {
    for (let [group] = this.#groups; group !== undefined; [group] = this.#groups) {
      await take(group)
      this.#groups.shift()
    }
  }

  async prepare(): Promise<void> {}

  async probe(): Promise<void> {
    if (this.isFull) throw new Error('no space left')
  }

  async close(): Promise<void> {}
}

/** Calls in progress, in memory. */
export class MemoryJournal implements Journal {
  isFull = false
  readonly #open = new Map<string, OpenCall>()

  get size(): number {
    return this.#open.size
  }

  async open(call: OpenCall): Promise<void> {
    this.#open.set(`${call.requestId}/${call.attempt}`, call)
    await yieldLoop()
    if (this.isFull) throw new Error('no space left')
  }

  close(requestId: string, attempt: number): void {
    this.#open.delete(`${requestId}/${attempt}`)
  }

  has(requestId: string, attempt: number): boolean {
    return this.#open.has(`${requestId}/${attempt}`)
  }

  checkPlace(): void {}

  async probe(): Promise<void> {
    if (this.isFull) throw new Error('no space left')
  }

  end(): void {}

  calls(): readonly OpenCall[] {
    return [...this.#open.values()]
  }
}

export interface MoneyNodeParts {
  readonly ledger: LedgerStore
  readonly budgets: BudgetStore
  readonly clock: Clock
  readonly identifiers: Identifiers
  readonly limiter: RateLimiter
  readonly journal: Journal
  readonly spool: Spool
  readonly budgetInForce?: (budgetId: string) => Budget | undefined
}

export class MoneyNode {
  readonly id: string
  readonly link = new Link()
  readonly ledger: BatchedLedger
  readonly leases: Leases
  readonly outside: MoneyOutside
  /** The ledger's events, in order. */
  readonly events: string[] = []
  /** Requests whose entries could not be written at their end. */
  readonly unsettled: string[] = []
  readonly ledgerEvents: LedgerEvents

  private constructor(id: string, { ledger, budgets, clock, identifiers, ...parts }: MoneyNodeParts) {
    this.id = id
    const note = (event: string) => () => void this.events.push(event)
    this.ledgerEvents = {
      written: () => {},
      storeUnreachable: note('away'),
      storeBack: note('back'),
      refused: note('refused'),
      spoolFailed: note('spool failed'),
      journalFailed: note('journal failed'),
      diskBack: note('disk back'),
      nodeEnded: note('ended'),
    }
    const store = behind(this.link, ledger)
    this.ledger = new BatchedLedger({
      nodeId: id,
      store,
      journal: parts.journal,
      spool: parts.spool,
      events: this.ledgerEvents,
      connect: async () => void (await store.heartbeat(id)),
      monotonicMs: () => clock.monotonicMs(),
      yieldLoop: () => Promise.resolve(),
    })
    this.leases = new Leases({
      nodeId: id,
      store: behind(this.link, budgets),
      clock,
      identifiers,
      liveNodes: () => 2,
      budgetInForce: parts.budgetInForce ?? (() => undefined),
      isStoreUnreachable: () => this.ledger.isStoreUnreachable,
    })
    this.outside = {
      ledger: this.ledger,
      leases: this.leases,
      limiter: parts.limiter,
      underBudget: () => {},
      bytesOf: (text) => Buffer.byteLength(text),
      unsettled: (requestId) => void this.unsettled.push(requestId),
    }
  }

  static async start(parts: MoneyNodeParts): Promise<MoneyNode> {
    const node = new MoneyNode(parts.identifiers.next(), parts)
    await parts.ledger.startNode({ id: node.id, host: 'test', version: '0' })
    await node.ledger.drain()
    return node
  }
}
