/** About as long as between two probes of a deployment. */
const PAUSE_MS = 15 * 60_000
/** Sixteen hours: in a week that is ten times in all. */
const MOST_DOUBLINGS = 6

/**
 * How long a batch pauses whose vectors have left their space. A deployment that leaves and returns all the time would be paid for
 * the same lines again and again. So the first time is free, as nothing was dropped before; then the pause doubles each time that as
 * many lines were dropped as the batch has.
 */
export function spacePauseMs(droppedBefore: number, lines: number): number {
  if (droppedBefore === 0) return 0
  return PAUSE_MS * 2 ** Math.min(MOST_DOUBLINGS, Math.floor(droppedBefore / lines))
}
