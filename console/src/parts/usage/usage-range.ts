/** The range of the page as whole hours or days, so that a pasted link shows the same columns. */
import { rangeOf, type RangeSearch } from '../../app/range.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** Two days of hours; the server draws the same line. */
const MOST_HOURS = 48

export interface UsageRange {
  readonly fromMs: number
  readonly toMs: number
  readonly slot: 'hour' | 'day'
  readonly slotMs: number
  /** When each slot begins. */
  readonly slots: readonly number[]
}

export function usageRange(search: RangeSearch, nowMs: number): UsageRange {
  const { fromMs, toMs, span } = rangeOf(search, '30d', nowMs)
  const slot = toMs - fromMs <= MOST_HOURS * HOUR_MS ? 'hour' : 'day'
  const slotMs = slot === 'hour' ? HOUR_MS : DAY_MS
  const endMs = Math.ceil(toMs / slotMs) * slotMs
  // So far back from now with the slot of now: thirty days are today and the 29 before.
  const count = Math.max(1, Math.round((toMs - fromMs) / slotMs))
  const startMs = span === undefined ? Math.floor(fromMs / slotMs) * slotMs : endMs - count * slotMs
  return {
    fromMs: startMs,
    toMs: endMs,
    slot,
    slotMs,
    slots: Array.from({ length: Math.round((endMs - startMs) / slotMs) }, (_, at) => startMs + at * slotMs),
  }
}
