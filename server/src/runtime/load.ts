/** How busy this process is. */
import { performance } from 'node:perf_hooks'
import { meanWaitMs, Shedding } from '#core/schedule/shedding.ts'

/** Short, to see rounds of the length that matters. */
const TICK_MS = 10
const LOOK_MS = 100
/** From here on the event loop has no time to spare. Rounds shorter than a tick then delay calls too, and no tick shows it. */
const SATURATED = 0.95

export interface Load {
  /** 0 to 1: which share of what comes should be refused at once. */
  readonly refusedShare: number
  /**
   * How long an event that is ready waits for its turn, time without a processor included. Infinite while the event loop has no
   * time to spare: any part of any wait may be its own then.
   */
  ownWaitMs(): number
  close(): void
}

/** `patienceMs`: how long a request may wait for this node. */
export function senseLoad(patienceMs: number): Load {
  const shedding = new Shedding(patienceMs)
  let before = performance.eventLoopUtilization()
  let lastMs = performance.now()
  let lastWorkMs = workMs()
  let lookedMs = lastMs
  let gapsMs: number[] = []
  let worksMs: number[] = []
  let waitMs = 0
  const timer = setInterval(() => {
    const nowMs = performance.now()
    const nowWorkMs = workMs()
    gapsMs.push(nowMs - lastMs)
    worksMs.push(nowWorkMs - lastWorkMs)
    lastMs = nowMs
    lastWorkMs = nowWorkMs
    if (nowMs - lookedMs < LOOK_MS) return
    const now = performance.eventLoopUtilization()
    const { utilization } = performance.eventLoopUtilization(now, before)
    before = now
    const worked = worksMs.reduce((sum, work) => sum + work, 0)
    waitMs = utilization > SATURATED ? Number.POSITIVE_INFINITY : meanWaitMs(gapsMs, TICK_MS)
    shedding.look({
      workMs: meanWaitMs(worksMs, TICK_MS),
      slowdown: Math.max(1, (nowMs - lookedMs) / Math.max(1, worked)),
      utilization,
    })
    lookedMs = nowMs
    gapsMs = []
    worksMs = []
  }, TICK_MS)
  timer.unref()
  return {
    get refusedShare() {
      return shedding.share
    },
    // A turn that is too long is known before its end.
    ownWaitMs: () => Math.max(waitMs, performance.now() - lastMs - TICK_MS),
    close: () => clearInterval(timer),
  }
}

/** Processor time of this thread. */
function workMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}
