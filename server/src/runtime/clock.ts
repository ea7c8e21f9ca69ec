import { setTimeout as delay } from 'node:timers/promises'
import type { Clock, NodeClock } from '#ports/clock.ts'

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
}

/** A jump of the store's clock: more than a busy node's doubt about it, and less than anything that is kept. */
const JUMP_MS = 10_000

/** Counts the store's time, as soon as it knows it, from the monotonic clock of `machine`. */
export function nodeClock(machine: Clock = systemClock): NodeClock {
  let leadMs = machine.nowMs() - machine.monotonicMs()
  let steadySinceMs: number | undefined
  const nowMs = (): number => Math.floor(machine.monotonicMs() + leadMs)
  return {
    nowMs,
    monotonicMs: () => machine.monotonicMs(),
    skewMs: () => (steadySinceMs === undefined ? undefined : machine.nowMs() - nowMs()),
    follow(storeMs, askedMs) {
      const answeredMs = machine.monotonicMs()
      // No further than the answer proves: a slow one moves no clock that is right.
      const provenMs = Math.min(Math.max(leadMs, storeMs - answeredMs), storeMs - askedMs)
      if (steadySinceMs === undefined || Math.abs(provenMs - leadMs) > JUMP_MS) steadySinceMs = answeredMs
      leadMs = provenMs
    },
    steadyMs: () => (steadySinceMs === undefined ? 0 : machine.monotonicMs() - steadySinceMs),
  }
}

/** Calls `ring` after `ms`, unless the returned function cancels it. */
export function after(ms: number, ring: () => void): () => void {
  // A time in the past means now.
  const timer = setTimeout(ring, Math.max(0, ms))
  return () => clearTimeout(timer)
}

/** Calls `ring` after `ms`, as `after` does, with a timer that keeps no process alive. */
export function afterInBackground(ms: number, ring: () => void): () => void {
  const timer = setTimeout(ring, Math.max(0, ms)).unref()
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
