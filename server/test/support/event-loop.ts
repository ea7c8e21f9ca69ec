/** How long the event loop of this process was held. */
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as delay } from 'node:timers/promises'

/** Of three measurements the best: what the work itself holds is held each time, what the machine's other work holds is not. */
const MEASUREMENTS = 3

/** Milliseconds of the longest hold while `work` ran. */
export async function longestHoldMs(work: () => Promise<unknown>): Promise<number> {
  let best = Infinity
  for (let measurement = 0; measurement < MEASUREMENTS && best > 20; measurement += 1) {
    const histogram = monitorEventLoopDelay({ resolution: 5 })
    // The first samples belong to what ran before.
    await delay(20)
    histogram.enable()
    await delay(20)
    histogram.reset()
    await work()
    // A hold is only seen when the timer after it fires.
    await delay(20)
    histogram.disable()
    best = Math.min(best, histogram.max / 1e6)
  }
  return best
}
