import type { Clock } from '#ports/clock.ts'

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
}

/** Rings after a while, unless it is cancelled by what is returned. */
export function after(ms: number, ring: () => void): () => void {
  // A moment that has passed is now.
  const timer = setTimeout(ring, Math.max(0, ms))
  return () => clearTimeout(timer)
}

export function wait(ms: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, Math.max(0, ms)))
}
