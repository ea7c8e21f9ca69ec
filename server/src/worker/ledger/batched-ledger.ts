/**
 * The ledger of one node. Waiting entries are written together: while one batch is written the next one
 * collects, so that the batch size follows the load. Once it has collected enough, it is sent concurrently
 * with the first, so that neither the node nor the store is idle. While the store is unreachable, entries go
 * to the spool and are drained from there later.
 */
import { Fault } from '#core/fault/fault.ts'
import type { LedgerEntry } from '#core/money/ledger.ts'
import {
  EntriesRefused,
  NodeEnded,
  type Journal,
  type Ledger,
  type LedgerStore,
  type Spool,
} from '#ports/ledger.ts'
import { StoreUnreachable } from '#ports/store.ts'
import { handOver, type RefusalEvents } from './hand-over.ts'
import { KeptWrites, type KeptWrite } from './kept-writes.ts'
import { StoreReach, type ReachEvents } from './store-reach.ts'
import { UnregisteredWrites } from './unregistered-writes.ts'

/** Entries of a batch. A larger statement takes longer without writing more entries per second. */
const BATCH_ENTRIES = 1000
/** Concurrent batches. Each updates its own rollup rows, or they would wait for each other. */
const LANES = 2
/** Fewest entries for a concurrent second batch. Smaller ones cost the store more per entry than they save in time. */
const BESIDE_ENTRIES = 32
/**
 * Entries that wait in memory: one second of PostgreSQL's throughput. Beyond it results are refused. Entries
 * that could not be written anywhere count too; they are few, since no call begins while there is nowhere to
 * write.
 */
const WAITING_MAX = 50_000

export interface LedgerEvents extends ReachEvents, RefusalEvents {
  /** A batch is durable. */
  written(batch: {
    readonly entries: number
    readonly where: 'store' | 'spool'
    readonly durationMs: number
  }): void
  spoolFailed(error: Error): void
  /** Calls can't be journalled on disk, so none is sent. Reported once, until the disk works again. */
  journalFailed(error: Error): void
  diskBack(): void
  /** An operator or another node ended this node while it lives. Reported once. */
  nodeEnded(): void
}

export interface BatchedLedgerParts {
  readonly nodeId: string
  readonly store: LedgerStore
  readonly spool: Spool
  readonly journal: Journal
  readonly events: LedgerEvents
  /** Prepares the store for this node; rejects with `StoreUnreachable` when it can't. */
  readonly connect: () => Promise<void>
  readonly monotonicMs: () => number
  /** Waits for the next round of the event loop, so that the entries of this one are written together. */
  readonly yieldLoop: () => Promise<unknown>
}

interface QueuedWrite extends KeptWrite {
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

interface Batch {
  readonly writes: readonly QueuedWrite[]
  readonly entries: readonly LedgerEntry[]
  readonly isLeased: boolean
}

export class BatchedLedger implements Ledger {
  readonly #parts: BatchedLedgerParts
  #queue: QueuedWrite[] = []
  #queued = 0
  readonly #unregistered = new UnregisteredWrites()
  /** Resolves when the entries of this round of the event loop are together. */
  #gathering: Promise<void> | undefined
  readonly #underWay = new Set<Promise<void>>()
  readonly #freeLanes = Array.from({ length: LANES }, (_, lane) => lane)
  /**
   * Whether a batch in progress uses up leases. Such a batch reads what the one before has left of them, so
   * there is one at a time.
   */
  #isLeasing = false
  readonly #reach: StoreReach
  #draining: Promise<void> | undefined
  /** Nothing more is accepted in the name of this node; its entries stay in its spool. */
  #isEnded = false
  readonly #kept: KeptWrites
  /** Undefined while the spool can be written. */
  #spoolFailure: Error | undefined
  /** Undefined while the journal can be written. */
  #journalFailure: Error | undefined

  constructor(parts: BatchedLedgerParts) {
    this.#parts = parts
    this.#reach = new StoreReach(parts.events, parts.monotonicMs)
    this.#kept = new KeptWrites(parts.journal)
  }

  /** Why no result may leave, if so. */
  get failure(): string | undefined {
    if (this.#journalFailure) return `the journal cannot be written: ${this.#journalFailure.message}`
    if (!this.#reach.isAway) return undefined
    return this.#spoolFailure && `the spool cannot be written: ${this.#spoolFailure.message}`
  }

  get isStoreUnreachable(): boolean {
    return this.#reach.isAway
  }

  async begin(open: LedgerEntry): Promise<void> {
    if (this.#reach.isAway && this.#spoolFailure !== undefined)
      throw unavailable(
        'PostgreSQL is unreachable and the spool on disk cannot be written: the usage of a call could not be recorded, so Torana did not send it.',
        this.#spoolFailure,
      )
    try {
      await this.#parts.journal.open(open)
    } catch (cause) {
      this.#parts.journal.close(open.requestId, open.attempt)
      this.#noteJournal(cause as Error)
      throw unavailable(
        'Torana could not note the call on disk before sending it, so it did not send it.',
        cause,
      )
    }
  }

  forget(requestId: string, attempt: number): void {
    this.#parts.journal.close(requestId, attempt)
  }

  write(entries: readonly LedgerEntry[], writtenLate?: () => void): Promise<void> {
    if (entries.length === 0) return Promise.resolve()
    if (this.#queued + this.#unregistered.size + this.#kept.size > WAITING_MAX) {
      return Promise.reject(unavailable('Too many usage records are waiting to be written.'))
    }
    return new Promise((resolve, reject) => {
      const write = { entries, writtenLate, resolve, reject }
      const registering = this.#reach.isAway ? undefined : this.#parts.store.register?.(entries)
      if (registering === undefined) this.#join(write)
      else this.#unregistered.hold(write, registering, (error) => this.#joinRegistered(write, error))
    })
  }

  #join(write: QueuedWrite): void {
    this.#queue.push(write)
    this.#queued += write.entries.length
    if (this.#mayBegin()) this.#gathering ??= this.#gather()
  }

  /** `append` registers what is still unknown, and reports why it can't. */
  #joinRegistered(write: QueuedWrite, error: unknown): void {
    if (error instanceof StoreUnreachable) this.noteTrouble(error)
    this.#join(write)
  }

  /**
   * Checks whether the disk can be written, periodically: before the spool is needed, and while it fails,
   * since a node that is not ready gets no requests that would show it. Writes to the disk only while it
   * fails.
   */
  async checkDisk(): Promise<void> {
    const { journal, spool, events } = this.#parts
    const wasFailing = this.#journalFailure !== undefined || this.#spoolFailure !== undefined
    try {
      if (wasFailing) await journal.probe()
      else journal.checkPlace()
    } catch (error) {
      this.#noteJournal(error as Error)
      return
    }
    this.#journalFailure = undefined
    try {
      await spool.prepare()
      if (wasFailing) await spool.probe()
      if (this.#reach.isAway) await this.#kept.write((entries) => spool.append(entries))
    } catch (error) {
      this.#noteSpool(error as Error)
      return
    }
    this.#spoolFailure = undefined
    if (wasFailing) events.diskBack()
  }

  #noteSpool(error: Error): void {
    if (this.#spoolFailure === undefined) this.#parts.events.spoolFailed(error)
    this.#spoolFailure = error
  }

  #noteJournal(error: Error): void {
    if (this.#journalFailure === undefined) this.#parts.events.journalFailed(error)
    this.#journalFailure = error
  }

  /** Called periodically: `drain`, with a growing pause while it fails. */
  drainDue(): Promise<void> {
    return this.#reach.isDue() ? this.drain() : Promise.resolve()
  }

  /** Hands the spool over to the store. Does nothing when the spool is empty. */
  drain(): Promise<void> {
    const isDone = !this.#reach.isAway && this.#parts.spool.waiting === 0 && this.#kept.size === 0
    if (this.#isEnded || isDone) return Promise.resolve()
    this.#draining ??= this.#drainSpool().finally(() => (this.#draining = undefined))
    return this.#draining
  }

  /** Resolves when nothing waits in memory. */
  async settled(): Promise<void> {
    while (this.#gathering !== undefined || this.#underWay.size + this.#unregistered.size > 0)
      await Promise.all([this.#gathering, ...this.#underWay, this.#unregistered.registered()])
  }

  async #gather(): Promise<void> {
    await this.#parts.yieldLoop()
    this.#gathering = undefined
    this.#begin()
  }

  #mayBegin(): boolean {
    return this.#underWay.size === 0 || (this.#queued >= BESIDE_ENTRIES && this.#freeLanes.length > 0)
  }

  #begin(): void {
    while (this.#queue.length > 0 && this.#mayBegin()) {
      const batch = this.#take()
      if (batch === undefined) return
      const lane = this.#freeLanes.shift() as number
      this.#isLeasing ||= batch.isLeased
      const writing = this.#writeBatch(batch, lane).then(() => {
        this.#underWay.delete(writing)
        this.#freeLanes.push(lane)
        if (batch.isLeased) this.#isLeasing = false
        this.#begin()
      })
      this.#underWay.add(writing)
    }
  }

  /** The next batch. Undefined when the first waiting entry uses up a lease while a batch in progress does too. */
  #take(): Batch | undefined {
    const writes: QueuedWrite[] = []
    let size = 0
    let isLeased = false
    for (const next of this.#queue) {
      const usesLease = next.entries.some(isLeasedEntry)
      if (size >= BATCH_ENTRIES || (usesLease && this.#isLeasing)) break
      writes.push(next)
      size += next.entries.length
      isLeased ||= usesLease
    }
    if (writes.length === 0) return undefined
    this.#queue.splice(0, writes.length)
    this.#queued -= size
    const entries =
      writes.length === 1 ? (writes[0] as QueuedWrite).entries : writes.flatMap((write) => write.entries)
    return { writes, entries, isLeased }
  }

  async #writeBatch({ writes, entries }: Batch, lane: number): Promise<void> {
    const { events, journal, monotonicMs } = this.#parts
    const startedMs = monotonicMs()
    try {
      const where = await this.#keep(entries, lane)
      for (const { requestId, attempt } of entries) journal.close(requestId, attempt)
      for (const { resolve } of writes) resolve()
      events.written({ entries: entries.length, where, durationMs: monotonicMs() - startedMs })
    } catch (cause) {
      this.#kept.keep(writes)
      for (const { reject } of writes) reject(unavailable('Torana could not write the usage record.', cause))
    }
  }

  async #keep(entries: readonly LedgerEntry[], lane: number): Promise<'store' | 'spool'> {
    const { nodeId, store, spool } = this.#parts
    if (!this.#reach.isAway) {
      try {
        await store.append(nodeId, entries, lane)
        return 'store'
      } catch (error) {
        // The drain finds out which of them it refuses.
        if (!(error instanceof EntriesRefused)) this.noteTrouble(error as Error)
      }
    }
    try {
      await spool.append(entries)
      this.#spoolFailure = undefined
    } catch (error) {
      this.#noteSpool(error as Error)
      throw error
    }
    return 'spool'
  }

  /** The store can't be written: entries go to the spool from now on. */
  noteTrouble(error: Error): void {
    if (error instanceof NodeEnded) this.#noteEnd()
    this.#reach.leave(error)
  }

  #noteEnd(): void {
    if (!this.#isEnded) this.#parts.events.nodeEnded()
    this.#isEnded = true
  }

  async #drainSpool(): Promise<void> {
    const { nodeId, connect, spool } = this.#parts
    try {
      if (this.#reach.isAway) await connect()
    } catch (error) {
      return this.#noteFailedDrain(error as Error)
    }
    const hand = async (entries: readonly LedgerEntry[]): Promise<void> => {
      await handOver(nodeId, entries, this.#parts)
      // While entries wait, only a written one shows that the store takes them: a connection alone does not.
      this.#reach.comeBack()
    }
    try {
      await this.#kept.write(hand)
      await spool.drain(hand)
    } catch (error) {
      if (error instanceof StoreUnreachable || error instanceof NodeEnded) return this.#noteFailedDrain(error)
      this.#noteSpool(error as Error)
    }
    // Nothing waited that could show whether the store takes entries.
    this.#reach.comeBack()
  }

  #noteFailedDrain(error: Error): void {
    if (error instanceof NodeEnded) this.#noteEnd()
    this.#reach.failAgain(error)
  }
}

function isLeasedEntry({ projectLeaseNanoUsd, keyLeaseNanoUsd }: LedgerEntry): boolean {
  return projectLeaseNanoUsd !== 0n || keyLeaseNanoUsd !== 0n
}

function unavailable(message: string, cause?: unknown): Fault {
  return new Fault('ledger_unavailable', `${message} Retry.`, { cause })
}
