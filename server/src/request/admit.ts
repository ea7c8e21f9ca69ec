/**
 * Admission: may this request run, and is there money for it? It takes from the rate limits, sets aside the most the request
 * can cost, follows each of its calls into the books, and gives back what was not spent. A request holds its admission by
 * `await using`, so that nothing reserved can be forgotten, however the request ends.
 */
import type { Budget } from '#core/budget.ts'
import type { EmbeddingModel } from '#core/catalog.ts'
import { inputCount, type Input } from '#core/embedding/input.ts'
import type { UpstreamFailure } from '#core/failure.ts'
import { Fault } from '#core/fault.ts'
import { momentOf, type LedgerEntry } from '#core/ledger.ts'
import type { RateState, RateTake } from '#core/limit.ts'
import type { Offer } from '#core/negotiate.ts'
import { costOf, maxCostOf } from '#core/price.ts'
import type { Key } from '#ports/keys.ts'
import type { Ledger } from '#ports/ledger.ts'
import type { RateLimiter } from '#ports/limiter.ts'
import type { Leases } from './leases.ts'

/** What admission needs from outside. */
export interface MoneyOutside {
  readonly ledger: Ledger
  readonly limiter: RateLimiter
  readonly leases: Leases
  /** Told of every soft budget that a request is made under. */
  readonly underSoftBudget: (budget: Budget) => void
  readonly bytesOf: (text: string) => number
  /** Told of entries that could not be written after their request had ended; the journal still has their calls. */
  readonly unsettled: (requestId: string, error: unknown) => void
}

export interface Asking {
  readonly requestId: string
  readonly key: Key
  readonly model: EmbeddingModel
  readonly offers: readonly Offer[]
  readonly input: Input
}

/** A call that has been begun. */
export interface BegunCall {
  readonly attempt: number
  readonly offer: Offer
  /** What stands in the books if its end is never known. */
  readonly unknown: LedgerEntry
}

/** Immediate when no limit and no budget has to be asked. */
export function admit(asking: Asking, outside: MoneyOutside): Admission | Promise<Admission> {
  const { key, input } = asking
  let hard = false
  for (const budget of key.budgets) {
    if (budget.hard) hard = true
    else outside.underSoftBudget(budget)
  }
  if (key.limits.length === 0 && !hard) return new Admission(asking, outside, NO_TAKES, NO_RATES)
  return admitWithin(asking, outside, takesOf(key, estimatedTokens(input, outside.bytesOf)))
}

async function admitWithin(
  asking: Asking,
  outside: MoneyOutside,
  takes: readonly RateTake[],
): Promise<Admission> {
  const decision =
    takes.length === 0 ? { allowed: true, states: NO_RATES } : await outside.limiter.take(takes)
  if (!decision.allowed) throw rateFault(decision.states, takes)
  const admission = new Admission(asking, outside, takes, decision.states)
  try {
    await admission.reserve()
  } catch (error) {
    await admission[Symbol.asyncDispose]()
    throw error
  }
  return admission
}

export class Admission implements AsyncDisposable {
  /** Where each rate limit stands, for the answer's headers. */
  readonly rates: readonly RateState[]
  readonly #asking: Asking
  readonly #outside: MoneyOutside
  readonly #takes: readonly RateTake[]
  readonly #budgets: Key['budgets']
  readonly #atMs: number
  /** Reserved in each hard budget and not yet given to a call. */
  #heldNanoUsd = 0n
  #attempts = 0
  #tokens = 0
  #entries: LedgerEntry[] = []
  /** Reserved for the calls of the entries and not used by them. */
  #unusedNanoUsd = 0n
  #hasEnded = false

  constructor(
    asking: Asking,
    outside: MoneyOutside,
    takes: readonly RateTake[],
    rates: readonly RateState[],
  ) {
    this.#asking = asking
    this.#outside = outside
    this.#takes = takes
    this.rates = rates
    const { budgets } = asking.key
    this.#budgets = budgets.length === 0 ? budgets : budgets.filter((budget) => budget.hard)
    this.#atMs = momentOf(asking.requestId)
  }

  /** The most the request can cost, from each hard budget. */
  async reserve(): Promise<void> {
    if (this.#budgets.length === 0) return
    const { offers, model, input } = this.#asking
    const tokens = mostTokens(input, model, this.#outside.bytesOf)
    let most = 0n
    for (const { deployment } of offers) {
      const cost = maxCostOf(deployment.price, { tokens, rows: inputCount(input) })
      if (cost.kind === 'known' && cost.nanoUsd > most) most = cost.nanoUsd
    }
    await this.#hold(most)
    this.#giveBack(most)
  }

  /** Before a call is sent: money for it, a number for it, and a note that outlives this process. */
  async begin(callId: string, offer: Offer, input: Input): Promise<BegunCall> {
    const { requestId, key, model } = this.#asking
    const { deployment } = offer
    const cost = maxCostOf(deployment.price, {
      tokens: mostTokens(input, model, this.#outside.bytesOf),
      rows: 1,
    })
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
      model: model.id,
      deployment: deployment.id,
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
    return { attempt, offer, unknown }
  }

  /** The upstream answered: it is paid. */
  served(call: BegunCall, usage: { readonly kind: 'measured' | 'estimated'; readonly tokens: number }): void {
    const { unknown, offer } = call
    const cost = costOf(offer.deployment.price, usage.tokens)
    const amount = cost.kind === 'known' ? cost.nanoUsd : undefined
    const leasedAtMost = (leased: bigint): bigint => ((amount ?? 0n) < leased ? (amount ?? 0n) : leased)
    const leased = leasedOf(unknown)
    this.#tokens += usage.tokens
    this.#ended(
      {
        ...unknown,
        kind: 'post',
        usage: usage.kind === 'measured' ? 'upstream' : 'estimated',
        tokens: usage.tokens,
        amountNanoUsd: amount,
        projectLeaseNanoUsd: leasedAtMost(unknown.projectLeaseNanoUsd),
        keyLeaseNanoUsd: leasedAtMost(unknown.keyLeaseNanoUsd),
      },
      leased - leasedAtMost(leased),
    )
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
      if (limit.unit === 'tokens' && amount !== this.#tokens) {
        this.#outside.limiter.correct(limit, this.#tokens - amount)
      }
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
      this.#outside.unsettled(this.#asking.requestId, error),
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

const NO_TAKES: readonly RateTake[] = []
const NO_RATES: readonly RateState[] = []

/** Tokens that servers put around a text of their own accord: `[CLS]`, `[SEP]`, an end mark, an instruction's frame. */
const FRAME_TOKENS = 8

/** No upstream can charge for more: a token is at least one byte, and no more than the model reads is read. */
function mostTokens(input: Input, model: EmbeddingModel, bytesOf: (text: string) => number): number {
  if (input.kind === 'tokens') return input.tokens.reduce((sum, ids) => sum + ids.length, 0)
  const { maxInputTokens = Infinity } = model.facts
  let sum = 0
  for (const text of input.texts) sum += FRAME_TOKENS + Math.min(bytesOf(text), maxInputTokens)
  return sum
}

/** For the limiter's first guess; the true figure corrects it. English has about four bytes a token. */
function estimatedTokens(input: Input, bytesOf: (text: string) => number): number {
  if (input.kind === 'tokens') return input.tokens.reduce((sum, ids) => sum + ids.length, 0)
  return input.texts.reduce((sum, text) => sum + Math.max(1, Math.ceil(bytesOf(text) / 4)), 0)
}

function takesOf(key: Key, tokens: number): RateTake[] {
  return key.limits
    .filter(({ unit }) => unit !== 'images')
    .map((limit) => ({ limit, amount: limit.unit === 'requests' ? 1 : tokens }))
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
  const which = `The limit of ${limit.perMinute} ${limit.unit} a minute of ${owner} '${name}'`
  if (retryAfterMs === undefined) {
    return new Fault(
      'request_exceeds_rate_limit',
      `${which} can never admit this request, which needs ${wanted}.`,
      {
        rates: states,
      },
    )
  }
  return new Fault(
    'rate_limit_exceeded',
    `${which} has ${remaining} left; this request needs ${wanted}. Try again in ${(retryAfterMs / 1000).toFixed(1)} s.`,
    { retryAfterMs, rates: states },
  )
}
