/**
 * Admission: may this request run, and is there money for it? An admission takes from the rate limits,
 * reserves the most that the request can cost, writes each of its calls into the books, and gives back what
 * was not spent. A request holds its admission by `using`, so that nothing reserved is forgotten,
 * however the request ends.
 */
import type { Budget } from '#core/budget.ts'
import type { UpstreamFailure } from '#core/fault/failure.ts'
import { momentOf, type LedgerEntry } from '#core/ledger.ts'
import type { RateState, RateTake } from '#core/limit.ts'
import type { Cost } from '#core/price.ts'
import type { Reservation } from '#core/request-trace.ts'
import type { Key } from '#ports/keys.ts'
import type { Ledger } from '#ports/ledger.ts'
import type { RateLimiter } from '#ports/limiter.ts'
import { BudgetRefusal } from './budget-refusal.ts'
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
  /** Told of every budget that a request is made under. */
  readonly underBudget: (budget: Budget) => void
  readonly bytesOf: (text: string) => number
  /**
   * Told of entries that could not be written after their
   * request had ended. The journal still has their calls.
   */
  readonly unsettled: (requestId: string, error: unknown) => void
}

/** The key that asks, and for how much, whatever the kind of the request. */
export interface AdmissionTerms extends RateTerms {
  readonly requestId: string
  readonly modelId: string
  /** The most the request can cost; asked only under a hard budget. */
  readonly mostNanoUsd: () => bigint
  /** Calls that an earlier process made for it. */
  readonly attemptsBefore?: number
}

/** Whether anything has to be asked before the request may run. */
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

export class Admission implements Disposable {
  readonly project: string
  /** Where each rate limit stands, for the answer's headers. */
  readonly rates: readonly RateState[]
  /** What was set aside for the request before it ran. Undefined: no hard budget was asked. */
  reservation: Reservation | undefined = undefined
  readonly #terms: AdmissionTerms
  readonly #outside: MoneyOutside
  readonly #takes: readonly RateTake[]
  readonly #budgets: Key['budgets']
  /** Reserved in each hard budget and not yet given to a call. */
  #heldNanoUsd = 0n
  #attempts = 0
  #tokens = 0
  #images = 0
  #entries: LedgerEntry[] = []
  /** Reserved for the calls of the entries and not used by them. */
  #unusedNanoUsd = 0n
  #hasEnded = false
  #isAbandoned = false
  #isCounted: boolean

  constructor(terms: AdmissionTerms, outside: MoneyOutside, { takes, states }: TakenRates) {
    this.#terms = terms
    this.#outside = outside
    this.#takes = takes
    this.rates = states
    this.project = terms.key.project
    const { budgets } = terms.key
    this.#budgets =
      budgets.length === 0
        ? budgets
        : budgets.map((budget) => outside.leases.inForce(budget)).filter(({ hard }) => hard)
    this.#attempts = terms.attemptsBefore ?? 0
    this.#isCounted = this.#attempts > 0
  }

  /** Reserves the most that the request can cost, in each hard budget. */
  async reserve(): Promise<void> {
    if (this.#budgets.length === 0) return
    let most = this.#terms.mostNanoUsd()
    try {
      await this.#hold(most)
    } catch (error) {
      // Only now is it worth its time to look more closely at what the request can cost.
      const less =
        error instanceof BudgetRefusal ? await this.closerMostNanoUsd(error.leftNanoUsd) : undefined
      if (less === undefined || less >= most) throw error
      most = less
      await this.#hold(most)
    }
    this.#giveBack(most)
    this.reservation = { nanoUsd: most, from: this.#budgets.map(({ id }) => id) }
  }

  /**
   * The most that the request can cost, by a bound that takes longer to find. Undefined: there is none, or it can't be
   * within what is left.
   */
  protected closerMostNanoUsd(_leftNanoUsd: bigint): Promise<bigint | undefined> {
    return Promise.resolve(undefined)
  }

  /**
   * Before a call is sent: money for it, a number for it, and a note that outlives this process. `numbered` is told the
   * number before that note is made; `what` says for people what is asked for.
   */
  async beginCall(
    callId: string,
    deployment: string,
    cost: Cost,
    numbered?: (attempt: number) => Promise<void>,
    what?: string,
  ): Promise<BegunCall> {
    const leased = this.#budgets.length > 0 && cost.kind === 'known' ? cost.nanoUsd : 0n
    if (leased > 0n) await this.#take(leased)
    const unknown = this.#openCall(callId, deployment, cost, leased, what)
    try {
      if (numbered !== undefined) await numbered(unknown.attempt)
      await this.#outside.ledger.begin(unknown)
    } catch (error) {
      this.#giveBack(leased)
      throw error
    }
    return { attempt: unknown.attempt, unknown }
  }

  /** The same at once, where no money has to be set aside and the note is made by then. */
  beginAtOnce(callId: string, deployment: string, cost: Cost): BegunCall | Promise<BegunCall> {
    if (this.#budgets.length > 0) return this.beginCall(callId, deployment, cost)
    const unknown = this.#openCall(callId, deployment, cost, 0n)
    const begun: BegunCall = { attempt: unknown.attempt, unknown }
    return this.#outside.ledger.begin(unknown)?.then(() => begun) ?? begun
  }

  /** Should this process die, the first call stands for the request. */
  #openCall(callId: string, deployment: string, cost: Cost, leased: bigint, what?: string): LedgerEntry {
    const held =
      leased === 0n
        ? NOTHING_LEASED
        : {
            projectLeaseNanoUsd: this.#has('project:') ? leased : 0n,
            keyLeaseNanoUsd: this.#has('key:') ? leased : 0n,
          }
    const isFirst = this.#attempts === 0
    return openEntry(this.#nextCall(callId, deployment), cost, held, isFirst, what)
  }

  /** The upstream answered, so the call is paid. Its entry is in the books once the request is settled. */
  paid({ unknown }: BegunCall, call: PaidCall): LedgerEntry {
    this.#use(call.tokens ?? 0, call.images)
    const post = paidEntry(unknown, call, this.#countsRequest())
    this.#ended(post, leasedOf(unknown) - leasedOf(post))
    return post
  }

  /** The gateway answered without a call. That cost nothing and stands in the books all the same. */
  answeredFrom(place: string, callId: string, saved: SavedCall): void {
    this.#ended(savedEntry(this.#nextCall(callId, place), saved, this.#countsRequest()), 0n)
  }

  /** The call failed. If it may have been charged, its money stays reserved until an operator resolves it. */
  failed({ unknown }: BegunCall, failure: UpstreamFailure | undefined, what?: string): void {
    if (failure === undefined || failure.mayBeCharged)
      return this.#ended({ ...leftUnknown(unknown, failure, what), countsRequest: this.#countsRequest() }, 0n)
    this.#outside.ledger.forget(unknown.requestId, unknown.attempt)
    this.#giveBack(leasedOf(unknown))
  }

  /** Resolves once every call of the request is in the books. Only then may the result leave. Undefined: they are. */
  settle(): Promise<void> | undefined {
    return this.#write(...this.#end())
  }

  /** Another node accounts for the calls of this request now: this node writes none of them, also none that end later. */
  abandon(): void {
    this.#isAbandoned = true
    const [entries, unused] = this.#end()
    this.#releaseToBudgets(unused)
    for (const entry of entries) this.#drop(entry)
  }

  /** A request that failed does not wait: its calls are written afterwards, also those that end later. */
  [Symbol.dispose](): void {
    if (this.#hasEnded) return
    this.#writeLater(...this.#end())
  }

  /** What every entry of the next call says. */
  #nextCall(callId: string, deployment: string) {
    const { requestId, key, modelId } = this.#terms
    const attempt = this.#attempts
    this.#attempts += 1
    return { requestId, attempt, callId, project: key.project, keyId: key.id, model: modelId, deployment }
  }

  /** Once, for the first entry that is made. */
  #countsRequest(): boolean {
    if (this.#isCounted) return false
    this.#isCounted = true
    return true
  }

  /** Returns the entries still to be written, and the money that is free once they are. */
  #end(): [entries: readonly LedgerEntry[], unusedNanoUsd: bigint] {
    const left: [readonly LedgerEntry[], bigint] = [this.#entries, this.#unusedNanoUsd]
    this.#hasEnded = true
    this.#entries = []
    this.#unusedNanoUsd = 0n
    const held = this.#heldNanoUsd
    this.#heldNanoUsd = 0n
    this.#releaseToBudgets(held)
    correctRates(this.#takes, { tokens: this.#tokens, images: this.#images }, this.#outside.limiter)
    return left
  }

  /** What a call used. When the request has ended before, its rate limits have got back what it had not used until then. */
  #use(tokens: number, images: number): void {
    if (this.#hasEnded) return takeLate(this.#takes, { tokens, images }, this.#outside.limiter)
    this.#tokens += tokens
    this.#images += images
  }

  /** The entry of a call that another node accounts for. */
  #drop(entry: LedgerEntry): void {
    this.#outside.ledger.forget(entry.requestId, entry.attempt)
    this.#releaseToBudgets(leasedOf(entry))
  }

  #ended(entry: LedgerEntry, unusedNanoUsd: bigint): void {
    if (this.#isAbandoned) {
      this.#releaseToBudgets(unusedNanoUsd)
      return this.#drop(entry)
    }
    if (this.#hasEnded) return this.#writeLater([entry], unusedNanoUsd)
    this.#entries.push(entry)
    this.#unusedNanoUsd += unusedNanoUsd
  }

  #writeLater(entries: readonly LedgerEntry[], unusedNanoUsd: bigint): void {
    this.#write(entries, unusedNanoUsd)?.catch((error: unknown) =>
      this.#outside.unsettled(this.#terms.requestId, error),
    )
  }

  /** Should this process die before an entry is durable, its call counts in full. So unused money is free only then. */
  #write(entries: readonly LedgerEntry[], unusedNanoUsd: bigint): Promise<void> | undefined {
    const writing = this.#outside.ledger.write(entries)
    if (writing !== undefined) return writing.then(() => this.#releaseToBudgets(unusedNanoUsd))
    this.#releaseToBudgets(unusedNanoUsd)
    return undefined
  }

  /** Reserves in each budget, or in none. */
  async #hold(amountNanoUsd: bigint): Promise<void> {
    const { leases } = this.#outside
    const atMs = this.#atMs()
    const done: Key['budgets'][number][] = []
    try {
      for (const budget of this.#budgets) {
        await leases.reserve(budget, atMs, amountNanoUsd)
        done.push(budget)
      }
    } catch (error) {
      for (const budget of done) leases.release(budget, atMs, amountNanoUsd)
      throw error
    }
  }

  /** Takes held money first, and what is lacking from the budgets. Held money goes at once: the request may end meanwhile. */
  async #take(amountNanoUsd: bigint): Promise<void> {
    const held = this.#heldNanoUsd < amountNanoUsd ? this.#heldNanoUsd : amountNanoUsd
    const lacking = amountNanoUsd - held
    this.#heldNanoUsd -= held
    if (lacking === 0n) return
    try {
      await this.#hold(lacking)
    } catch (error) {
      this.#giveBack(held)
      throw error
    }
  }

  #giveBack(amountNanoUsd: bigint): void {
    if (this.#hasEnded) this.#releaseToBudgets(amountNanoUsd)
    else this.#heldNanoUsd += amountNanoUsd
  }

  #releaseToBudgets(amountNanoUsd: bigint): void {
    for (const budget of this.#budgets) this.#outside.leases.release(budget, this.#atMs(), amountNanoUsd)
  }

  /** The moment that decides on the window of a budget: that of the request, not of its end. */
  #atMs(): number {
    return momentOf(this.#terms.requestId)
  }

  #has(owner: 'project:' | 'key:'): boolean {
    return this.#budgets.some(({ id }) => id.startsWith(owner))
  }
}
