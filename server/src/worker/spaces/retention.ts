/** How long what is known of spaces is kept. */
import type { OldSpaces } from '#ports/spaces.ts'

const DAY_MS = 86_400_000
/** A season of drift in the console. */
export const POINTS_KEPT_MS = 90 * DAY_MS
/** A deployment that comes back later than this is held back until its first probe, as a new one is. */
const STANDINGS_KEPT_MS = 30 * DAY_MS
/** No cache keeps a vector for longer than a year. */
const BAD_STANDINGS_KEPT_MS = 400 * DAY_MS

export function oldSpaces(nowMs: number): OldSpaces {
  return {
    pointsBeforeMs: nowMs - POINTS_KEPT_MS,
    standingsBeforeMs: nowMs - STANDINGS_KEPT_MS,
    badStandingsBeforeMs: nowMs - BAD_STANDINGS_KEPT_MS,
  }
}
