/** Times as answers have them. */
import { HOUR_MS } from '#core/money/ledger.ts'
import type { TimeSpan } from '#ports/traffic-history.ts'
import { invalidField } from './faults.ts'

export { HOUR_MS }
export const DAY_MS = 24 * HOUR_MS

export function timeOf(unixMs: number | undefined): string | null {
  return unixMs === undefined ? null : isoOf(unixMs)
}

export function isoOf(unixMs: number): string {
  return new Date(unixMs).toISOString()
}

/** From `since` to `until`, which is not in it. Defaults: `defaultMs` before the end, and now. The span never reaches beyond now. */
export function spanSince(
  { since, until }: { readonly since?: string | undefined; readonly until?: string | undefined },
  defaultMs: number,
  nowMs: number,
): TimeSpan {
  const endMs = until === undefined ? nowMs : Date.parse(until)
  const fromMs = since === undefined ? endMs - defaultMs : Date.parse(since)
  if (until !== undefined && fromMs >= endMs) throw invalidField('`since` must be before `until`.', 'since')
  const toMs = Math.min(endMs, nowMs)
  return { fromMs: Math.min(fromMs, toMs - 1), toMs }
}

/** Milliseconds with two decimals, as answers have them. */
export function hundredths(ms: number): number {
  return Math.round(ms * 100) / 100
}
