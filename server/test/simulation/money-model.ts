/**
 * The money of several nodes under everything that can happen to them, beside a model in plain numbers. The
 * real parts do the work: admission, leases and ledger. The model only remembers what each node recorded
 * about each call.
 */
import assert from 'node:assert/strict'
import { setImmediate as yieldLoop } from 'node:timers/promises'
import { windowOf, type Budget, type BudgetPeriod, type BudgetWindow } from '#core/money/budget.ts'
import { UpstreamFailure, type FailureKind } from '#core/fault/failure.ts'
import { Fault } from '#core/fault/fault.ts'
import { momentOf, type LedgerEntry } from '#core/money/ledger.ts'
import { negotiate, type Offer } from '#core/embedding/negotiate.ts'
import type { Key } from '#ports/keys.ts'
import type { LedgerStore } from '#ports/ledger.ts'
import { StoreUnreachable } from '#ports/store.ts'
import {
  admit,
  type BegunEmbedding as BegunCall,
  type EmbeddingAdmission as Admission,
} from '#request/embeddings/admit.ts'
import { aDeployment } from '#test/support/deployments.ts'
import { behind } from '#test/support/losing-store.ts'
import { aModel, aRequest } from '#test/support/models.ts'
import { MoneyNode } from '#test/support/money-node.ts'
import { recover } from '#worker/ledger/recover.ts'
import { keyNow } from '#request/access/terms-now.ts'
import { batchKey } from '#request/batches/batch-key.ts'
import type { Batch } from '#ports/batches.ts'
import { Terms, type KeyName, type NewTerms, type Owner } from './money-terms.ts'
import { attemptOf, recording, type Disk, type World } from './money-world.ts'

/** A nano-dollar per token: costs equal the number of bytes. */
const deployment = aDeployment({ price: { kind: 'perToken', nanoUsdPerMillionTokens: 1_000_000n } })
const model = aModel({ deployments: [deployment] })
const [offer] = negotiate(aRequest(), model, 'refuse').offers as readonly [Offer]
/** Tokens that servers may add around a text, for which admission reserves too. */
const FRAME_TOKENS = 8

export type Outcome = 'served' | 'refused' | 'timeout' | 'drop'
const FAILURES: Record<Exclude<Outcome, 'served'>, FailureKind> = {
  refused: 'failed',
  timeout: 'timedOut',
  drop: 'unreachable',
}

export interface SimulatedNode {
  readonly node: MoneyNode
  readonly disk: Disk
  state: 'alive' | 'dead' | 'gone'
  /** Ended in the ledger, whether or not it lives. */
  isEnded: boolean
  /** Ends of calls that its death kept from the journal. */
  lostEnds: readonly LedgerEntry[]
}

/** One sent call, and everything recorded about it. */
export interface ModelCall {
  /** The ledger entry if its end is never known. */
  readonly unknown: LedgerEntry
  readonly node: SimulatedNode
  /** The windows of hard budgets that its money was reserved in, as `<budget>@<start>`. */
  readonly windows: ReadonlySet<string>
  wasServed: boolean
  costNanoUsd: bigint
  /** What its node, or a reader of its disk, has recorded durably. */
  recorded: 'post' | 'unknown' | undefined
  /** What its node could not write immediately, or has no confirmation of. It writes it later, unless it dies before. */
  mayBe: 'post' | 'unknown' | undefined
  /** What an operator found out. */
  resolved: { readonly kind: 'post' | 'void'; readonly costNanoUsd: bigint } | undefined
  adjustedNanoUsd: bigint
}

interface OpenCall {
  readonly begun: BegunCall
  readonly call: ModelCall
  readonly mostTokens: number
}

/**
 * Work that outlives the request that began it. A batch makes further requests, and a person may let it
 * continue without its key; an image job and a run of the playground are one request, whose calls are begun
 * one after the other.
 */
export interface Work {
  readonly kind: 'batch' | 'job' | 'playground'
  readonly key: KeyName
  isContinued: boolean
}

/** A call that was just sent. */
interface SentNow {
  readonly call: ModelCall
  readonly work: Work | undefined
  /** The key was read before the last change, so that it does not include it. */
  readonly isStale: boolean
}

export interface LiveRequest {
  readonly at: SimulatedNode
  readonly requestId: string
  readonly admission: Admission
  /** Undefined when a caller waits for it, and all its calls are begun together. */
  readonly work: Work | undefined
  /** Texts for which no call was begun yet. */
  readonly rest: string[]
  readonly estimate: number
  readonly open: OpenCall[]
  /** Ended, and not yet written. */
  readonly held: { readonly call: ModelCall; readonly kind: 'post' | 'unknown' }[]
  tokens: number
  /** Whether the rate limit counts it. */
  readonly isLimited: boolean
  hasEnded: boolean
}

interface Asked {
  readonly sizes: readonly number[]
  /** The key of a caller. Undefined for the current key of the work. */
  readonly key?: Key
  readonly isStale?: boolean
  readonly work?: Work
}

/** One window of a budget that a request was made under. */
export interface TouchedBudget {
  readonly budgetId: string
  readonly per: BudgetPeriod
  readonly window: BudgetWindow
  /** What may be spent beyond the limit: it was paid, and known only when its money had gone to others. */
  overrunNanoUsd: bigint
  /** Money spent by calls that are held against it, and leased, at the last look. */
  seenNanoUsd: bigint
}

/** A request that has just been admitted, and the hard budgets in force then. */
interface AdmittedNow {
  readonly requestId: string
  readonly budgets: readonly Budget[]
}

/** What the ledger holds of a call: a post; a post or an unknown. */
interface InLedger {
  readonly isPosted: boolean
  readonly isWritten: boolean
}

export class Simulation {
  readonly world: World
  readonly nodes: SimulatedNode[] = []
  readonly live: LiveRequest[] = []
  readonly calls = new Map<string, ModelCall>()
  readonly budgets = new Map<string, TouchedBudget>()
  /** Every batch that any node sent, to be sent again. */
  readonly sent: { readonly at: SimulatedNode; readonly entries: readonly LedgerEntry[] }[] = []
  /** How often each event happened, to show that a run has tried something. */
  readonly tally = new Map<string, number>()
  readonly terms: Terms
  admittedNow: AdmittedNow | undefined
  readonly sentNow: SentNow[] = []
  readonly batches: Work[] = []
  /**
   * Budgets and calls that were in progress when the budget became hard: nothing was reserved for them while
   * it was soft.
   */
  readonly unheld = new Set<string>()
  tokensTaken = 0

  constructor(world: World) {
    this.world = world
    this.terms = new Terms(world.project)
  }

  count(what: string, times = 1): void {
    this.tally.set(what, (this.tally.get(what) ?? 0) + times)
  }

  get store(): LedgerStore {
    return this.world.stores.ledger
  }

  async startNode(): Promise<void> {
    const { stores, clock, identifiers, limiter } = this.world
    const disk = this.world.newDisk()
    const ledger = recording(this.store, (entries) => this.sent.push({ at, entries }))
    const budgetInForce = (budgetId: string): Budget | undefined => this.terms.inForce(budgetId)
    const shared = { ledger, budgets: stores.budgets, clock, identifiers, limiter, budgetInForce }
    const node = await MoneyNode.start({ ...shared, journal: disk.journal, spool: disk.spool })
    const at: SimulatedNode = { node, disk, state: 'alive', isEnded: false, lostEnds: [] }
    this.nodes.push(at)
  }

  /** A request with a call for each size: admitted and sent, or refused. The calls of work are begun one by one. */
  async request(at: SimulatedNode, asked: Asked): Promise<void> {
    const { work, sizes, isStale = false } = asked
    const key = asked.key ?? (work && (await orFault(async () => this.keyOf(work))))
    if (key === undefined) return this.count(`${work?.kind ?? 'request'}: nothing more is bought`)
    const requestId = this.world.identifiers.next()
    const budgets = this.#hardBudgets(at, key)
    for (const budget of budgets) this.#touch(budget, requestId)
    const texts = sizes.map((size) => 'x'.repeat(size))
    const about = { requestId, key, model, offers: [offer], input: { kind: 'texts', texts } } as const
    const asking = { ...about, keyNow: work && (() => this.keyOf(work)) }
    const admission = await orFault(async () => admit(asking, at.node.outside))
    if (admission === undefined) return this.count('requests refused')
    this.admittedNow = { requestId, budgets }
    const isLimited = key.limits.length > 0
    const estimate = isLimited ? sizes.reduce((sum, size) => sum + Math.ceil(size / 4), 0) : 0
    this.tokensTaken += estimate
    const state = { open: [], held: [], tokens: 0, isLimited, hasEnded: false }
    const live: LiveRequest = { at, requestId, admission, work, rest: texts, estimate, ...state }
    this.live.push(live)
    if (work !== undefined) return this.goOn(live)
    while (live.rest.length > 0 && !live.hasEnded) await this.#begin(live, key, isStale)
  }

  /** Begins the next call of work that outlives its request, under the terms in force now. */
  async goOn(live: LiveRequest): Promise<void> {
    const { work } = live
    if (work === undefined || live.rest.length === 0 || live.hasEnded) return
    // The current terms, from which the model takes the windows of its budgets.
    const key = await orFault(async () => this.keyOf(work))
    await this.#begin(live, key, false)
  }

  keyOf(work: Work): Key | Promise<Key> {
    const owner = this.terms.ownerOf(work.key)
    if (work.kind !== 'batch') return keyNow(owner, false, this.terms)
    return batchKey({ ...owner, isContinued: work.isContinued } as Batch, this.terms)
  }

  /** `key` is undefined when nothing may be bought. No call is sent then, whatever the model thinks. */
  async #begin(live: LiveRequest, key: Key | undefined, isStale: boolean): Promise<void> {
    const { at, admission, work, requestId } = live
    const text = live.rest.shift() as string
    const budgets = key === undefined ? [] : this.#hardBudgets(at, key)
    const windows = new Set(budgets.map((budget) => this.#touch(budget, requestId)))
    const input = { kind: 'texts', texts: [text] } as const
    const callId = this.world.identifiers.next()
    const begun = await orFault(async () => admission.begin(callId, offer, input))
    if (begun === undefined) {
      if (work !== undefined) this.count(`${work.kind}: a call is refused`)
      live.rest.length = 0
      return this.abort(live)
    }
    this.count(`calls sent: ${work?.kind ?? 'live'}`)
    const call = newCall(at, begun, windows)
    this.calls.set(attemptOf(begun.unknown), call)
    this.sentNow.push({ call, work, isStale })
    this.admittedNow = { requestId, budgets }
    if (at.isEnded) this.allow(call, call.unknown.amountNanoUsd ?? 0n)
    live.open.push({ begun, call, mostTokens: text.length + FRAME_TOKENS })
  }

  #hardBudgets(at: SimulatedNode, key: Key): readonly Budget[] {
    return key.budgets.map((budget) => at.node.leases.inForce(budget)).filter(({ hard }) => hard)
  }

  /** The upstream reports how a call ended; whether one that timed out was served is unknown. */
  async answer(live: LiveRequest, which: number, outcome: Outcome, share: number): Promise<void> {
    const [{ begun, call, mostTokens }] = live.open.splice(which % live.open.length, 1) as [OpenCall]
    const { admission } = live
    if (outcome === 'served') {
      const tokens = Math.floor(mostTokens * share)
      call.wasServed = true
      call.costNanoUsd = BigInt(tokens)
      if (live.isLimited && live.hasEnded) this.tokensTaken += tokens
      else if (live.isLimited) live.tokens += tokens
      admission.served(begun, { kind: 'measured', tokens })
      live.held.push({ call, kind: 'post' })
    } else {
      admission.failed(begun, new UpstreamFailure(FAILURES[outcome], outcome, { deployment: deployment.id }))
      call.wasServed = outcome === 'timeout' && share > 0.5
      if (outcome === 'refused') this.calls.delete(attemptOf(call.unknown))
      else live.held.push({ call, kind: 'unknown' })
    }
    if (live.hasEnded) await this.#written(live)
    else if (outcome !== 'served') await this.#end(live)
    else if (live.open.length === 0 && live.rest.length === 0) await this.#settle(live)
    this.#forgetDone(live)
  }

  /** The client has left, or the request failed: calls in progress continue. */
  async abort(live: LiveRequest): Promise<void> {
    if (!live.hasEnded) await this.#end(live)
    this.#forgetDone(live)
  }

  /** The process ends immediately; its disk stays. `losesEnds`: what it closed last had not reached the journal. */
  async kill(at: SimulatedNode, losesEnds: boolean): Promise<void> {
    await yieldLoop()
    at.state = 'dead'
    at.lostEnds = losesEnds ? [...at.disk.journal.lastClosed] : []
    for (const live of this.live.filter((request) => request.at === at))
      this.live.splice(this.live.indexOf(live), 1)
    await at.disk.abandon()
  }

  /** An operator believes it dead, and can't read its disk. */
  async endByHand(at: SimulatedNode): Promise<void> {
    this.#allowLate(at)
    await this.store.endNode(at.node.id, [])
    at.isEnded = true
  }

  /** Another process reads its disk; it may lose the store during that, and then begins again. */
  async recover(at: SimulatedNode, endsFirst: boolean): Promise<void> {
    const { node, disk } = at
    const calls = [...disk.openCalls(), ...at.lostEnds]
    this.count('calls found open', calls.length)
    this.count('entries found spooled', disk.spool.waiting)
    const openCalls = { calls, damagedLines: 0 }
    const left = { nodeId: node.id, spool: disk.spool, openCalls, discard: () => {}, release: () => {} }
    const store = behind(node.link, this.store)
    try {
      if (endsFirst) {
        this.#allowLate(at)
        await store.endNode(node.id, calls)
      }
      await recover([left], store, node.ledgerEvents)
    } catch (error) {
      assert.ok(error instanceof StoreUnreachable, String(error))
      return
    }
    at.state = 'gone'
    at.isEnded = true
    for (const call of this.calls.values()) if (call.node === at) call.recorded ??= 'unknown'
  }

  /** What the call adds to the spent amount, by the best knowledge. */
  amountOf(call: ModelCall, { isPosted, isWritten }: InLedger): bigint {
    const { resolved, recorded, unknown, adjustedNanoUsd } = call
    if (resolved?.kind === 'post') return adjustedNanoUsd + resolved.costNanoUsd
    if (recorded === 'post' || (call.mayBe === 'post' && isPosted)) return adjustedNanoUsd + call.costNanoUsd
    const isUnknown = recorded === 'unknown' || (call.mayBe === 'unknown' && isWritten)
    if (resolved?.kind === 'void' || !isUnknown) return adjustedNanoUsd
    return adjustedNanoUsd + (unknown.amountNanoUsd ?? 0n)
  }

  allow({ unknown }: ModelCall, amountNanoUsd: bigint): void {
    for (const touched of this.budgets.values()) {
      const { budgetId } = touched
      if (budgetId === `project:${unknown.project}` || budgetId === `key:${unknown.keyId}`)
        touched.overrunNanoUsd += amountNanoUsd
    }
  }

  changeBudget(owner: Owner, terms: NewTerms | undefined): void {
    const before = this.terms.change(owner, terms)
    if (before?.hard || !terms?.hard) return
    const id = this.terms.budgetId(owner)
    for (const [attempt, { node, recorded }] of this.calls)
      if (recorded === undefined || isSpooled(node, attempt)) this.unheld.add(unheldOf(id, attempt))
  }

  /** The lease of a node goes to others while calls that it was for are not in the ledger. */
  #allowLate(at: SimulatedNode): void {
    for (const [attempt, call] of this.calls) {
      if (call.node === at && (call.recorded === undefined || isSpooled(at, attempt)))
        this.allow(call, call.unknown.amountNanoUsd ?? 0n)
    }
  }

  #touch({ id: budgetId, per }: Budget, requestId: string): string {
    const window = windowOf(per, momentOf(requestId))
    const id = `${budgetId}@${window.startMs}`
    const beside = [...this.budgets.values()].filter((other) => other.budgetId === budgetId)
    const overruns = beside
      .filter((other) => other.window.startMs < window.endMs && window.startMs < other.window.endMs)
      .map(({ overrunNanoUsd }) => overrunNanoUsd)
    const overrunNanoUsd = overruns.reduce((most, one) => (one > most ? one : most), 0n)
    const seenNanoUsd = this.budgets.get(id)?.seenNanoUsd ?? 0n
    this.budgets.set(id, { budgetId, per, window, overrunNanoUsd, seenNanoUsd })
    return id
  }

  async #settle(live: LiveRequest): Promise<void> {
    this.#correct(live)
    const isDurable = (await orFault(async () => (await live.admission.settle(), true))) ?? false
    this.#tell(live, isDurable)
  }

  async #end(live: LiveRequest): Promise<void> {
    this.#correct(live)
    live.admission[Symbol.dispose]()
    await this.#written(live)
  }

  #correct(live: LiveRequest): void {
    live.hasEnded = true
    this.tokensTaken += live.tokens - live.estimate
  }

  async #written(live: LiveRequest): Promise<void> {
    await live.at.node.ledger.settled()
    await yieldLoop()
    this.#tell(live, live.at.node.unsettled.splice(0).length === 0)
  }

  #tell(live: LiveRequest, isDurable: boolean): void {
    for (const { call, kind } of live.held.splice(0)) {
      if (isDurable) call.recorded = kind
      else call.mayBe = kind
    }
  }

  #forgetDone(live: LiveRequest): void {
    if (live.open.length === 0 && live.hasEnded) this.live.splice(this.live.indexOf(live), 1)
  }
}

function newCall(node: SimulatedNode, { unknown }: BegunCall, windows: ReadonlySet<string>): ModelCall {
  return {
    unknown,
    node,
    windows,
    wasServed: false,
    costNanoUsd: 0n,
    recorded: undefined,
    mayBe: undefined,
    resolved: undefined,
    adjustedNanoUsd: 0n,
  }
}

/** Undefined when it is refused with a fault; nothing else may happen. */
async function orFault<Result>(work: () => Promise<Result>): Promise<Result | undefined> {
  try {
    return await work()
  } catch (error) {
    assert.ok(error instanceof Fault, String(error))
    return undefined
  }
}

function isSpooled({ disk }: SimulatedNode, attempt: string): boolean {
  return ['post', 'unknown'].some((kind) => disk.spool.contents.has(`${attempt}/${kind}`))
}

export function unheldOf(budgetId: string, attempt: string): string {
  return `${budgetId} ${attempt}`
}
