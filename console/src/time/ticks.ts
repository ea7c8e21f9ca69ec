/** Round times for the axis of a chart, in the zone that is shown. */
import { clock, clockSeconds, day } from '../app/format.ts'
import { DAY_MS, HOUR_MS, isStartOfDay, MINUTE_MS, roundMoments } from './day.ts'
import type { TimeSpan } from './range.ts'
import { timeZone } from './zone.ts'

export interface TimeTick {
  readonly atMs: number
  readonly text: string
}

/** Lengths of time that people count in. */
const STEPS_MS = [
  ...[1, 2, 5, 10, 15, 30].map((seconds) => seconds * 1000),
  ...[1, 2, 5, 10, 15, 20, 30].map((minutes) => minutes * MINUTE_MS),
  ...[1, 2, 3, 4, 6, 8, 12].map((hours) => hours * HOUR_MS),
  ...[1, 2, 4, 7, 14, 28].map((days) => days * DAY_MS),
]

/** Room that a label needs, in pixels. */
const LABEL_WIDTH = 68
const MAX_TICKS = 8

/** How many labels an axis of this width has room for. */
export function maxTicks(widthPx: number): number {
  return Math.min(MAX_TICKS, Math.max(2, Math.floor(widthPx / LABEL_WIDTH)))
}

/** At most `max` of them. A day has its name where it begins, so that no two neighbours read the same. */
export function timeTicks(span: TimeSpan, max: number, zone = timeZone()): readonly TimeTick[] {
  const lengthMs = Math.max(1, span.toMs - span.fromMs)
  const fitting = STEPS_MS.filter((ms) => lengthMs / ms <= max)
  for (const stepMs of [...fitting, Math.ceil(lengthMs / max / (28 * DAY_MS)) * 28 * DAY_MS]) {
    const moments = roundMoments(span, stepMs, zone)
    // A range that begins and ends at a round time has one more than steps.
    if (moments.length <= max) return moments.map((atMs) => ({ atMs, text: textOf(atMs, stepMs, zone) }))
  }
  return []
}

function textOf(ms: number, stepMs: number, zone: string | undefined): string {
  if (isStartOfDay(ms, zone)) return day(ms, zone)
  return stepMs < MINUTE_MS ? clockSeconds(ms, zone) : clock(ms, zone)
}
