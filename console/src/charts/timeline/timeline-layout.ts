/** Where end dates, notices and months are on a timeline that begins today. Pure, tested. Days are those of UTC, as the API has them. */
import { DAY_MS } from '../../time/day.ts'

/** Room at the right for the date beside the last mark. */
const LABEL_WIDTH = 104
/** Nearer to the mark of the end, the circle of a notice would lie under it. */
const LEAST_GAP = 10
/** Nearer to the name before it, the name of a month would touch it. */
const LEAST_NAME_GAP = 30

export interface Notice {
  readonly days: number
  readonly isSent: boolean
}

export interface TimelineScale {
  /** Start of the first day. */
  readonly fromMs: number
  readonly days: number
  readonly width: number
}

export function timelineX(ms: number, { fromMs, days, width }: TimelineScale): number {
  const share = Math.min(1, Math.max(0, (ms - fromMs) / (days * DAY_MS)))
  return Math.round(share * Math.max(0, width - LABEL_WIDTH) * 2) / 2
}

/** The first day of each month, with room for its name or without. */
export function monthsOn(scale: TimelineScale): readonly { ms: number; x: number; isNamed: boolean }[] {
  const first = new Date(scale.fromMs)
  const months = []
  let namedX = 0
  for (let at = 1; ; at += 1) {
    const ms = Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + at)
    if (ms > scale.fromMs + scale.days * DAY_MS) return months
    const x = timelineX(ms, scale)
    const isNamed = x - namedX >= LEAST_NAME_GAP
    if (isNamed) namedX = x
    months.push({ ms, x, isNamed })
  }
}

/** Notices of the past that were sent are one circle at today; those that were not needed are none. */
export function noticesOn(
  endMs: number,
  notices: readonly Notice[],
  scale: TimelineScale,
): readonly { readonly x: number; readonly isSent: boolean }[] {
  const endX = timelineX(endMs, scale)
  const dots = new Map<number, boolean>()
  for (const { days, isSent } of notices) {
    const ms = endMs - days * DAY_MS
    const x = timelineX(ms, scale)
    if (endX - x >= LEAST_GAP && (isSent || ms >= scale.fromMs)) dots.set(x, (dots.get(x) ?? false) || isSent)
  }
  return Array.from(dots, ([x, isSent]) => ({ x, isSent })).toSorted((one, other) => one.x - other.x)
}
