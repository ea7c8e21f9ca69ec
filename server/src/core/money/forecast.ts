/** A forecast of spending from the last seven days. Amounts are nano-dollars. */

const DAY_MS = 86_400_000

/** Days before today that a forecast is made from: a week has each weekday once. */
export const FORECAST_DAYS = 7
/** Fewer days say nothing about the future. */
const MIN_DAYS = 3
/** Beyond a year the last week says nothing. */
const MAX_DAYS = 366
const LOW_PERCENT = 20n
const HIGH_PERCENT = 80n

export interface Spending {
  /** What was spent on each of the last seven whole days, in UTC, the oldest first. */
  readonly lastDaysNanoUsd: readonly bigint[]
  /** Spending until now in the window of the forecast. */
  readonly spentNanoUsd: bigint
  readonly nowMs: number
}

export interface Forecast {
  readonly nanoUsd: bigint
  /** At the rate of a quiet day and of a busy one: the 20th and the 80th percentile of the last days. */
  readonly lowNanoUsd: bigint
  readonly highNanoUsd: bigint
}

export interface UsedUp {
  /** Undefined: not before the end. */
  readonly atMs: number | undefined
  readonly earliestMs: number | undefined
  readonly latestMs: number | undefined
}

/** Undefined when there are too few days. */
export function forecastUntil(spending: Spending, endMs: number): Forecast | undefined {
  const pace = paceOf(spending)
  if (pace === undefined) return undefined
  const at = (scale: Scale): bigint => walk(spending, pace, scale, endMs)
  return { nanoUsd: at(pace.usual), lowNanoUsd: at(pace.low), highNanoUsd: at(pace.high) }
}

/** When the limit is reached. Undefined when there are too few days. */
export function usedUp(spending: Spending, limitNanoUsd: bigint, endMs: number): UsedUp | undefined {
  const pace = paceOf(spending)
  if (pace === undefined) return undefined
  const at = (scale: Scale): number | undefined => reached(spending, pace, scale, limitNanoUsd, endMs)
  return { atMs: at(pace.usual), earliestMs: at(pace.high), latestMs: at(pace.low) }
}

/** A factor of the usual day, as a fraction. */
interface Scale {
  readonly times: bigint
  readonly by: bigint
}

interface Pace {
  /** From Sunday on, as in `Date`. */
  readonly byWeekday: readonly bigint[]
  readonly usual: Scale
  readonly low: Scale
  readonly high: Scale
}

/** Days before the first spending do not count: the project or key did not exist yet. */
function paceOf({ lastDaysNanoUsd, nowMs }: Spending): Pace | undefined {
  const all = lastDaysNanoUsd.slice(-FORECAST_DAYS).map((nanoUsd) => (nanoUsd > 0n ? nanoUsd : 0n))
  const first = all.findIndex((nanoUsd) => nanoUsd > 0n)
  const days = first < 0 ? [] : all.slice(first)
  if (days.length < MIN_DAYS) return undefined
  const sum = days.reduce((total, nanoUsd) => total + nanoUsd, 0n)
  const count = BigInt(days.length)
  const mean = sum / count
  const byWeekday = Array.from({ length: FORECAST_DAYS }, () => mean)
  const today = weekdayOf(nowMs)
  for (const [index, nanoUsd] of days.entries())
    byWeekday[(today - days.length + index + 2 * FORECAST_DAYS) % FORECAST_DAYS] = nanoUsd
  const sorted = days.toSorted((a, b) => (a < b ? -1 : Number(a > b)))
  const low = percentile(sorted, LOW_PERCENT) * count
  const high = percentile(sorted, HIGH_PERCENT) * count
  return {
    byWeekday,
    usual: { times: 1n, by: 1n },
    // One day far from all others may pull the mean beyond the percentiles; the usual rate stays between them.
    low: { times: low < sum ? low : sum, by: sum },
    high: { times: high > sum ? high : sum, by: sum },
  }
}

/** Between two values in proportion, as spreadsheets do it. */
function percentile(sorted: readonly bigint[], percent: bigint): bigint {
  const place = percent * BigInt(sorted.length - 1)
  const below = sorted[Number(place / 100n)] as bigint
  const above = sorted[Math.min(Number(place / 100n) + 1, sorted.length - 1)] as bigint
  return below + ((above - below) * (place % 100n)) / 100n
}

function walk({ spentNanoUsd, nowMs }: Spending, pace: Pace, scale: Scale, endMs: number): bigint {
  let sum = spentNanoUsd
  for (const stretch of stretches(nowMs, endMs)) sum += spentDuring(stretch, pace, scale)
  return sum
}

function reached(
  { spentNanoUsd, nowMs }: Spending,
  pace: Pace,
  scale: Scale,
  limitNanoUsd: bigint,
  endMs: number,
): number | undefined {
  if (spentNanoUsd >= limitNanoUsd) return nowMs
  let sum = spentNanoUsd
  for (const stretch of stretches(nowMs, endMs)) {
    const added = spentDuring(stretch, pace, scale)
    const missing = limitNanoUsd - sum
    if (added >= missing) {
      const lengthMs = BigInt(stretch.endMs - stretch.startMs)
      return stretch.startMs + Number((lengthMs * missing) / added)
    }
    sum += added
  }
  return undefined
}

interface Stretch {
  readonly startMs: number
  readonly endMs: number
}

/** The rest of today, and the days after it. */
function* stretches(nowMs: number, endMs: number): Generator<Stretch> {
  const lastMs = Math.min(endMs, nowMs + MAX_DAYS * DAY_MS)
  let startMs = nowMs
  while (startMs < lastMs) {
    const dayEndMs = (Math.floor(startMs / DAY_MS) + 1) * DAY_MS
    yield { startMs, endMs: Math.min(dayEndMs, lastMs) }
    startMs = dayEndMs
  }
}

function spentDuring({ startMs, endMs }: Stretch, { byWeekday }: Pace, { times, by }: Scale): bigint {
  const ofDay = byWeekday[weekdayOf(startMs)] as bigint
  return (ofDay * times * BigInt(endMs - startMs)) / (by * BigInt(DAY_MS))
}

/** 1970-01-01 was a Thursday. */
function weekdayOf(atMs: number): number {
  return (Math.floor(atMs / DAY_MS) + 4) % FORECAST_DAYS
}
