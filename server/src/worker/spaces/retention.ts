/** Retention times of what is known about spaces. */
import { DRIFT_KEPT_MS, type OldSpaces } from '#ports/spaces.ts'

const DAY_MS = 86_400_000
/** A deployment that returns later than this is held back until its first probe, like a new one. */
const STANDINGS_KEPT_MS = 30 * DAY_MS
/** No cache keeps a vector for longer than a year. */
const BAD_STANDINGS_KEPT_MS = 400 * DAY_MS

export function oldSpaces(nowMs: number): OldSpaces {
  return {
    pointsBeforeMs: nowMs - DRIFT_KEPT_MS,
    standingsBeforeMs: nowMs - STANDINGS_KEPT_MS,
    badStandingsBeforeMs: nowMs - BAD_STANDINGS_KEPT_MS,
  }
}
