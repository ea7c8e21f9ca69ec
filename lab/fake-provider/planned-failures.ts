import type { Scenario } from './traits.ts'
import { Refusal } from './wire.ts'

/** Failures that a scenario plans whatever the request says. Counts per scenario and credential. */
export class PlannedFailures {
  readonly #calls = new Map<string, number>()
  readonly #acceptedAtMs = new Map<string, number[]>()

  refuse(scenario: Scenario, credential: string | null): void {
    const key = `${scenario.name} ${credential}`
    this.#refuseFirst(scenario, key)
    this.#refuseRate(scenario, key)
    this.refuseAlways(scenario, credential)
  }

  /** Failures without a count: a look at the list of models is none of the first calls, nor one of a second's. */
  refuseAlways(scenario: Scenario, credential: string | null): void {
    const status = scenario.amount('status-N')
    if (status !== undefined) {
      const retryAfterMs = scenario.amount('retry-after-N') ?? (status === 429 ? 7000 : 0)
      throw new Refusal(status, `The scenario answers ${status}.`, { headers: retryHeaders(retryAfterMs) })
    }
    if (scenario.has('quota')) {
      throw new Refusal(429, 'You exceeded your current quota, please check your plan and billing details.', {
        code: 'insufficient_quota',
      })
    }
    if (scenario.has('content-refused')) {
      throw new Refusal(400, 'Your request was refused by the content policy.', {
        code: 'content_policy_violation',
      })
    }
    if (scenario.has('leaks-key')) throw new Refusal(400, `Incorrect API key provided: ${credential}.`)
  }

  #refuseFirst(scenario: Scenario, key: string): void {
    const failing = scenario.amount('fails-first-N')
    if (failing === undefined) return
    const calls = (this.#calls.get(key) ?? 0) + 1
    this.#calls.set(key, calls)
    if (calls <= failing) throw new Refusal(500, `The first ${failing} calls fail; this was number ${calls}.`)
  }

  #refuseRate(scenario: Scenario, key: string): void {
    const perSecond = scenario.amount('rate-limited-N')
    if (perSecond === undefined) return
    const nowMs = performance.now()
    const recent = (this.#acceptedAtMs.get(key) ?? []).filter((atMs) => nowMs - atMs < 1000)
    this.#acceptedAtMs.set(key, recent)
    if (recent.length >= perSecond) {
      throw new Refusal(429, `Rate limit reached: ${perSecond} requests per second.`, {
        code: 'rate_limit_exceeded',
        headers: { 'retry-after': '1' },
      })
    }
    recent.push(nowMs)
  }
}

/** Whole seconds, as the standard has it; what is no whole second comes in milliseconds beside, as Azure sends it. */
function retryHeaders(retryAfterMs: number): Record<string, string> {
  if (retryAfterMs === 0) return {}
  const seconds = { 'retry-after': String(Math.ceil(retryAfterMs / 1000)) }
  return retryAfterMs % 1000 === 0 ? seconds : { ...seconds, 'retry-after-ms': String(retryAfterMs) }
}
