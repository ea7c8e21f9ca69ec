/** How busy this process is. */
import { performance } from 'node:perf_hooks'
import { meanWaitMs, Shedding } from '#core/schedule/shedding.ts'

/** Short, to see rounds of the length that matters. */
const TICK_MS = 10
const LOOK_MS = 100

export interface Load {
  /** 0 to 1: which share of what comes should be refused at once. */
  readonly refusedShare: number
  /** How long an event that is ready waits for the event loop. */
  ownWaitMs(): number
  /** `lateRefusals`: how many requests were refused after they were read, since the start. */
  countRefusals(lateRefusals: () => number): void
  close(): void
}

export function senseLoad(): Load {
  const shedding = new Shedding()
  let before = performance.eventLoopUtilization()
  let lastMs = performance.now()
  let lookedMs = lastMs
  let gapsMs: number[] = []
  let lateRefusals = (): number => 0
  let refusalsBefore = 0
  const timer = setInterval(() => {
    const nowMs = performance.now()
    gapsMs.push(nowMs - lastMs)
    lastMs = nowMs
    if (nowMs - lookedMs < LOOK_MS) return
    lookedMs = nowMs
    const now = performance.eventLoopUtilization()
    const { utilization } = performance.eventLoopUtilization(now, before)
    before = now
    const refusals = lateRefusals()
    shedding.look(meanWaitMs(gapsMs, TICK_MS), utilization, refusals - refusalsBefore)
    refusalsBefore = refusals
    gapsMs = []
  }, TICK_MS)
  timer.unref()
  return {
    get refusedShare() {
      return shedding.share
    },
    // A round that is too long is known before its end.
    ownWaitMs: () => Math.max(shedding.waitMs, performance.now() - lastMs - TICK_MS),
    countRefusals(counted) {
      lateRefusals = counted
    },
    close: () => clearInterval(timer),
  }
}
