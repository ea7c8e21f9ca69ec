/** Which budgets a configuration declares, whether each lasts, when it passed its marks, and its line in a chart. */
import type { z } from 'zod'
import type { Project } from '#core/catalog/catalog.ts'
import { windowOf, type Budget } from '#core/money/budget.ts'
import { forecastUntil, usedUp } from '#core/money/forecast.ts'
import { decimalOf } from '#core/money/price.ts'
import { answerOf } from '../shared/rows.ts'
import { isoOf, timeOf } from '../shared/times.ts'
import type { budgetStanding, Notification, SpentBudget, SpentSlot } from './queries.ts'

type Standing = z.output<typeof budgetStanding>

export function budgetsIn(projects: readonly Project[]): readonly Budget[] {
  return projects.flatMap(({ name, budget, keys }) => [
    ...(budget ? [{ id: `project:${name}`, ...budget }] : []),
    ...keys.flatMap((key) => (key.budget ? [{ id: `key:${name}/${key.name}`, ...key.budget }] : [])),
  ])
}

/** `lastDays`: nano-dollars of the seven days before today. */
export function standingOf(
  budget: SpentBudget,
  lastDays: readonly bigint[],
  declared: readonly Project[],
  nowMs: number,
): Standing {
  const { startMs, endMs } = windowOf(budget.per, nowMs)
  return {
    ...answerOf<Omit<Standing, 'managed_at' | 'window' | 'forecast'>>(budget),
    managed_at: placeOf(declared, budget.id),
    window: { start: isoOf(startMs), end: budget.per === 'total' ? null : isoOf(endMs) },
    forecast: forecastOf(budget, lastDays, nowMs),
  }
}

/** The line of torana.yaml. null: it is kept in the store. */
function placeOf(projects: readonly Project[], id: string): string | null {
  const [project = '', key] = id.slice(id.indexOf(':') + 1).split('/')
  const found = projects.find(({ name }) => name === project)
  const place = key === undefined ? found : found?.keys.find(({ name }) => name === key)
  return place?.managedAt ?? null
}

function forecastOf(
  { limit_nano: limit, per, spent_nano: spent }: SpentBudget,
  lastDays: readonly bigint[],
  nowMs: number,
): Standing['forecast'] {
  const { endMs } = windowOf(per, nowMs)
  const spending = { lastDaysNanoUsd: lastDays, spentNanoUsd: spent, nowMs }
  const when = usedUp(spending, limit, endMs)
  if (when === undefined) return null
  const atEnd = per === 'total' ? undefined : forecastUntil(spending, endMs)
  return {
    used_up_at: timeOf(when.atMs),
    earliest: timeOf(when.earliestMs),
    latest: timeOf(when.latestMs),
    at_end_usd: atEnd ? decimalOf(atEnd.nanoUsd) : null,
  }
}

const MARKS = [50, 80, 100] as const

/** Times are exact where a webhook was notified, and otherwise the hour in which the sum passed the mark. */
export function passedMarks(
  limitNanoUsd: bigint,
  slots: readonly SpentSlot[],
  notifications: readonly Notification[],
): { percent: (typeof MARKS)[number]; at: string; hosts: string[] }[] {
  return MARKS.flatMap((percent) => {
    const own = notifications.filter((notification) => notification.percent === percent)
    let sum = 0n
    const passed = slots.find(({ nano }) => {
      sum += nano
      return sum * 100n >= limitNanoUsd * BigInt(percent)
    })
    const at = own[0]?.at ?? passed?.at
    if (at === undefined) return []
    const hosts = [...new Set(own.map(({ url }) => URL.parse(url)?.host ?? ''))]
    return [{ percent, at: at.toISOString(), hosts }]
  })
}

/** The sum at the end of each slot, from zero on. */
export function lineOf(
  slots: readonly SpentSlot[],
  { startMs, slotMs, nowMs }: { readonly startMs: number; readonly slotMs: number; readonly nowMs: number },
): { at: string; spent_usd: string }[] {
  const firstMs = slots[0]?.at.getTime() ?? startMs
  let sum = 0n
  const points = [{ atMs: Math.max(startMs, firstMs - slotMs), nanoUsd: 0n }]
  for (const { at, nano } of slots) {
    const atMs = at.getTime()
    const last = points.at(-1)
    // The ledger has no slots without spending: the line stays level until the next slot begins.
    if (last && atMs > last.atMs) points.push({ atMs, nanoUsd: sum })
    sum += nano
    points.push({ atMs: Math.min(atMs + slotMs, nowMs), nanoUsd: sum })
  }
  if ((points.at(-1)?.atMs ?? nowMs) < nowMs) points.push({ atMs: nowMs, nanoUsd: sum })
  return points.map(({ atMs, nanoUsd }) => ({ at: isoOf(atMs), spent_usd: decimalOf(nanoUsd) }))
}
