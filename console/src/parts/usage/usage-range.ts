/** The range of the page as whole hours or days, so that a pasted link shows the same columns. */
import { DAY_MS, dayOf, HOUR_MS } from '../../time/day.ts'
import { rangeOf, type RangeSearch } from '../../time/range.ts'
import { timeZone } from '../../time/zone.ts'

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

export function usageRange(search: RangeSearch, nowMs: number, zone = timeZone()): UsageRange {
  const { fromMs, toMs, span } = rangeOf(search, '30d', nowMs)
  // The ledger has days of UTC. Days that were picked in another zone are those with the same names.
  if (span === undefined && toMs - fromMs > MOST_HOURS * HOUR_MS)
    return rangeIn(Date.parse(dayOf(fromMs, zone)), Date.parse(dayOf(toMs - 1, zone)) + DAY_MS, 'day')
  const slot = toMs - fromMs <= MOST_HOURS * HOUR_MS ? 'hour' : 'day'
  const slotMs = slotMsOf(slot)
  const endMs = Math.ceil(toMs / slotMs) * slotMs
  // So far back from now with the slot of now: thirty days are today and the 29 before.
  const count = Math.max(1, Math.round((toMs - fromMs) / slotMs))
  const startMs = span === undefined ? Math.floor(fromMs / slotMs) * slotMs : endMs - count * slotMs
  return rangeIn(startMs, endMs, slot)
}

function rangeIn(fromMs: number, toMs: number, slot: UsageRange['slot']): UsageRange {
  const slotMs = slotMsOf(slot)
  const slots = Array.from({ length: Math.round((toMs - fromMs) / slotMs) }, (_, at) => fromMs + at * slotMs)
  return { fromMs, toMs, slot, slotMs, slots }
}

function slotMsOf(slot: UsageRange['slot']): number {
  return slot === 'hour' ? HOUR_MS : DAY_MS
}
