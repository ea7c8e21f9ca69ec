import { BoundedMap } from '#core/structure/bounded-map.ts'
import { grantOf, windowHolds, type BudgetState, type BudgetWindow } from '#core/money/budget.ts'
import {
  counted,
  hourOf,
  lateEntry,
  livingEntry,
  mayComeLate,
  standingWith,
  type CountedEntry,
  type LedgerEntry,
  type Standing,
} from '#core/money/ledger.ts'
import type {
  BudgetStore,
  LeaseAnswer,
  LeaseQuestion,
  LeaseReturn,
  SpendingQuestion,
  SpendingReader,
} from '#ports/budgets.ts'
import type { Clock } from '#ports/clock.ts'
import {
  EntriesRefused,
  NodeEnded,
  type Heartbeat,
  type LedgerStore,
  type OpenCall,
  type RetriedEntries,
  type Unknown,
  type UnknownResolution,
} from '#ports/ledger.ts'

interface StoredEntry extends Unknown {
  readonly nodeId: string
}

interface BudgetRow {
  readonly id: string
  window: BudgetWindow
  limitNanoUsd: bigint
  spentNanoUsd: bigint
  /** By node. */
  readonly leases: Map<string, { amountNanoUsd: bigint; operation: string; operationNanoUsd: bigint }>
}

/** The ledger and the budgets in memory, gone with the process: for tests and benchmarks. */
export class MemoryLedgerStore implements LedgerStore, BudgetStore, SpendingReader {
  readonly #clock: Clock
  /** By request, attempt and kind, oldest first. */
  readonly #entries: BoundedMap<string, StoredEntry>
  readonly #nodes = new Map<string, { seenAtMs: number; ended: boolean }>()
  readonly #budgets: BudgetRow[] = []
  /** Entries that were refused, and what each adds to the spending. */
  readonly #aside = new Map<string, { nodeId: string; entry: LedgerEntry; added: LedgerEntry }>()

  /** `keeps`: the number of entries that are remembered, so that a long test does not grow without end. */
  constructor(clock: Clock, keeps = 100_000) {
    this.#clock = clock
    this.#entries = new BoundedMap(keeps)
  }

  async startNode({ id }: { readonly id: string }): Promise<void> {
    const node = this.#nodes.get(id)
    if (!node?.ended) this.#nodes.set(id, { seenAtMs: this.#clock.nowMs(), ended: false })
  }

  async heartbeat(nodeId: string): Promise<Heartbeat> {
    const nowMs = this.#clock.nowMs()
    this.#alive(nodeId).seenAtMs = nowMs
    const live = [...this.#nodes.values()].filter(
      ({ ended, seenAtMs }) => !ended && nowMs - seenAtMs < LIVE_MS,
    )
    return { liveNodes: live.length, storeNowMs: nowMs }
  }

  async append(nodeId: string, entries: readonly LedgerEntry[]): Promise<void> {
    this.add(nodeId, entries)
  }

  /** The same at once, for a ledger in the same process. */
  add(nodeId: string, entries: readonly LedgerEntry[]): void {
    if (entries.length === 0) return
    this.#alive(nodeId)
    for (const entry of entries) {
      if (mayComeLate(entry)) this.#addLate(nodeId, entry, livingEntry)
      else this.#add(nodeId, counted(entry))
    }
  }

  async appendLate(nodeId: string, entries: readonly LedgerEntry[]): Promise<void> {
    for (const entry of entries) this.#addLate(nodeId, entry)
  }

  async setAside(nodeId: string, entry: LedgerEntry): Promise<void> {
    const late = lateEntry(entry, this.#standing(entry))
    if (late === undefined || this.#aside.has(identityOf(entry))) return
    this.#aside.set(identityOf(entry), { nodeId, entry, added: late.entry })
    this.#chargeBoth(nodeId, late.entry)
  }

  async retryRefused(): Promise<RetriedEntries> {
    const retried = { written: 0, refused: 0 }
    for (const [identity, { nodeId, entry, added }] of this.#aside)
      try {
        await this.appendLate(nodeId, [{ ...entry, ...NO_LEASES }])
        this.#aside.delete(identity)
        this.#chargeBoth(nodeId, { ...added, ...NO_LEASES, amountNanoUsd: -(added.amountNanoUsd ?? 0n) })
        retried.written += 1
      } catch (error) {
        if (!(error instanceof EntriesRefused)) throw error
        retried.refused += 1
      }
    return retried
  }

  async endNode(nodeId: string, openCalls: readonly OpenCall[]): Promise<void> {
    for (const call of openCalls) this.#addLate(nodeId, call)
    for (const { leases } of this.#budgets) leases.delete(nodeId)
    this.#nodes.set(nodeId, { seenAtMs: 0, ended: true })
  }

  async openUnknowns({ limit, after }: Parameters<LedgerStore['openUnknowns']>[0]): Promise<Unknown[]> {
    return [...this.#entries.values()]
      .filter((entry) => entry.kind === 'unknown' && (after === undefined || inOrder(after, entry) < 0))
      .filter((entry) => !this.#isResolved(entry))
      .toSorted(inOrder)
      .slice(0, limit)
  }

  async resolveUnknown(resolution: UnknownResolution): Promise<boolean> {
    const { requestId, attempt, kind, costNanoUsd, tokens } = resolution
    const unknown = this.#entries.get(`${requestId}/${attempt}/unknown`)
    if (unknown === undefined || this.#isResolved(unknown)) return false
    const cost = kind === 'void' ? 0n : (costNanoUsd ?? unknown.amountNanoUsd)
    return this.#addLate(unknown.nodeId, {
      ...unknown,
      kind,
      amountNanoUsd: unknown.amountNanoUsd === undefined && kind === 'void' ? undefined : cost,
      tokens: kind === 'void' ? undefined : tokens,
      images: kind === 'void' ? 0 : unknown.images,
      usage: kind === 'post' && tokens !== undefined ? 'upstream' : unknown.usage,
      remarks: { by: resolution.actor.name, reason: resolution.note },
    })
  }

  async lease(question: LeaseQuestion): Promise<LeaseAnswer> {
    const { budget, window, nodeId, operation, neededNanoUsd, liveNodes } = question
    this.#alive(nodeId)
    const standing = this.#rowAt(budget.id, window)
    const held = standing?.leases.get(nodeId)
    if (standing && held?.operation === operation)
      return { ...stateOf(standing), grantedNanoUsd: held.operationNanoUsd }
    const beside = this.#beside(budget.id, window)
    if (standing && standing.window.endMs !== window.endMs && beside.some(isLeased))
      return { ...stateOf(standing), limitNanoUsd: budget.limitNanoUsd, grantedNanoUsd: 0n }
    const row = this.#budgetRow(question)
    row.limitNanoUsd = budget.limitNanoUsd
    const state = { ...stateOf(row) }
    const leasedNanoUsd = beside.reduce(
      (sum, other) => sum + stateOf(other).leasedNanoUsd,
      state.leasedNanoUsd,
    )
    const holdsBeside = beside.some(({ leases }) => (leases.get(nodeId)?.amountNanoUsd ?? 0n) > 0n)
    const grantedNanoUsd = holdsBeside ? 0n : grantOf({ ...state, leasedNanoUsd }, neededNanoUsd, liveNodes)
    if (grantedNanoUsd === 0n) return { ...state, grantedNanoUsd }
    row.leases.set(nodeId, {
      amountNanoUsd: (held?.amountNanoUsd ?? 0n) + grantedNanoUsd,
      operation,
      operationNanoUsd: grantedNanoUsd,
    })
    return { ...stateOf(row), grantedNanoUsd }
  }

  async giveBack({ budgetId, window, nodeId, operation, amountNanoUsd }: LeaseReturn): Promise<void> {
    const held = this.#rowAt(budgetId, window)?.leases.get(nodeId)
    if (held === undefined || held.operation === operation) return
    const returned = amountNanoUsd < held.amountNanoUsd ? amountNanoUsd : held.amountNanoUsd
    held.amountNanoUsd -= returned
    held.operation = operation
    held.operationNanoUsd = -returned
  }

  async spentNanoUsd(asked: readonly SpendingQuestion[]): Promise<readonly bigint[]> {
    return asked.map(({ budgetId, window }) => this.#spentIn(budgetId, window))
  }

  /** What the entries of a batch add up to. */
  usedBy(batchId: string): {
    readonly tokens: number
    readonly costNanoUsd: bigint
    readonly unknownNanoUsd: bigint
  } {
    let [tokens, costNanoUsd, unknownNanoUsd] = [0, 0n, 0n]
    for (const entry of this.#entries.values()) {
      if (entry.batchId !== batchId) continue
      tokens += entry.tokens ?? 0
      costNanoUsd += entry.amountNanoUsd ?? 0n
      unknownNanoUsd += entry.unknownNanoUsd ?? 0n
    }
    return { tokens, costNanoUsd, unknownNanoUsd }
  }

  /** All entries, for tests that check them. */
  entries(): readonly StoredEntry[] {
    return [...this.#entries.values()]
  }

  /** What the refused entries add to the spending, for tests that check it. */
  aside(): readonly LedgerEntry[] {
    return Array.from(this.#aside.values(), ({ added }) => added)
  }

  /** The sum spent from a budget, and the share of it that each node holds, for tests that check it. */
  budgetState(budgetId: string, window: BudgetWindow) {
    const row = this.#rowAt(budgetId, window)
    if (row === undefined) return undefined
    const byNode = new Map(Array.from(row.leases, ([nodeId, { amountNanoUsd }]) => [nodeId, amountNanoUsd]))
    return { ...stateOf(row), byNode, endMs: row.window.endMs }
  }

  #alive(nodeId: string): { seenAtMs: number } {
    const node = this.#nodes.get(nodeId)
    if (node === undefined || node.ended) throw new NodeEnded(`node ${nodeId} has been ended`)
    return node
  }

  #isResolved(entry: LedgerEntry): boolean {
    return RESOLUTIONS.some((kind) => this.#entries.has(identityOf({ ...entry, kind })))
  }

  #addLate(nodeId: string, entry: LedgerEntry, addedBy = lateEntry): boolean {
    const late = addedBy(entry, this.#standing(entry))
    if (late !== undefined) this.#add(nodeId, late)
    return late !== undefined
  }

  #standing({ requestId, attempt }: LedgerEntry): Standing | undefined {
    const rows = KINDS.flatMap((kind) => this.#entries.get(`${requestId}/${attempt}/${kind}`) ?? [])
    return rows.reduce<Standing | undefined>(standingWith, undefined)
  }

  #add(nodeId: string, { entry }: CountedEntry): void {
    const stored = { ...entry, nodeId, writtenAtMs: this.#clock.nowMs() }
    if (this.#entries.add(identityOf(entry), stored)) this.#chargeBoth(nodeId, entry)
  }

  #chargeBoth(nodeId: string, entry: LedgerEntry): void {
    if (this.#budgets.length === 0) return
    this.#charge(nodeId, `project:${entry.project}`, entry, entry.projectLeaseNanoUsd)
    this.#charge(nodeId, `key:${entry.keyId}`, entry, entry.keyLeaseNanoUsd)
  }

  #charge(nodeId: string, budgetId: string, entry: LedgerEntry, covered: bigint): void {
    const atMs = hourOf(entry.requestId)
    for (const row of this.#budgets) {
      if (row.id !== budgetId || !windowHolds(row.window, atMs)) continue
      row.spentNanoUsd += entry.amountNanoUsd ?? 0n
      const held = row.leases.get(nodeId)
      if (held) held.amountNanoUsd -= covered < held.amountNanoUsd ? covered : held.amountNanoUsd
    }
  }

  /** The other windows of the budget that share a moment with this one: its period was changed. */
  #beside(budgetId: string, window: BudgetWindow): readonly BudgetRow[] {
    return this.#budgets.filter(
      (other) =>
        other.id === budgetId &&
        other.window.startMs !== window.startMs &&
        other.window.startMs < window.endMs &&
        window.startMs < other.window.endMs,
    )
  }

  #rowAt(budgetId: string, { startMs }: BudgetWindow): BudgetRow | undefined {
    return this.#budgets.find(({ id, window }) => id === budgetId && window.startMs === startMs)
  }

  #budgetRow({ budget, window }: LeaseQuestion): BudgetRow {
    const { id, limitNanoUsd } = budget
    let row = this.#rowAt(id, window)
    if (row?.window.endMs === window.endMs) return row
    if (row === undefined) {
      row = { id, window, limitNanoUsd, spentNanoUsd: 0n, leases: new Map() }
      this.#budgets.push(row)
    }
    row.window = window
    row.spentNanoUsd = this.#spentIn(id, window)
    return row
  }

  #spentIn(budgetId: string, window: BudgetWindow): bigint {
    let spent = 0n
    for (const entry of [...this.#entries.values(), ...this.aside()]) {
      const owns = budgetId === `project:${entry.project}` || budgetId === `key:${entry.keyId}`
      if (owns && windowHolds(window, hourOf(entry.requestId))) spent += entry.amountNanoUsd ?? 0n
    }
    return spent
  }
}

/** How long a silent node counts as living. */
const LIVE_MS = 5000
const KINDS = ['intent', 'post', 'void', 'unknown', 'adjust'] as const
const NO_LEASES = { projectLeaseNanoUsd: 0n, keyLeaseNanoUsd: 0n }
const RESOLUTIONS = ['post', 'void'] as const

type Attempt = Pick<LedgerEntry, 'requestId' | 'attempt'>

function inOrder(left: Attempt, right: Attempt): number {
  if (left.requestId === right.requestId) return left.attempt - right.attempt
  return left.requestId < right.requestId ? -1 : 1
}

function identityOf({
  requestId,
  attempt,
  kind,
}: Pick<LedgerEntry, 'requestId' | 'attempt' | 'kind'>): string {
  return `${requestId}/${attempt}/${kind}`
}

function isLeased(row: BudgetRow): boolean {
  return stateOf(row).leasedNanoUsd > 0n
}

function stateOf({ limitNanoUsd, spentNanoUsd, leases }: BudgetRow): BudgetState {
  let leasedNanoUsd = 0n
  for (const { amountNanoUsd } of leases.values()) leasedNanoUsd += amountNanoUsd
  return { limitNanoUsd, spentNanoUsd, leasedNanoUsd }
}
