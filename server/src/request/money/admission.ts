/**
 * Admission: may this request run, and is there money for it? It takes from the rate limits, sets aside the most the request
 * can cost, follows each of its calls into the books, and gives back what was not spent. A request holds its admission by
 * `await using`, so that nothing reserved can be forgotten, however the request ends.
 */
import type { Budget } from '#core/budget.ts'
import type { UpstreamFailure } from '#core/fault/failure.ts'
import { Fault } from '#core/fault/fault.ts'
import { momentOf, type LedgerEntry } from '#core/ledger.ts'
import type { RateState, RateTake } from '#core/limit.ts'
import type { Cost } from '#core/price.ts'
import type { Key } from '#ports/keys.ts'
import type { Ledger } from '#ports/ledger.ts'
import type { RateLimiter } from '#ports/limiter.ts'
import type { Leases } from './leases.ts'

/** What admission needs from outside. */
export interface MoneyOutside {
  readonly ledger: Ledger
  readonly limiter: RateLimiter
  readonly leases: Leases
  /** Told of every budget that a request is made under. */
  readonly underBudget: (budget: Budget) => void
  readonly bytesOf: (text: string) => number
  /** Told of entries that could not be written after their request had ended; the journal still has their calls. */
  readonly unsettled: (requestId: string, error: unknown) => void
}

/** Who asks, and for how much, whatever the kind of the request. */
export interface Admitting {
  readonly requestId: string
  readonly key: Key
  readonly modelId: string
  /** For the limiter's first guess; the true figures correct it. */
  readonly tokens: number
  readonly images: number
  /** The most the request can cost; asked only under a hard budget. */
  readonly mostNanoUsd: () => bigint
  /** Calls that an earlier process made for it. */
  readonly attemptsBefore?: number
}

/** A call that has been begun. */
export interface BegunCall {
  readonly attempt: number
  /** What stands in the books if its end is never known. */
  readonly unknown: LedgerEntry
}

/** What a call turned out to be. */
export interface Paid {
  readonly usage: 'upstream' | 'estimated'
  /** Undefined: unknown, which is not zero. */
  readonly tokens: number | undefined
  readonly images: number
  readonly cost: Cost
}

/** Whether anything has to be asked before the request may run. */
export function mustAsk(key: Key, outside: MoneyOutside): boolean {
  let hard = false
  for (const budget of key.budgets) {
    hard ||= budget.hard
    outside.underBudget(budget)
  }
  return hard || key.limits.length > 0
}

/** Takes from the rate limits what the admission stands for. */
export async function takeRates(
  { key, tokens, images }: Admitting,
  outside: MoneyOutside,
): Promise<RatesTaken> {
  const amounts = { requests: 1, tokens, images }
  const takes = key.limits
    .map((limit) => ({ limit, amount: amounts[limit.unit] }))
    .filter(({ amount }) => amount > 0)
  if (takes.length === 0) return NOTHING_TAKEN
  const { allowed, states } = await outside.limiter.take(takes)
  if (!allowed) throw rateFault(states, takes)
  return { takes, states }
}

export interface RatesTaken {
  readonly takes: readonly RateTake[]
  readonly states: readonly RateState[]
}

export const NOTHING_TAKEN: RatesTaken = { takes: [], states: [] }

export class Admission implements AsyncDisposable {
  /** Who asks. */
  readonly project: string
  /** Where each rate limit stands, for the answer's headers. */
  readonly rates: readonly RateState[]
  readonly #admitting: Admitting
  readonly #outside: MoneyOutside
  readonly #takes: readonly RateTake[]
  readonly #budgets: Key['budgets']
  readonly #atMs: number
  /** Reserved in each hard budget and not yet given to a call. */
  #heldNanoUsd = 0n
  #attempts = 0
  #tokens = 0
  #images = 0
  #entries: LedgerEntry[] = []
  /** Reserved for the calls of the entries and not used by them. */
  #unusedNanoUsd = 0n
  #hasEnded = false

  constructor(admitting: Admitting, outside: MoneyOutside, { takes, states }: RatesTaken) {
    this.#admitting = admitting
    this.#outside = outside
    this.#takes = takes
    this.rates = states
    this.project = admitting.key.project
    const { budgets } = admitting.key
    this.#budgets = budgets.length === 0 ? budgets : budgets.filter((budget) => budget.hard)
    this.#atMs = momentOf(admitting.requestId)
    this.#attempts = admitting.attemptsBefore ?? 0
  }

  /** The most the request can cost, from each hard budget. */
  async reserve(): Promise<void> {
    if (this.#budgets.length === 0) return
    const most = this.#admitting.mostNanoUsd()
    await this.#hold(most)
    this.#giveBack(most)
  }

  /** Before a call is sent: money for it, a number for it, and a note that outlives this process. */
  async beginCall(callId: string, deployment: string, cost: Cost): Promise<BegunCall> {
    const { requestId, key, modelId } = this.#admitting
    const amount = cost.kind === 'known' ? cost.nanoUsd : undefined
    const leased = this.#budgets.length === 0 ? 0n : (amount ?? 0n)
    if (leased > 0n) await this.#take(leased)
    const attempt = this.#attempts
    this.#attempts += 1
    const unknown: LedgerEntry = {
      requestId,
      attempt,
      kind: 'unknown',
      callId,
      project: key.project,
      keyId: key.id,
      model: modelId,
      deployment,
      usage: 'unknown',
      tokens: undefined,
      images: 0,
      amountNanoUsd: amount,
      projectLeaseNanoUsd: this.#has('project:') ? leased : 0n,
      keyLeaseNanoUsd: this.#has('key:') ? leased : 0n,
    }
    try {
      await this.#outside.ledger.begin(unknown)
    } catch (error) {
      this.#giveBack(leased)
      throw error
    }
    return { attempt, unknown }
  }

  /** The upstream answered: it is paid. The entry that says so is in the books once the request is settled. */
  paid({ unknown }: BegunCall, { usage, tokens, images, cost }: Paid): LedgerEntry {
    const amount = cost.kind === 'known' ? cost.nanoUsd : undefined
    const leasedAtMost = (leased: bigint): bigint => ((amount ?? 0n) < leased ? (amount ?? 0n) : leased)
    const leased = leasedOf(unknown)
    this.#tokens += tokens ?? 0
    this.#images += images
    const post: LedgerEntry = {
      ...unknown,
      kind: 'post',
      usage,
      tokens,
      images,
      amountNanoUsd: amount,
      projectLeaseNanoUsd: leasedAtMost(unknown.projectLeaseNanoUsd),
      keyLeaseNanoUsd: leasedAtMost(unknown.keyLeaseNanoUsd),
    }
    this.#ended(post, leased - leasedAtMost(leased))
    return post
  }

  /** Something was answered without a call: it cost nothing, and stands in the books all the same. */
  answeredFrom(place: string, callId: string): void {
    const { requestId, key, modelId } = this.#admitting
    const attempt = this.#attempts
    this.#attempts += 1
    const entry: LedgerEntry = {
      requestId,
      attempt,
      kind: 'post',
      callId,
      project: key.project,
      keyId: key.id,
      model: modelId,
      deployment: place,
      usage: 'upstream',
      tokens: 0,
      images: 0,
      amountNanoUsd: 0n,
      projectLeaseNanoUsd: 0n,
      keyLeaseNanoUsd: 0n,
    }
    this.#ended(entry, 0n)
  }

  /** The call failed. What may have been charged stays reserved, in the books, until somebody finds out. */
  failed({ unknown }: BegunCall, failure: UpstreamFailure | undefined): void {
    if (failure === undefined || failure.mayBeCharged) return this.#ended(unknown, 0n)
    this.#outside.ledger.forget(unknown.requestId, unknown.attempt)
    this.#giveBack(leasedOf(unknown))
  }

  /** Resolves once every call of the request is in the books: only then may its result leave. */
  async settle(): Promise<void> {
    const [entries, unused] = this.#end()
    await this.#write(entries, unused)
  }

  /** Another node accounts for the calls of this request now: nothing of them is written in this one's name. */
  abandon(): void {
    const [entries, unused] = this.#end()
    let left = unused
    for (const entry of entries) {
      this.#outside.ledger.forget(entry.requestId, entry.attempt)
      left += leasedOf(entry)
    }
    this.#releaseToBudgets(left)
  }

  /** A request that failed waits for nobody: its calls are put into the books behind its back, also those that end later. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#hasEnded) return
    this.#writeLater(...this.#end())
  }

  /** What is left to be written, and the money that is free once it is. */
  #end(): [entries: readonly LedgerEntry[], unusedNanoUsd: bigint] {
    const left: [readonly LedgerEntry[], bigint] = [this.#entries, this.#unusedNanoUsd]
    this.#hasEnded = true
    this.#entries = []
    this.#unusedNanoUsd = 0n
    const held = this.#heldNanoUsd
    this.#heldNanoUsd = 0n
    this.#releaseToBudgets(held)
    for (const { limit, amount } of this.#takes) {
      const used = { requests: amount, tokens: this.#tokens, images: this.#images }[limit.unit]
      if (used !== amount) this.#outside.limiter.correct(limit, used - amount)
    }
    return left
  }

  #ended(entry: LedgerEntry, unusedNanoUsd: bigint): void {
    if (this.#hasEnded) return this.#writeLater([entry], unusedNanoUsd)
    this.#entries.push(entry)
    this.#unusedNanoUsd += unusedNanoUsd
  }

  #writeLater(entries: readonly LedgerEntry[], unusedNanoUsd: bigint): void {
    this.#write(entries, unusedNanoUsd).catch((error: unknown) =>
      this.#outside.unsettled(this.#admitting.requestId, error),
    )
  }

  /** Until an entry is durable its call counts in full, should this process die: only then may others use what it left. */
  async #write(entries: readonly LedgerEntry[], unusedNanoUsd: bigint): Promise<void> {
    await this.#outside.ledger.write(entries)
    this.#releaseToBudgets(unusedNanoUsd)
  }

  /** In each budget, or in none. */
  async #hold(amountNanoUsd: bigint): Promise<void> {
    const { leases } = this.#outside
    const done: Key['budgets'][number][] = []
    try {
      for (const budget of this.#budgets) {
        await leases.reserve(budget, this.#atMs, amountNanoUsd)
        done.push(budget)
      }
    } catch (error) {
      for (const budget of done) leases.release(budget, this.#atMs, amountNanoUsd)
      throw error
    }
  }

  /** From what is held, and what that lacks from the budgets. What is held is taken at once: the request may end meanwhile. */
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
    for (const budget of this.#budgets) this.#outside.leases.release(budget, this.#atMs, amountNanoUsd)
  }

  #has(owner: 'project:' | 'key:'): boolean {
    return this.#budgets.some(({ id }) => id.startsWith(owner))
  }
}

function leasedOf({ projectLeaseNanoUsd, keyLeaseNanoUsd }: LedgerEntry): bigint {
  return projectLeaseNanoUsd > keyLeaseNanoUsd ? projectLeaseNanoUsd : keyLeaseNanoUsd
}

function rateFault(states: readonly RateState[], takes: readonly RateTake[]): Fault {
  const refusals = states.filter(({ retryAfterMs }) => retryAfterMs !== 0)
  const never = refusals.find(({ retryAfterMs }) => retryAfterMs === undefined)
  const worst = never ?? refusals.toSorted((a, b) => (b.retryAfterMs ?? 0) - (a.retryAfterMs ?? 0))[0]
  const { limit, remaining, retryAfterMs } = worst as RateState
  const wanted = takes.find((take) => take.limit.id === limit.id)?.amount ?? 0
  const [owner = '', name = ''] = limit.id.split(':')
  const which = `The rate limit of ${owner} '${name}' (${limit.perMinute} ${limit.unit} a minute)`
  if (retryAfterMs === undefined) {
    return new Fault(
      'request_exceeds_rate_limit',
      `${which} is too low for this request, which needs ${wanted}. Send a smaller request.`,
      {
        rates: states,
      },
    )
  }
  return new Fault(
    'rate_limit_exceeded',
    `${which} has ${remaining} left; this request needs ${wanted}. Retry in ${(retryAfterMs / 1000).toFixed(1)} s.`,
    { retryAfterMs, rates: states },
  )
}
