/** The validity of a certificate, and whether its end is near. */
export interface Validity {
  readonly beginsAtMs: number
  readonly endsAtMs: number
}

const DAY_MS = 86_400_000
/** Longest time before its end in which a certificate counts as ending: two weeks in which a person can renew it. */
const MAX_ENDING_MS = 14 * DAY_MS
/**
 * The share of its life that counts as its end. ACME clients renew when a third is left, so a working one never gets here.
 */
const ENDING_SHARE = 1 / 4
/** The share of that time that is urgent: too short for a person who looks once a week. */
const URGENT_SHARE = 1 / 4

export type Ending = 'far' | 'near' | 'urgent' | 'over'

export function endingOf({ beginsAtMs, endsAtMs }: Validity, nowMs: number): Ending {
  const leftMs = endsAtMs - nowMs
  const endingMs = Math.min(MAX_ENDING_MS, (endsAtMs - beginsAtMs) * ENDING_SHARE)
  if (leftMs <= 0) return 'over'
  if (leftMs < endingMs * URGENT_SHARE) return 'urgent'
  return leftMs < endingMs ? 'near' : 'far'
}
