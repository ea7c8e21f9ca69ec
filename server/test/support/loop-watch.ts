/**
 * The durations of this thread's rounds of the event loop, in CPU time: on a shared machine the wall time includes the
 * neighbours. It keeps the loop turning all the while.
 */
import { setImmediate as nextRound } from 'node:timers/promises'

export interface LoopWatch {
  /** The longest since it was last asked. */
  longestMs(): number
  end(): void
}

export function watchLoop(): LoopWatch {
  let longestMicros = 0
  let hasEnded = false
  let last = process.threadCpuUsage()
  const round = (): void => {
    const now = process.threadCpuUsage()
    longestMicros = Math.max(longestMicros, now.user + now.system - last.user - last.system)
    last = now
    if (!hasEnded) setImmediate(round).unref()
  }
  round()
  return {
    longestMs() {
      const longest = longestMicros / 1000
      longestMicros = 0
      return longest
    },
    end: () => void (hasEnded = true),
  }
}

/** Measurements: the work costs CPU each time, a garbage collection does not. */
const MEASUREMENTS = 5

/**
 * The longest round while `work` ran: the best of several measurements, or the first that is well below `limitMs`. The
 * input of the work is made before each, so that making it does not count.
 */
export async function longestRoundMs(limitMs: number, work: () => Promise<unknown>): Promise<number>
export async function longestRoundMs<Given>(
  limitMs: number,
  work: (given: Given) => Promise<unknown>,
  give: () => Given,
): Promise<number>
export async function longestRoundMs(
  limitMs: number,
  work: (given: unknown) => Promise<unknown>,
  give?: () => unknown,
): Promise<number> {
  let best = Infinity
  for (let measurement = 0; measurement < MEASUREMENTS && best > limitMs / 2; measurement += 1) {
    const given = give?.()
    const watch = watchLoop()
    await nextRound()
    watch.longestMs()
    await work(given)
    // The round that brought the end of the work must end first.
    await nextRound()
    best = Math.min(best, watch.longestMs())
    watch.end()
  }
  return best
}
