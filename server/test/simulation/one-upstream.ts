/** One upstream with limited concurrency that queues the rest, under a load that does not wait for answers. */
import { Scheduler, type Schedulable } from '#core/schedule/scheduler.ts'
import { seeded } from '#test/support/seeded.ts'
import { Agenda } from './agenda.ts'
import { earliestOf, exponential, normal } from './schedule-world.ts'

export interface Load {
  /** Undefined for unlimited concurrency. */
  readonly slots: number | undefined
  readonly serviceMs: number
  readonly callsPerSecond: number
  readonly forMs: number
  readonly seed: number
  /** Spread of the service time, as the deviation of its logarithm. */
  readonly spread?: number
  /** Factor by which it is slower at a time. */
  readonly slownessAt?: (nowMs: number) => number
  /** Share of calls that are ten times as long, and say so in their tokens. */
  readonly longShare?: number
  readonly concurrency?: number
}

export interface Second {
  readonly limit: number
  readonly most: number
  readonly served: number
  readonly turnedAway: number
  readonly meanMs: number
}

const SHORT_TOKENS = 20
const LONG_TOKENS = 4000

/** What happened, second by second. */
export function load(given: Load): readonly Second[] {
  const { callsPerSecond, forMs, longShare = 0, serviceMs, spread = 0 } = given
  const [random, agenda, scheduler] = [seeded(given.seed), new Agenda(), new Scheduler({ nodes: () => 1 })]
  const offer: Schedulable = {
    deployment: { id: 'one', priority: 0, weight: 1, limits: { concurrency: given.concurrency } },
    emulated: [],
  }
  const freeAtMs = new Float64Array(given.slots ?? 1)
  const seconds: Second[] = []
  let [served, turnedAway, totalMs, inFlight, most] = [0, 0, 0, 0, 0]

  const arrive = (): void => {
    if (agenda.nowMs > forMs) return
    agenda.at(agenda.nowMs + exponential(1000 / callsPerSecond, random), arrive)
    const isLong = random() < longShare
    const tokens = isLong ? LONG_TOKENS : SHORT_TOKENS
    const picked = scheduler.pick([offer], { nowMs: agenda.nowMs, random, tokens, images: 0 })
    if (picked.kind !== 'go') {
      turnedAway += 1
      return
    }
    const slot = earliestOf(freeAtMs)
    const slowness = (given.slownessAt?.(agenda.nowMs) ?? 1) * (isLong ? 10 : 1)
    const beginMs = Math.max(agenda.nowMs, freeAtMs[slot] as number)
    const endMs = beginMs + serviceMs * slowness * Math.exp(spread * normal(random))
    if (given.slots !== undefined) freeAtMs[slot] = endMs
    inFlight += 1
    most = Math.max(most, inFlight)
    const durationMs = endMs - agenda.nowMs
    agenda.at(endMs, () => {
      picked.end({ kind: 'ok', durationMs }, agenda.nowMs)
      inFlight -= 1
      served += 1
      totalMs += durationMs
    })
  }
  const note = (): void => {
    const limit = scheduler.states(agenda.nowMs)[0]?.limit ?? 0
    seconds.push({ limit, most, served, turnedAway, meanMs: totalMs / served })
    ;[served, turnedAway, totalMs, most] = [0, 0, 0, 0]
  }
  agenda.at(0, arrive)
  for (let atMs = 1000; atMs <= forMs; atMs += 1000) agenda.at(atMs, note)
  agenda.run()
  return seconds
}
