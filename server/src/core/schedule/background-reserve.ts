/** The share of a deployment's limits that is reserved for waiting callers, whatever background work there is. */
import type { RateTake } from '../limits/limit.ts'

/** Share of a rate that background work leaves free, so that the next caller need not wait for it. */
const RESERVE = 0.2
/**
 * The same for parallel calls: as a share of all, and at most of those that callers leave free at the moment. More would be
 * idle most of the time.
 */
const RESERVE_AT_ONCE = { ofAll: 0.07, ofLeft: 0.11 }
/**
 * From here on one of the many calls ends soon and frees a slot for a waiting caller. Below, one slot is always kept free.
 */
const MANY = 16

/**
 * How many calls may be in progress when a background call begins. `people`: calls in progress with a waiting caller;
 * undefined when there was none recently.
 */
export function backgroundRoom(limit: number, people: number | undefined): number {
  if (!Number.isFinite(limit)) return limit
  const left = people === undefined ? 0 : Math.max(0, limit - people)
  const { ofAll, ofLeft } = RESERVE_AT_ONCE
  const reserve = Math.max(limit < MANY ? 1 : 0, Math.floor(Math.min(limit * ofAll, left * ofLeft)))
  // A limit of one call is for everyone.
  return Math.max(1, limit - reserve)
}

/** The amount that must be free for the call to be sent. Only its own amount is taken. */
export function withReserve({ limit, amount }: RateTake): RateTake {
  const { perMinute } = limit
  return { limit, amount: Math.min(perMinute, amount + Math.ceil(perMinute * RESERVE)) }
}
