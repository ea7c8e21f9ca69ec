/** The environment of the simulated nodes: a ledger, a clock that is moved by hand, limits, and a disk for each node. */
import { join } from 'node:path'
import type { LedgerEntry } from '#core/money/ledger.ts'
import type { Clock, Identifiers } from '#ports/clock.ts'
import type { Journal, LedgerStore, OpenCall, Spool } from '#ports/ledger.ts'
import type { RateLimiter } from '#ports/limiter.ts'
import { uuidv7Identifiers } from '#runtime/identifiers.ts'
import { MemoryLimiter } from '#stores/memory/limiter.ts'
import { FileJournal, readOpenCalls } from '#stores/spool/journal.ts'
import { FileSpool } from '#stores/spool/spool.ts'
import { aProject, type OpenLedger } from '#test/contract/open-ledger.ts'
import { testFolder } from '#test/support/disk.ts'
import { MemoryJournal, MemorySpool } from '#test/support/money-node.ts'

/** A morning, so that a few hours later it is the same day. */
const START_MS = Date.UTC(2026, 5, 15, 6)

export class ManualClock implements Clock {
  atMs = START_MS

  nowMs(): number {
    return this.atMs
  }

  monotonicMs(): number {
    return this.atMs
  }
}

/** What one node has on its disk. It outlives the node. */
export interface Disk {
  readonly journal: TrackedJournal
  readonly spool: TrackedSpool
  /** Fills the disk, or frees it. Undefined where that can't be simulated. */
  readonly setFull?: (isFull: boolean) => void
  /** The calls that a reader of the journal finds open. */
  openCalls(): readonly OpenCall[]
  /** The process that wrote to it is gone; another one reads it. */
  abandon(): Promise<void>
}

export interface World {
  readonly project: string
  readonly stores: OpenLedger
  readonly clock: ManualClock
  readonly identifiers: Identifiers
  readonly limiter: RateLimiter
  newDisk(): Disk
}

/** A spool, and what is in it. */
export class TrackedSpool implements Spool {
  readonly contents = new Map<string, LedgerEntry>()
  #inner: Spool

  constructor(inner: Spool) {
    this.#inner = inner
  }

  get waiting(): number {
    return this.#inner.waiting
  }

  async append(entries: readonly LedgerEntry[]): Promise<void> {
    await this.#inner.append(entries)
    for (const entry of entries) this.contents.set(identityOf(entry), entry)
  }

  drain(take: (entries: readonly LedgerEntry[]) => Promise<void>): Promise<void> {
    return this.#inner.drain(async (entries) => {
      await take(entries)
      for (const entry of entries) this.contents.delete(identityOf(entry))
    })
  }

  prepare(): Promise<void> {
    return this.#inner.prepare()
  }

  probe(): Promise<void> {
    return this.#inner.probe()
  }

  close(): Promise<void> {
    return this.#inner.close()
  }

  /** Another process opens it. */
  reopen(inner: Spool): void {
    this.#inner = inner
  }
}

/** A journal, and what was closed in it last. */
export class TrackedJournal implements Journal {
  readonly opened = new Map<string, OpenCall>()
  /** Ends that a kill at this moment may have kept from the disk. */
  readonly lastClosed: OpenCall[] = []
  readonly #inner: Journal

  constructor(inner: Journal) {
    this.#inner = inner
  }

  get size(): number {
    return this.#inner.size
  }

  async open(call: OpenCall): Promise<void> {
    await this.#inner.open(call)
    this.opened.set(attemptOf(call), call)
  }

  close(requestId: string, attempt: number): void {
    const call = this.opened.get(attemptOf({ requestId, attempt }))
    if (call) this.lastClosed.push(call)
    this.opened.delete(attemptOf({ requestId, attempt }))
    this.#inner.close(requestId, attempt)
  }

  has(requestId: string, attempt: number): boolean {
    return this.#inner.has(requestId, attempt)
  }

  checkPlace(): void {
    this.#inner.checkPlace()
  }

  probe(): Promise<void> {
    return this.#inner.probe()
  }

  end(): void {
    this.#inner.end()
  }
}

/** The limiter's clock does not move, so that what was taken can be counted. */
export function memoryWorld(stores: OpenLedger): World {
  const clock = new ManualClock()
  return {
    project: aProject(),
    stores,
    clock,
    identifiers: uuidv7Identifiers(clock),
    limiter: new MemoryLimiter({ nowMs: () => 0, monotonicMs: () => 0 }, () => 1),
    newDisk() {
      const [journal, spool] = [new MemoryJournal(), new MemorySpool()]
      return {
        journal: new TrackedJournal(journal),
        spool: new TrackedSpool(spool),
        openCalls: () => journal.calls(),
        abandon: async () => {},
        setFull(isFull) {
          spool.isFull = isFull
          journal.isFull = isFull
        },
      }
    },
  }
}

/** With real files. */
export function fileWorld(stores: OpenLedger, limiter: RateLimiter): World {
  return {
    ...memoryWorld(stores),
    limiter,
    newDisk() {
      const folder = testFolder()
      // Small files, so that new ones are begun now and then.
      const journal = new TrackedJournal(new FileJournal(folder, 2000))
      const spoolFolder = join(folder, 'spool')
      const spool = new TrackedSpool(new FileSpool(spoolFolder, 2000))
      return {
        journal,
        spool,
        openCalls: () => readOpenCalls(folder).calls,
        async abandon() {
          journal.end()
          await spool.close()
          spool.reopen(new FileSpool(spoolFolder, 2000))
        },
      }
    },
  }
}

export function attemptOf({ requestId, attempt }: Pick<LedgerEntry, 'requestId' | 'attempt'>): string {
  return `${requestId}/${attempt}`
}

export function identityOf(entry: Pick<LedgerEntry, 'requestId' | 'attempt' | 'kind'>): string {
  return `${attemptOf(entry)}/${entry.kind}`
}

/** The same store, which reports every batch that is sent to it. */
export function recording(store: LedgerStore, note: (entries: readonly LedgerEntry[]) => void): LedgerStore {
  return new Proxy(store, {
    get(target, name) {
      const method: unknown = Reflect.get(target, name, target)
      if (typeof method !== 'function') return method
      return (...args: readonly unknown[]): unknown => {
        if (name === 'append') note(args[1] as readonly LedgerEntry[])
        return Reflect.apply(method, target, args)
      }
    },
  })
}
