/**
 * Admission: may this request run, and is there money for it? An admission takes from the rate limits, reserves the largest cost
 * of the request, writes each of its calls into the ledger, and gives back what was not spent. A request holds its admission by
 * `using`, so that no reservation is forgotten, however the request ends.
 */
import type { Budget } from '#core/money/budget.ts'
import type { UpstreamFailure } from '#core/fault/failure.ts'
import type { LedgerEntry } from '#core/money/ledger.ts'
import type { RateState, RateTake } from '#core/limits/limit.ts'
import type { Cost } from '#core/money/price.ts'
import type { Labels } from '#core/money/labels.ts'
import type { Reservation } from '#core/request/request-trace.ts'
import type { Key } from '#ports/keys.ts'
import type { Ledger } from '#ports/ledger.ts'
import type { RateLimiter } from '#ports/limiter.ts'
import type { KeyAsked } from '../access/terms-now.ts'
import { BudgetRefusal } from './budget-refusal.ts'
import { unpriced } from './hard-budget.ts'
import { HeldMoney, type Leased } from './held-money.ts'
import { dividedEntry, type LabelShare } from './label-shares.ts'
import {
  leasedOf,
  leftUnknown,
  NOTHING_LEASED,
  openEntry,
  paidEntry,
  savedEntry,
  type BegunCall,
  type PaidCall,
  type SavedCall,
} from './call.ts'
import type { Leases } from './leases.ts'
import { correctRates, takeLate, takeRates, type RateTerms, type TakenRates } from './rates.ts'

/** What admission needs from outside. */
export interface MoneyOutside {
  readonly ledger: Ledger
  readonly limiter: RateLimiter
  readonly leases: Leases
  /** Reports every budget that a request is made under. */
  readonly underBudget: (budget: Budget) => void
  readonly bytesOf: (text: string) => number
  /** Reports entries that could not be written after their request had ended. The journal still has their calls. */
  readonly unsettled: (requestId: string, error: unknown) => void
}

/** The key, and the amounts it asks for, for any kind of request. */
export interface AdmissionTerms extends RateTerms {
  readonly requestId: string
  readonly modelId: string
  /** The caller's labels of the request. */
  readonly labels?: Labels | undefined
  /**
   * Shares of the request with their own labels: each gets a ledger row for its share of a call. Undefined when the request has
   * one set of labels.
   */
  readonly shares?: readonly LabelShare[] | undefined
  /** Largest cost of the request; asked only under a hard budget. */
  readonly mostNanoUsd: () => bigint
  /** The batch it belongs to. Undefined for a request outside batches. */
  readonly batchId?: string | undefined
  /** Calls that an earlier process made for it. */
  readonly attemptsBefore?: number
  /**
   * Asked before each call, which is sent only under the terms in force then. Undefined when the terms of admission hold to the
   * end.
   */
  readonly keyNow?: KeyAsked | undefined
}

/** Whether a limit or a budget has to be asked before the request may run. */
export function mustAsk(key: Key, outside: MoneyOutside): boolean {
  let hard = false
  for (const budget of key.budgets) {
    const now = outside.leases.inForce(budget)
    hard ||= now.hard
    outside.underBudget(now)
  }
  return hard || key.limits.length > 0
}

/** Takes from the rate limits and reserves from the hard budgets. If either refuses, nothing stays taken. */
export async function admitWithin<Kind extends Admission>(
  terms: AdmissionTerms,
  outside: MoneyOutside,
  admissionOf: (taken: TakenRates) => Kind,
): Promise<Kind> {
  const admission = admissionOf(await takeRates(terms, outside.limiter))
  try {
    await admission.reserve()
  } catch (error) {
    admission[Symbol.dispose]()
    throw error
  }
  return admission
}

const NONE: readonly Leased[] = []

export class Admission implements Disposable {
  readonly project: string
  /** The state of each rate limit, for the answer's headers. */
  readonly rates: readonly RateState[]
  /** The money reserved before the request ran. Undefined when no hard budget was asked. */
  reservation: Reservation | undefined = undefined
  readonly #terms: AdmissionTerms
  readonly #outside: MoneyOutside
  readonly #takes: readonly RateTake[]
  readonly #money: HeldMoney
  /** The budgets that each call was reserved from, by call number, where there are any. */
  #budgetsOf: Map<number, readonly Budget[]> | undefined
  #attempts = 0
  #tokens = 0
  #images = 0
  #entries: LedgerEntry[] = []
  /** Reserved for the calls of the entries and not used by them. */
  #unused: readonly Leased[] = NONE
  #hasEnded = false
  #isAbandoned = false
  #isCounted: boolean

  constructor(terms: AdmissionTerms, outside: MoneyOutside, { takes, states }: TakenRates) {
    this.#terms = terms
    this.#outside = outside
    this.#takes = takes
    this.rates = states
    this.project = terms.key.project
    this.#money = new HeldMoney(outside.leases, this.#hardBudgets(terms.key), terms.requestId)
    this.#attempts = terms.attemptsBefore ?? 0
    this.#isCounted = this.#attempts > 0
  }

  /** Reserves the largest cost of the request in each hard budget. */
  async reserve(): Promise<void> {
    const { budgets } = this.#money
    if (budgets.length === 0) return
    let most = this.#terms.mostNanoUsd()
    try {
      await this.#money.setAside(most)
    } catch (error) {
      // Only now is a closer bound on the cost worth its time.
      const less =
        error instanceof BudgetRefusal ? await this.closerMostNanoUsd(error.leftNanoUsd) : undefined
      if (less === undefined || less >= most) throw error
      most = less
      await this.#money.setAside(most)
    }
    this.reservation = { nanoUsd: most, from: budgets.map(({ id }) => id) }
  }

  /** A closer bound on the cost, which takes longer to compute. Undefined when there is none that fits into what is left. */
  protected closerMostNanoUsd(_leftNanoUsd: bigint): Promise<bigint | undefined> {
    return Promise.resolve(undefined)
  }

  /** Prepares a call: money, a number, and a journal entry that outlives this process. `numbered` comes before the entry; `what` is for people. */
  async beginCall(
    callId: string,
    deployment: string,
    cost: Cost,
    numbered?: (attempt: number) => Promise<void>,
    what?: string,
  ): Promise<BegunCall> {
    const { keyNow } = this.#terms
    if (keyNow !== undefined) this.#follow(await keyNow(), cost)
    const isHeld = this.#money.budgets.length > 0 && cost.kind === 'known' && cost.nanoUsd > 0n
    const leased = isHeld ? await this.#money.take(cost.nanoUsd) : undefined
    const unknown = this.#openCall(callId, deployment, cost, leased, what)
    try {
      if (numbered !== undefined) await numbered(unknown.attempt)
      await this.#outside.ledger.begin(unknown)
    } catch (error) {
      if (leased !== undefined) this.#money.giveBack(leased)
      throw error
    }
    return { attempt: unknown.attempt, unknown }
  }

  /** A hard budget may have been set since the request was admitted. */
  #follow(key: Key, cost: Cost): void {
    const budgets = this.#hardBudgets(key)
    if (budgets.length > 0 && cost.kind !== 'known') throw unpriced(this.#terms.modelId, key)
    this.#money.follow(budgets)
  }

  #hardBudgets({ budgets }: Key): readonly Budget[] {
    if (budgets.length === 0) return budgets
    return budgets.map((budget) => this.#outside.leases.inForce(budget)).filter(({ hard }) => hard)
  }

  /** The synchronous form, where no money has to be reserved and the journal entry is already made. */
  beginAtOnce(callId: string, deployment: string, cost: Cost): BegunCall | Promise<BegunCall> {
    if (this.#money.budgets.length > 0 || this.#terms.keyNow !== undefined)
      return this.beginCall(callId, deployment, cost)
    const unknown = this.#openCall(callId, deployment, cost, undefined)
    const begun: BegunCall = { attempt: unknown.attempt, unknown }
    return this.#outside.ledger.begin(unknown)?.then(() => begun) ?? begun
  }

  /** If this process dies, the first call counts as the request. */
  #openCall(
    callId: string,
    deployment: string,
    cost: Cost,
    leased: Leased | undefined,
    what?: string,
  ): LedgerEntry {
    const isFirst = this.#attempts === 0
    const call = this.#nextCall(callId, deployment)
    if (leased === undefined) return openEntry(call, cost, NOTHING_LEASED, isFirst, what)
    const { budgets, nanoUsd } = leased
    this.#budgetsOf ??= new Map()
    this.#budgetsOf.set(call.attempt, budgets)
    const has = (owner: 'project:' | 'key:'): boolean => budgets.some(({ id }) => id.startsWith(owner))
    const held = {
      projectLeaseNanoUsd: has('project:') ? nanoUsd : 0n,
      keyLeaseNanoUsd: has('key:') ? nanoUsd : 0n,
    }
    return openEntry(call, cost, held, isFirst, what)
  }

  /** The upstream answered, so the call is paid. Its entry is in the ledger once the request is settled. */
  paid({ unknown }: BegunCall, call: PaidCall): LedgerEntry {
    this.#use(call.tokens ?? 0, call.images)
    const post = paidEntry(unknown, call, this.#countsRequest())
    this.#endedInParts(post, leasedOf(unknown) - leasedOf(post))
    return post
  }

  /** The gateway answered without a call. The ledger records that too, at no cost. */
  answeredFrom(place: string, callId: string, saved: SavedCall): void {
    this.#endedInParts(savedEntry(this.#nextCall(callId, place), saved, this.#countsRequest()), 0n)
  }

  /** The call failed. If it may have been charged, its money stays reserved until an operator resolves it. */
  failed({ unknown }: BegunCall, failure: UpstreamFailure | undefined, what?: string): void {
    if (failure === undefined || failure.mayBeCharged)
      return this.#ended({ ...leftUnknown(unknown, failure, what), countsRequest: this.#countsRequest() }, 0n)
    this.#outside.ledger.forget(unknown.requestId, unknown.attempt)
    this.#money.giveBack(this.#leasedBy(unknown))
  }

  /** The vectors of a paid call were not used: it counts no inputs. */
  discarded(attempt: number): void {
    this.#entries = this.#entries.map((entry) =>
      entry.attempt === attempt ? { ...entry, inputs: 0 } : entry,
    )
  }

  /** Resolves once every call of the request is in the ledger. Only then may the result leave. Undefined when they are. */
  settle(): Promise<void> | undefined {
    return this.#write(...this.#end())
  }

  /** Another node accounts for the calls of this request now: this node writes none of them, not even those that end later. */
  abandon(): void {
    this.#isAbandoned = true
    const [entries, unused] = this.#end()
    this.#release(unused)
    for (const entry of entries) this.#drop(entry)
  }

  /** A failed request does not wait: its calls are written afterwards, also those that end later. */
  [Symbol.dispose](): void {
    if (this.#hasEnded) return
    this.#writeLater(...this.#end())
  }

  /** The fields shared by all entries of the next call. */
  #nextCall(callId: string, deployment: string) {
    const { requestId, key, modelId, batchId, labels } = this.#terms
    const attempt = this.#attempts
    this.#attempts += 1
    const { project, id: keyId } = key
    return { requestId, attempt, callId, project, keyId, model: modelId, deployment, batchId, labels }
  }

  /** True once, for the first entry. */
  #countsRequest(): boolean {
    if (this.#isCounted) return false
    this.#isCounted = true
    return true
  }

  /** Returns the entries still to be written, and the money that is free once they are. */
  #end(): [entries: readonly LedgerEntry[], unused: readonly Leased[]] {
    const left: [readonly LedgerEntry[], readonly Leased[]] = [this.#entries, this.#unused]
    this.#hasEnded = true
    this.#entries = []
    this.#unused = NONE
    this.#money.end()
    correctRates(this.#takes, { tokens: this.#tokens, images: this.#images }, this.#outside.limiter)
    return left
  }

  /** Adds what a call used. After the end of the request, its rate limits have already been corrected without it. */
  #use(tokens: number, images: number): void {
    if (this.#hasEnded) return takeLate(this.#takes, { tokens, images }, this.#outside.limiter)
    this.#tokens += tokens
    this.#images += images
  }

  /** Drops the entry of a call that another node accounts for. */
  #drop(entry: LedgerEntry): void {
    this.#outside.ledger.forget(entry.requestId, entry.attempt)
    this.#money.release(this.#leasedBy(entry))
  }

  #endedInParts(entry: LedgerEntry, unusedNanoUsd: bigint): void {
    const { shares } = this.#terms
    if (shares === undefined) return this.#ended(entry, unusedNanoUsd)
    const parts = dividedEntry(entry, shares, () => this.#attempts++)
    for (const [index, part] of parts.entries()) this.#ended(part, index === 0 ? unusedNanoUsd : 0n)
  }

  #ended(entry: LedgerEntry, unusedNanoUsd: bigint): void {
    const unused = unusedNanoUsd === 0n ? NONE : [this.#leasedBy(entry, unusedNanoUsd)]
    if (this.#isAbandoned) {
      this.#release(unused)
      return this.#drop(entry)
    }
    if (this.#hasEnded) return this.#writeLater([entry], unused)
    this.#entries.push(entry)
    if (unused.length > 0) this.#unused = [...this.#unused, ...unused]
  }

  #leasedBy(entry: LedgerEntry, nanoUsd = leasedOf(entry)): Leased {
    return { budgets: this.#budgetsOf?.get(entry.attempt) ?? [], nanoUsd }
  }

  #writeLater(entries: readonly LedgerEntry[], unused: readonly Leased[]): void {
    this.#write(entries, unused)?.catch((error: unknown) =>
      this.#outside.unsettled(this.#terms.requestId, error),
    )
  }

  /** If this process dies before an entry is durable, its call counts in full. Unused money is therefore free only afterwards. */
  #write(entries: readonly LedgerEntry[], unused: readonly Leased[]): Promise<void> | undefined {
    const free = (): void => this.#release(unused)
    const writing = this.#outside.ledger.write(entries, free)
    if (writing !== undefined) return writing.then(free)
    free()
    return undefined
  }

  #release(unused: readonly Leased[]): void {
    for (const one of unused) this.#money.release(one)
  }
}
