/** Interactive callers beside a batch that takes the capacity they leave, at one upstream with limited concurrency. */
import { CallSize } from '#core/schedule/call-size.ts'
import { Scheduler, type Schedulable } from '#core/schedule/scheduler.ts'
import { defaultLimits } from '#core/settings.ts'
import { Dispatch } from '#request/traffic/dispatch.ts'
import { seeded } from '#test/support/seeded.ts'
import { Agenda } from './agenda.ts'
import { earliestOf, exponential, normal } from './schedule-world.ts'

export interface Beside {
  /** Calls that the upstream serves concurrently; further ones wait there. */
  readonly slots: number
  readonly callMs: number
  readonly inputMs: number
  /** Spread of a call's duration, as the deviation of its logarithm. */
  readonly spread?: number
  /** Interactive load as a share of the upstream's capacity. */
  readonly share: (nowMs: number) => number
  /** Arrivals at equal distances, instead of random ones. */
  readonly isSteady?: boolean
  readonly hasBatch: boolean
  readonly forMs: number
  readonly seed: number
  /** The operator's setting. */
  readonly concurrency?: number
}

export interface Noticed {
  readonly p50Ms: number
  readonly p99Ms: number
  readonly refused: number
  /** Share of the upstream's remaining time that the batch used. */
  readonly usedByBatch: number
}

/** Chunks of a batch in progress on a node. */
const CHUNKS = 48
/** Pause between two calls of a chunk, for writing its results and the ledger. */
const BETWEEN_CALLS_MS = 30
const TOKENS = 8
/** Time at the beginning that does not count. */
const SETTLING_MS = 4000

export async function peopleBeside(given: Beside): Promise<Noticed> {
  const { slots, callMs, inputMs, forMs, spread = 0 } = given
  const [random, agenda, callSize] = [seeded(given.seed), new Agenda(), new CallSize()]
  const clock = { nowMs: () => agenda.nowMs, monotonicMs: () => agenda.nowMs }
  const dispatch = new Dispatch({
    scheduler: new Scheduler({ nodes: () => 1 }),
    clock,
    random,
    ownWaitMs: () => 0,
    limits: defaultLimits,
    newBudget: () => ({ begun: () => {}, mayRetry: () => true }),
    after(ms, ring) {
      let isOff = false
      agenda.at(agenda.nowMs + ms, () => void (isOff || ring()))
      return () => void (isOff = true)
    },
  })
  const offers: Schedulable[] = [
    {
      deployment: { id: 'one', priority: 0, weight: 1, limits: { concurrency: given.concurrency } },
      emulated: [],
    },
  ]
  const freeAtMs = new Float64Array(slots)
  const tookMs: number[] = []
  let [refused, peopleMs, batchMs] = [0, 0, 0]

  const call = async (inputs: number, isBackground: boolean): Promise<void> => {
    const asked = { model: 'm', project: 'p', tokens: inputs * TOKENS, images: 0, isBackground }
    const turn = await dispatch.turn(offers, { ...asked, deadlineMs: agenda.nowMs + 600_000 })
    const slot = earliestOf(freeAtMs)
    const workMs = (callMs + inputs * inputMs) * Math.exp(spread * normal(random))
    const endMs = Math.max(agenda.nowMs, freeAtMs[slot] as number) + workMs
    freeAtMs[slot] = endMs
    const { promise, resolve } = Promise.withResolvers<void>()
    agenda.at(endMs, resolve)
    await promise
    turn.end()
    if (agenda.nowMs < SETTLING_MS || agenda.nowMs > forMs) return
    if (isBackground) batchMs += workMs
    else peopleMs += workMs
  }
  const person = async (): Promise<void> => {
    const sinceMs = agenda.nowMs
    await call(1, false).then(
      () => sinceMs >= SETTLING_MS && tookMs.push(agenda.nowMs - sinceMs),
      () => void (refused += 1),
    )
  }
  const chunk = async (): Promise<void> => {
    if (agenda.nowMs >= forMs) return
    await call(callSize.next(dispatch, agenda.nowMs), true)
    agenda.at(agenda.nowMs + BETWEEN_CALLS_MS, () => void chunk())
  }
  const arrive = (): void => {
    if (agenda.nowMs > forMs) return
    const perMs = (slots / (callMs + inputMs)) * given.share(agenda.nowMs)
    agenda.at(agenda.nowMs + (given.isSteady ? 1 / perMs : exponential(1 / perMs, random)), arrive)
    void person()
  }
  agenda.at(0, arrive)
  if (given.hasBatch) for (let index = 0; index < CHUNKS; index += 1) agenda.at(1000, () => void chunk())
  await agenda.runSettled()
  tookMs.sort((a, b) => a - b)
  const at = (quantile: number): number => tookMs[Math.floor((tookMs.length - 1) * quantile)] ?? 0
  const leftMs = slots * (forMs - SETTLING_MS) - peopleMs
  return { p50Ms: at(0.5), p99Ms: at(0.99), refused, usedByBatch: batchMs / leftMs }
}
