/** How long lines of a batch wait for what keeps them from running. Nobody waits for them. */
import type { Fault } from '#core/fault/fault.ts'
import { isForPerson } from './verdict.ts'

/** Where there is only no room at the moment, lines wait for it so often. */
export const MAX_WAITS = 30
/** When so many holders have met nothing but failures, the lines themselves are the trouble. */
export const MAX_HOLDERS = 20
const SOON_MS = 1000
const MAX_SOON_MS = 5000
/** So long nothing of the batch begins after an upstream, or all of them, could not be used. */
const TROUBLE_PAUSE_MS = 15_000
/** The pause when only a person can help, who may do so at any time. */
const PERSON_PAUSE_MS = 60_000

/** The wait for room. */
export function soonMs(retryAfterMs: number | undefined): number {
  return Math.min(retryAfterMs ?? SOON_MS, MAX_SOON_MS)
}

export function pauseAfter(fault: Fault): number {
  return isForPerson(fault) ? PERSON_PAUSE_MS : TROUBLE_PAUSE_MS
}
