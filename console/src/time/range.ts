/** The range of time that a page shows: so far back from now, or from a moment to a moment. */
import { clock, day } from '../app/format.ts'
import { DAY_MS, HOUR_MS, isStartOfDay, MINUTE_MS } from './day.ts'
import { timeZone } from './zone.ts'

export const SPANS = ['15m', '1h', '24h', '7d', '30d'] as const
export type Span = (typeof SPANS)[number]

const SPAN_MS: Record<Span, number> = {
  '15m': 15 * MINUTE_MS,
  '1h': HOUR_MS,
  '24h': DAY_MS,
  '7d': 7 * DAY_MS,
  '30d': 30 * DAY_MS,
}

/** In an address. */
export interface RangeSearch {
  since?: Span | undefined
  from?: string | undefined
  to?: string | undefined
}

/** `toMs` is the first moment that is not in it. */
export interface TimeSpan {
  readonly fromMs: number
  readonly toMs: number
}

export interface Range extends TimeSpan {
  /** Undefined: from a moment to a moment. */
  readonly span: Span | undefined
}

/** `usual` is what a page shows when its address names no range. */
export function rangeOf({ since, from, to }: RangeSearch, usual: Span, nowMs: number): Range {
  if (from !== undefined) {
    const fromMs = Date.parse(from)
    const toMs = to === undefined ? nowMs : Date.parse(to)
    if (fromMs < toMs) return { fromMs, toMs, span: undefined }
  }
  const span = since ?? usual
  return { fromMs: nowMs - SPAN_MS[span], toMs: nowMs, span }
}

/** As the control API takes it: without an end, it goes on to now. */
export function sinceUntil({ fromMs, toMs, span }: Range): {
  readonly since: string
  readonly until?: string
} {
  return {
    since: new Date(fromMs).toISOString(),
    ...(span === undefined && { until: new Date(toMs).toISOString() }),
  }
}

/** `12 Nov`, `10 – 12 Nov` as `10 Nov – 12 Nov`, or with the clock where it is not of whole days: `12 Nov 16:00 – 16:10`. */
export function rangeText({ fromMs, toMs }: TimeSpan, zone = timeZone()): string {
  const [first, last] = [day(fromMs, zone), day(toMs - 1, zone)]
  if (isStartOfDay(fromMs, zone) && isStartOfDay(toMs, zone))
    return first === last ? first : `${first} – ${last}`
  const end = clock(toMs, zone)
  return `${first} ${clock(fromMs, zone)} – ${first === day(toMs, zone) ? end : `${day(toMs, zone)} ${end}`}`
}
