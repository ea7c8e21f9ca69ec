/** Many seeds beside the oracle: requirements for each, for all together, and the story of the worst. */
import assert from 'node:assert/strict'
import { consultOracle, simulate, type Outcome } from './schedule.ts'
import { scenarioOf, type Scenario } from './schedule-world.ts'

export interface Judged {
  readonly scenario: Scenario
  readonly outcome: Outcome
  readonly oracleGood: number
  /** Share of all requests that the oracle answered and the node did not. */
  readonly gap: number
}

export interface Summary {
  readonly seeds: number
  readonly requests: number
  readonly success: number
  readonly oracle: number
  readonly gap: number
  readonly mostExtra: number
  readonly probeShare: number
  readonly worst: Judged
}

const MAX_EXTRA = 0.2

export function judge(seed: number): Judged {
  const scenario = scenarioOf(seed)
  const outcome = simulate(scenario)
  const extra = outcome.retries / outcome.firstCalls
  assert.ok(extra <= MAX_EXTRA, `seed ${seed}: ${(extra * 100).toFixed(1)} % extra calls`)
  const oracleGood = consultOracle(scenario)
  return { scenario, outcome, oracleGood, gap: (oracleGood - outcome.good) / outcome.requests }
}

export function judgeAll(firstSeed: number, seeds: number): Summary {
  let worst: Judged | undefined
  let [requests, success, oracle, mostExtra, probes, calls] = [0, 0, 0, 0, 0, 0]
  for (let seed = firstSeed; seed < firstSeed + seeds; seed += 1) {
    const judged = judge(seed)
    const { outcome } = judged
    requests += outcome.requests
    success += outcome.good / outcome.requests / seeds
    oracle += judged.oracleGood / outcome.requests / seeds
    mostExtra = Math.max(mostExtra, outcome.retries / outcome.firstCalls)
    probes += outcome.probes
    calls += outcome.firstCalls + outcome.retries
    if (!worst || judged.gap > worst.gap) worst = judged
  }
  assert.ok(worst)
  return {
    seeds,
    requests,
    success,
    oracle,
    gap: oracle - success,
    mostExtra,
    probeShare: probes / calls,
    worst,
  }
}

export function tell({ worst, ...all }: Summary): string {
  const percent = (share: number): string => `${(share * 100).toFixed(2)} %`
  const { scenario, outcome, oracleGood } = worst
  const upstreams = scenario.upstreams.map(({ offer, latencyMs, slots, spells }) => {
    const weathers = spells.map(({ fromMs, weather }) => `${(fromMs / 1000).toFixed(1)} s ${weather}`)
    const { id, priority, weight } = offer.deployment
    return `  ${id}: priority ${priority}, weight ${weight}, ${slots} slots of ${latencyMs.toFixed(0)} ms; ${weathers.join(', ')}`
  })
  const reasons = [...outcome.reasons].toSorted(([, a], [, b]) => b - a)
  return [
    `${all.seeds} seeds, ${all.requests} requests: ${percent(all.success)} answered, oracle ${percent(all.oracle)}, ` +
      `gap ${percent(all.gap)}; at most ${percent(all.mostExtra)} extra calls; ${percent(all.probeShare)} of calls were probes`,
    `worst seed ${scenario.seed}: ${percent(outcome.good / outcome.requests)} of ${outcome.requests}, ` +
      `oracle ${percent(oracleGood / outcome.requests)}; ${scenario.callsPerSecond.toFixed(0)} calls/s for ` +
      `${(scenario.durationMs / 1000).toFixed(0)} s, ${outcome.retries} retries, ${outcome.probes} probes`,
    ...upstreams,
    ...reasons.map(([reason, times]) => `  ${times} ${reason}`),
  ].join('\n')
}
