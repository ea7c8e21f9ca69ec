/** What the rates of one deployment leave, as far as this node knows. */
import {
  correct,
  takeAll,
  type DeploymentLimits,
  type RateDebt,
  type RateTake,
  type RateUnit,
} from '../limits/limit.ts'
import { withReserve } from './background-reserve.ts'

const MINUTE_MS = 60_000
const NO_TAKES: readonly RateTake[] = []

interface RateDemand {
  readonly nowMs: number
  readonly tokens: number
  readonly images: number
  readonly isBackground?: boolean | undefined
}

export class DeploymentRates {
  readonly #debts = new Map<RateUnit, RateDebt>()

  /** When to ask again. Undefined: enough is left of every limit. */
  fullUntilMs(wanted: RateDemand, limits: DeploymentLimits | undefined, share: number): number | undefined {
    const takes = takesOf(wanted, limits).map((take) =>
      wanted.isBackground === true ? withReserve(take) : take,
    )
    if (takes.length === 0) return undefined
    const { decision } = this.#decide(takes, wanted.nowMs, share)
    if (decision.allowed) return undefined
    const waits = decision.states.map(({ retryAfterMs }) => retryAfterMs ?? MINUTE_MS)
    return wanted.nowMs + Math.max(...waits)
  }

  take(takes: readonly RateTake[], nowMs: number, share: number): void {
    if (takes.length === 0) return
    const { debts } = this.#decide(takes, nowMs, share)
    for (const [index, { limit }] of takes.entries()) this.#debts.set(limit.unit, debts[index] as RateDebt)
  }

  giveBack(takes: readonly RateTake[], nowMs: number, share: number): void {
    for (const { limit, amount } of takes) {
      const debt = this.#debts.get(limit.unit)
      if (debt) this.#debts.set(limit.unit, correct(debt, microseconds(nowMs), limit, -amount, share))
    }
  }

  #decide(takes: readonly RateTake[], nowMs: number, share: number): ReturnType<typeof takeAll> {
    const debts = takes.map(({ limit }) => this.#debts.get(limit.unit) as RateDebt)
    return takeAll(debts, microseconds(nowMs), takes, share)
  }
}

/** The limiter counts in whole microseconds. */
function microseconds(ms: number): number {
  return Math.round(ms * 1000)
}

export function takesOf(
  { tokens, images }: Pick<RateDemand, 'tokens' | 'images'>,
  limits: DeploymentLimits | undefined,
): readonly RateTake[] {
  if (!limits) return NO_TAKES
  const takes: RateTake[] = []
  const add = (unit: RateUnit, perMinute: number | undefined, amount: number): void => {
    if (perMinute === undefined || amount <= 0) return
    // A call that is larger than the amount of a minute takes all of it, or it would wait for ever.
    takes.push({ limit: { id: unit, project: '', unit, perMinute }, amount: Math.min(amount, perMinute) })
  }
  add('requests', limits.requestsPerMinute, 1)
  add('tokens', limits.tokensPerMinute, Math.ceil(tokens))
  add('images', limits.imagesPerMinute, images)
  return takes
}
