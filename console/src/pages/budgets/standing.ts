/** What the standing of a budget means. Pure, tested. */
import { nanoOf, shareOf } from '../../app/money.ts'
import type { Schema } from '../../api/client.ts'
import type { Mark } from '../../ui/state-mark.tsx'

export type Standing = Schema<'BudgetStanding'>
export type Detail = Schema<'BudgetDetail'>

/** From here on it is worth a look. */
const NEARLY_FULL = 0.8

export function fullness({
  spent_usd: spent,
  limit_usd: limit,
}: Pick<Standing, 'spent_usd' | 'limit_usd'>): number {
  return shareOf(spent, limit)
}

export function isUsedUp(standing: Standing): boolean {
  return nanoOf(standing.left_usd) === 0n
}

/** It will not last until the end of its window. */
export function endsEarly(standing: Standing): boolean {
  return isUsedUp(standing) || (standing.forecast?.used_up_at ?? null) !== null
}

export function markOf(standing: Standing): Mark {
  if (standing.refuses) return 'bad'
  if (isUsedUp(standing)) return standing.hard ? 'bad' : 'warn'
  return endsEarly(standing) || fullness(standing) >= NEARLY_FULL ? 'warn' : 'good'
}

/** When another limit would be used up, at the pace that the forecast goes by. */
export function usedUpWith(
  standing: Pick<Standing, 'spent_usd' | 'limit_usd' | 'forecast' | 'window'>,
  limitNano: bigint,
  nowMs: number,
): { readonly kind: 'full' | 'lasts' | 'unknown' } | { readonly kind: 'on'; readonly atMs: number } {
  const spent = nanoOf(standing.spent_usd)
  if (spent >= limitNano) return { kind: 'full' }
  const { forecast } = standing
  const endMs = standing.window.end === null ? undefined : Date.parse(standing.window.end)
  if (forecast === null) return { kind: 'unknown' }
  const pace = paceOf(standing, spent, nowMs)
  if (pace === undefined) return { kind: 'unknown' }
  if (pace <= 0) return { kind: 'lasts' }
  const atMs = nowMs + Number(limitNano - spent) / pace
  return endMs !== undefined && atMs >= endMs ? { kind: 'lasts' } : { kind: 'on', atMs }
}

/** Nano-dollars a millisecond. */
function paceOf(
  { forecast, limit_usd: limit, window }: Pick<Standing, 'forecast' | 'limit_usd' | 'window'>,
  spent: bigint,
  nowMs: number,
): number | undefined {
  const usedUpMs = forecast?.used_up_at ? Date.parse(forecast.used_up_at) : undefined
  if (usedUpMs !== undefined && usedUpMs > nowMs) return Number(nanoOf(limit) - spent) / (usedUpMs - nowMs)
  if (!forecast?.at_end_usd || window.end === null) return undefined
  return Number(nanoOf(forecast.at_end_usd) - spent) / Math.max(1, Date.parse(window.end) - nowMs)
}
