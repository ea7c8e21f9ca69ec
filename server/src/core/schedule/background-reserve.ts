/** What of a deployment's limits is left to those who wait, whatever work there is that nobody waits for. */
import type { RateTake } from '../limit.ts'

/** The part of a rate that is not for work that nobody waits for, so that who comes next need not wait for it. */
const RESERVE = 0.2
/** The same of the calls at once: of all, and at most of those that people leave at the moment. More would be idle most of the time. */
const RESERVE_AT_ONCE = { ofAll: 0.07, ofLeft: 0.11 }
/** From here on one of so many calls ends soon, and who waits gets its place. Below, one place is always kept free. */
const MANY = 16

/** How many calls may be under way when one begins that nobody waits for. `people`: calls under way that somebody waits for; undefined: nobody came lately. */
export function backgroundRoom(limit: number, people: number | undefined): number {
  if (!Number.isFinite(limit)) return limit
  const left = people === undefined ? 0 : Math.max(0, limit - people)
  const { ofAll, ofLeft } = RESERVE_AT_ONCE
  const reserve = Math.max(limit < MANY ? 1 : 0, Math.floor(Math.min(limit * ofAll, left * ofLeft)))
  // Where there is room for one call at all, it is for everybody.
  return Math.max(1, limit - reserve)
}

/** What must be free for the call to be sent. Only its own amount is taken. */
export function withReserve({ limit, amount }: RateTake): RateTake {
  const { perMinute } = limit
  return { limit, amount: Math.min(perMinute, amount + Math.ceil(perMinute * RESERVE)) }
}
