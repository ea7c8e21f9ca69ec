/** A length that a header gives. Undefined for one that no file has: headers hold any number. */
export function secondsOf(amount: number, perSecond: number): number | undefined {
  const seconds = amount / perSecond
  return Number.isFinite(seconds) && seconds > 0 && seconds < MAX_SECONDS ? seconds : undefined
}

/** A year. */
const MAX_SECONDS = 366 * 24 * 3600
