/** How a budget stands, as JSON. */
import type { z } from 'zod'
import { windowOf, type BudgetWindow } from '#core/budget.ts'
import { forecastUntil, usedUp } from '#core/forecast.ts'
import { HOUR_MS } from '#core/ledger.ts'
import { decimalOf } from '#core/price.ts'
import type { BudgetSpent, SpentSlot, ToldMark } from '#ports/budget-report.ts'
import { isoOf, timeOf } from '../wire/times.ts'
import type { budgetDetail, budgetStanding } from './schemas.ts'

type Standing = z.output<typeof budgetStanding>
type Detail = z.output<typeof budgetDetail>

const MARKS = [50, 80, 100] as const

/** `lastDaysNanoUsd`: of the seven days before today. */
export function standingBody(
  standing: BudgetSpent,
  lastDaysNanoUsd: readonly bigint[],
  nowMs: number,
): Omit<Standing, 'managed_at'> {
  const { budget, spentNanoUsd, unknownNanoUsd, leasedNanoUsd } = standing
  const { id, limitNanoUsd, per, hard } = budget
  const window = windowOf(per, nowMs)
  const left = limitNanoUsd - spentNanoUsd
  return {
    id,
    scope: id.startsWith('project:') ? 'project' : 'key',
    name: id.slice(id.indexOf(':') + 1),
    managed_by: standing.isStored ? 'store' : 'configuration',
    limit_usd: decimalOf(limitNanoUsd),
    per,
    hard,
    window: { start: isoOf(window.startMs), end: per === 'total' ? null : isoOf(window.endMs) },
    spent_usd: decimalOf(spentNanoUsd),
    unknown_usd: decimalOf(unknownNanoUsd),
    left_usd: decimalOf(left > 0n ? left : 0n),
    leased_usd: decimalOf(leasedNanoUsd),
    forecast: forecastBody(standing, lastDaysNanoUsd, nowMs),
  }
}

function forecastBody(
  { budget: { limitNanoUsd, per }, spentNanoUsd }: BudgetSpent,
  lastDaysNanoUsd: readonly bigint[],
  nowMs: number,
): Standing['forecast'] {
  const { endMs } = windowOf(per, nowMs)
  const spending = { lastDaysNanoUsd, spentNanoUsd, nowMs }
  const when = usedUp(spending, limitNanoUsd, endMs)
  if (when === undefined) return null
  const atEnd = per === 'total' ? undefined : forecastUntil(spending, endMs)
  return {
    used_up_at: timeOf(when.atMs),
    earliest: timeOf(when.earliestMs),
    latest: timeOf(when.latestMs),
    at_end_usd: atEnd ? decimalOf(atEnd.nanoUsd) : null,
  }
}

/** A webhook was told to the second; otherwise the hour in which the sum passed the mark. */
export function marksOf(
  limitNanoUsd: bigint,
  series: readonly SpentSlot[],
  told: readonly ToldMark[],
): Detail['marks'] {
  return MARKS.flatMap((percent) => {
    const own = told.filter((mark) => mark.percent === percent)
    let sum = 0n
    const passed = series.find(({ nanoUsd }) => {
      sum += nanoUsd
      return sum * 100n >= limitNanoUsd * BigInt(percent)
    })
    const atMs = own[0]?.atMs ?? passed?.atMs
    if (atMs === undefined) return []
    return [{ percent, at: isoOf(atMs), told: [...new Set(own.map(({ host }) => host))] }]
  })
}

/** What was spent until the end of each slot, beginning with nothing. */
export function seriesBody(
  series: readonly SpentSlot[],
  { startMs }: BudgetWindow,
  slotMs: number,
  nowMs: number,
): { at: string; spent_usd: string }[] {
  const firstMs = series[0]?.atMs ?? startMs
  let sum = 0n
  const points = [{ atMs: Math.max(startMs, firstMs - slotMs), nanoUsd: 0n }]
  for (const { atMs, nanoUsd } of series) {
    const last = points.at(-1)
    // Hours without any spending are not in the books: the line stays where it was until the next begins.
    if (last && atMs > last.atMs) points.push({ atMs, nanoUsd: sum })
    sum += nanoUsd
    points.push({ atMs: Math.min(atMs + slotMs, nowMs), nanoUsd: sum })
  }
  if ((points.at(-1)?.atMs ?? nowMs) < nowMs) points.push({ atMs: nowMs, nanoUsd: sum })
  return points.map(({ atMs, nanoUsd }) => ({ at: isoOf(atMs), spent_usd: decimalOf(nanoUsd) }))
}

export const SLOT_MS = { hour: HOUR_MS, day: 24 * HOUR_MS } as const
