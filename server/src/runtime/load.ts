/** How busy this process is. */
import { performance } from 'node:perf_hooks'
import { meanWaitMs, Shedding } from '#core/schedule/shedding.ts'

/** Short enough to see rounds of the length that matters. */
const TICK_MS = 10
const LOOK_MS = 100
/**
 * Utilisation from which the event loop has no idle time. Rounds shorter than a tick then delay calls too,
 * and no tick shows it.
 */
const SATURATED = 0.95

export interface Load {
  /** 0 to 1: the share of new requests that should be refused immediately. */
  readonly refusedShare: number
  /**
   * How long a ready event waits for its turn, including time without a CPU. Infinite while the event loop
   * has no idle time: any part of any wait may be its own then.
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
    // A turn that is too long is noticed before its end.
    ownWaitMs: () => Math.max(waitMs, performance.now() - lastMs - TICK_MS),
    close: () => clearInterval(timer),
  }
}

/** The share of time, from 0 to 1, in which the event loop was busy since the last call. */
export function loopBusyMeter(): () => number {
  let before = performance.eventLoopUtilization()
  return () => {
    const now = performance.eventLoopUtilization()
    const { utilization } = performance.eventLoopUtilization(now, before)
    before = now
    return Math.round(utilization * 1000) / 1000
  }
}

/** CPU time of this thread. */
function workMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}
