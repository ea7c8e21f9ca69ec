/** Upstreams with a fate, and the callers who need them: everything follows from a seed. */
import type { CallEnd } from '#core/schedule/deployment.ts'
import type { Schedulable } from '#core/schedule/scheduler.ts'
import { seeded } from '#test/support/seeded.ts'

export type Weather =
  | 'fine'
  | 'slow'
  | 'erring'
  | 'down'
  | 'hanging'
  | 'garbage'
  | 'limited'
  | 'limitedSilently'
  | 'rejecting'

export interface Spell {
  readonly fromMs: number
  readonly weather: Weather
  /** Factor of slowness; share of failures; calls per second that are let through. */
  readonly measure: number
}

export interface UpstreamPlan {
  readonly offer: Schedulable
  readonly latencyMs: number
  /** Calls served concurrently; the rest wait in its queue. */
  readonly slots: number
  readonly spells: readonly Spell[]
}

export interface Scenario {
  readonly seed: number
  readonly durationMs: number
  readonly callsPerSecond: number
  readonly upstreams: readonly UpstreamPlan[]
  readonly arrivals: readonly Arrival[]
}

export interface Arrival {
  readonly atMs: number
  readonly tokens: number
  readonly project: string
  /** The request itself is at fault: every upstream refuses it. */
  readonly isBad: boolean
}

/** In proportion to the gateway's own: 30 s per attempt, 60 s in all, 2 s in the queue. */
export const ATTEMPT_MS = 3000
export const REQUEST_MS = 6000
export const QUEUE_MS = 2000

const TROUBLES: readonly Weather[] = [
  'slow',
  'erring',
  'down',
  'hanging',
  'garbage',
  'limited',
  'limitedSilently',
  'rejecting',
]

export function scenarioOf(seed: number): Scenario {
  const random = seeded(seed)
  const between = (least: number, most: number): number => least + random() * (most - least)
  const durationMs = between(30_000, 60_000)
  const callsPerSecond = 20 * 25 ** random()
  const modelMs = 10 * 20 ** random()
  const count = 2 + Math.floor(random() * 4)
  const hasTwoTiers = random() < 0.5
  const upstreams = Array.from({ length: count }, (_, index): UpstreamPlan => {
    const latencyMs = modelMs * between(0.7, 1.5)
    const needed = (callsPerSecond * latencyMs) / 1000
    return {
      offer: {
        deployment: {
          id: `d${index}`,
          priority: hasTwoTiers && index > 0 && random() < 0.5 ? 1 : 0,
          weight: [1, 1, 1, 2, 5][Math.floor(random() * 5)] as number,
        },
        emulated: [],
      },
      latencyMs,
      slots: Math.ceil(needed * between(0.8, 2.5)) + 2,
      spells: spellsOf(durationMs, callsPerSecond, random),
    }
  })
  return {
    seed,
    durationMs,
    callsPerSecond,
    upstreams,
    arrivals: arrivalsOf(durationMs, callsPerSecond, random),
  }
}

function spellsOf(durationMs: number, callsPerSecond: number, random: () => number): Spell[] {
  const spells: Spell[] = [{ fromMs: 0, weather: 'fine', measure: 0 }]
  let atMs = exponential(15_000, random)
  while (atMs < durationMs) {
    const forMs = 500 + exponential(5000, random)
    const weather = TROUBLES[Math.floor(random() * TROUBLES.length)] as Weather
    const measure = measureOf(weather, callsPerSecond, random)
    // One trouble in four flaps; a refused credential does not: it is fixed when a person acts.
    const beatMs = random() < 0.25 && weather !== 'rejecting' ? 300 + random() * 1500 : forMs
    for (let beat = 0; beat < forMs; beat += beatMs * 2) {
      spells.push({ fromMs: atMs + beat, weather, measure })
      spells.push({ fromMs: atMs + Math.min(forMs, beat + beatMs), weather: 'fine', measure: 0 })
    }
    atMs += forMs + exponential(15_000, random)
  }
  return spells
}

function measureOf(weather: Weather, callsPerSecond: number, random: () => number): number {
  if (weather === 'slow') return 3 + random() * 17
  if (weather === 'erring') return 0.1 + random() * 0.8
  return callsPerSecond * (0.05 + random() * 0.4)
}

function arrivalsOf(durationMs: number, callsPerSecond: number, random: () => number): Arrival[] {
  const arrivals: Arrival[] = []
  for (let atMs = exponential(1000 / callsPerSecond, random); atMs < durationMs;) {
    const tokens = Math.ceil(20 * Math.exp(1.2 * normal(random)))
    const project = random() < 0.6 ? 'large' : random() < 0.5 ? 'middle' : 'small'
    arrivals.push({ atMs, tokens, project, isBad: random() < 0.005 })
    atMs += exponential(1000 / callsPerSecond, random)
  }
  return arrivals
}

/** The outcome of a call. Without `afterMs` it never ends. */
export interface Fate {
  readonly end: CallEnd
  readonly afterMs: number | undefined
}

/** A limited upstream gives the retry time in whole seconds, as HTTP does. */
const RETRY_AFTER_MS = 1000

export class SimulatedUpstream {
  readonly plan: UpstreamPlan
  readonly #random: () => number
  /** When each slot is free again. */
  readonly #freeAtMs: Float64Array
  #spell = 0
  #tokens = 0
  #tokensAtMs = 0

  constructor(plan: UpstreamPlan, seed: number) {
    this.plan = plan
    this.#random = seeded(seed)
    this.#freeAtMs = new Float64Array(plan.slots)
  }

  spellAt(nowMs: number): Spell {
    const { spells } = this.plan
    while ((spells[this.#spell + 1]?.fromMs ?? Infinity) <= nowMs) this.#spell += 1
    return spells[this.#spell] as Spell
  }

  /** A query without effect; `accept` makes it happen. */
  fateOf(arrival: Arrival, nowMs: number): Fate {
    const { weather, measure } = this.spellAt(nowMs)
    const failed = (afterMs: number): Fate => ({ end: { kind: 'failed', durationMs: afterMs }, afterMs })
    if (weather === 'hanging') return { end: { kind: 'failed', durationMs: 0 }, afterMs: undefined }
    if (weather === 'down') return failed(1 + this.#random() * 4)
    if (weather === 'rejecting') return { end: { kind: 'rejectedUs' }, afterMs: 10 }
    if (weather === 'limited' || weather === 'limitedSilently') {
      if (this.#tokensAt(nowMs, measure) < 1) {
        const retryAfterMs = weather === 'limited' ? RETRY_AFTER_MS : undefined
        return { end: { kind: 'limited', retryAfterMs }, afterMs: 5 }
      }
    }
    if (weather === 'erring' && this.#random() < measure) return failed(5 + this.#random() * 20)
    const durationMs = this.#durationMs(arrival, weather === 'slow' ? measure : 1, nowMs)
    if (weather === 'garbage') return failed(durationMs)
    return { end: { kind: arrival.isBad ? 'refused' : 'ok', durationMs }, afterMs: durationMs }
  }

  accept({ afterMs }: Fate, nowMs: number): void {
    this.#tokens -= 1
    if (afterMs === undefined) return
    this.#freeAtMs[earliestOf(this.#freeAtMs)] = nowMs + afterMs
  }

  /** Includes its wait in the upstream's queue; long texts take longer, and no two calls take equally long. */
  #durationMs({ tokens }: Arrival, factor: number, nowMs: number): number {
    const serviceMs =
      this.plan.latencyMs * factor * (0.8 + tokens / 100) * Math.exp(0.25 * normal(this.#random))
    const waitMs = Math.max(0, (this.#freeAtMs[earliestOf(this.#freeAtMs)] as number) - nowMs)
    return waitMs + serviceMs
  }

  /** Lets `perSecond` calls through each second, and a burst of one second's worth. */
  #tokensAt(nowMs: number, perSecond: number): number {
    const earned = ((nowMs - this.#tokensAtMs) / 1000) * perSecond
    this.#tokens = Math.min(Math.max(1, perSecond), Math.max(0, this.#tokens) + earned)
    this.#tokensAtMs = nowMs
    return this.#tokens
  }
}

/** Index of the smallest: the slot that is free soonest. Few enough for a linear search. */
export function earliestOf(timesMs: Float64Array): number {
  let earliest = 0
  for (let index = 1; index < timesMs.length; index += 1)
    if ((timesMs[index] as number) < (timesMs[earliest] as number)) earliest = index
  return earliest
}

export function exponential(mean: number, random: () => number): number {
  return -Math.log(1 - random()) * mean
}

export function normal(random: () => number): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
}
