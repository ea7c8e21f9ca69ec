import { setTimeout as delay } from 'node:timers/promises'
import type { Clock } from '#ports/clock.ts'

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
}

/** Calls `ring` after `ms`, unless the returned function cancels it. */
export function after(ms: number, ring: () => void): () => void {
  // A time in the past means now.
  const timer = setTimeout(ring, Math.max(0, ms))
  return () => clearTimeout(timer)
}

export function wait(ms: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, Math.max(0, ms)))
}

/** Waits for the work, at most for `ms` and until the signal aborts. The timer keeps no process alive. */
export async function waitFor(work: Promise<unknown>, ms: number, signal?: AbortSignal): Promise<void> {
  const tooLate = delay(Math.max(0, ms), undefined, { ref: false, ...(signal && { signal }) })
  await Promise.race([work, tooLate.catch(() => {})])
}
