/** First pause: about the time between two probes of a deployment. */
const PAUSE_MS = 15 * 60_000
/** Doublings of the pause, up to sixteen hours: a batch of a week then repeats lines at most ten times. */
const MAX_DOUBLINGS = 6

/**
 * Pause of a batch whose vectors have left their space. A deployment that keeps leaving and returning would be paid for the
 * same lines again and again. The first time is free, because nothing was dropped before; then the pause doubles each time
 * that as many lines were dropped as the batch has.
 */
export function spacePauseMs(droppedBefore: number, lines: number): number {
  if (droppedBefore === 0) return 0
  return PAUSE_MS * 2 ** Math.min(MAX_DOUBLINGS, Math.floor(droppedBefore / lines))
}
