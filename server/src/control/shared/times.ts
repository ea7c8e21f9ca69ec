/** Times as answers have them. */
import { HOUR_MS } from '#core/money/ledger.ts'

export { HOUR_MS }
export const DAY_MS = 24 * HOUR_MS

export function timeOf(unixMs: number | undefined): string | null {
  return unixMs === undefined ? null : isoOf(unixMs)
}

export function isoOf(unixMs: number): string {
  return new Date(unixMs).toISOString()
}

/** Milliseconds with two decimals, as answers have them. */
export function hundredths(ms: number): number {
  return Math.round(ms * 100) / 100
}
