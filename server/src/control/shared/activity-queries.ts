/** Requests and spending of keys and projects, from sums that may be an hour old: a whole page at once, never key by key. */
import { z } from 'zod'
import type { ConfiguredBudget } from '#core/catalog/catalog.ts'
import { windowOf } from '#core/money/budget.ts'
import { decimalOf } from '#core/money/price.ts'
import { DAY_MS } from '#core/money/id-range.ts'
import type { Sql } from '#stores/postgres/database.ts'
import { time, usd } from './fields.ts'
import { isoOf } from './times.ts'

const activity = z.object({
  spent: z
    .object({ usd, window_start: time })
    .nullable()
    .describe('Of the budget, in the window that runs. null: it has no budget.'),
  requests_30d: z
    .array(z.int())
    .describe('Requests of each of the last thirty days in UTC, oldest first. Empty: there were none.'),
  requests_24h: z.int(),
})

export const activityFields = activity.shape
type Activity = z.output<typeof activity>

const ACTIVITY_DAYS = 30

type Owner = 'key' | 'project'

/** Days of projects are read without their keys. Names sort byte by byte, as in `keys`. */
const DAYS_OF = {
  key: { days: 'usage_days', name: 'key_id COLLATE "C"' },
  project: { days: 'usage_group_days', name: 'project' },
} as const

/**
 * $1: names; $2: the moment from which each one's spending counts; $3: the earliest of them; $4: the first day; $5: the
 * moment from which hours are read. Rows from before requests were counted have calls alone.
 */
const days = (owner: Owner) => `
  SELECT asked.id, day::text AS day, sum(CASE WHEN requests = 0 THEN posts ELSE requests END)::bigint AS requests,
    coalesce(sum(amount_nano) FILTER (WHERE day >= (asked.since AT TIME ZONE 'UTC')::date), 0)::bigint AS spent_nano,
    0::bigint AS last_day
  FROM unnest($1::text[], $2::timestamptz[]) AS asked (id, since)
  JOIN ${DAYS_OF[owner].days} ON ${DAYS_OF[owner].name} = asked.id COLLATE "C"
    AND day >= least($3::date, $4::date) AND day < ($5::timestamptz AT TIME ZONE 'UTC')::date
  GROUP BY 1, 2`

/** $1, $2: as above; $3: a day ago; $4: the moment from which hours are read. */
const hours = (owner: Owner) => `
  SELECT asked.id, (hour AT TIME ZONE 'UTC')::date::text AS day,
    coalesce(sum(amount_nano) FILTER (WHERE hour >= asked.since), 0)::bigint AS spent_nano,
    sum(CASE WHEN requests = 0 THEN posts ELSE requests END)::bigint AS requests,
    coalesce(sum(CASE WHEN requests = 0 THEN posts ELSE requests END) FILTER (WHERE hour >= $3::timestamptz), 0)::bigint
      AS last_day
  FROM unnest($1::text[], $2::timestamptz[]) AS asked (id, since)
  JOIN usage_hours ON ${owner === 'key' ? 'key_id' : 'project'} = asked.id AND hour >= $4::timestamptz
  GROUP BY 1, 2`

/** One day of one key or project. */
interface DayRow {
  readonly id: string
  readonly day: string
  readonly requests: bigint
  readonly spent_nano: bigint
  /** Requests of the last 24 hours. */
  readonly last_day: bigint
}

/** A key by its id, or a project by its name. */
interface Asked {
  readonly id: string
  readonly budget?: ConfiguredBudget | undefined
}

/** The activity of each of those asked for. */
export async function readActivity(
  sql: Sql,
  owner: Owner,
  asked: readonly Asked[],
  nowMs: number,
): Promise<(one: Asked) => Activity> {
  const todayMs = Math.floor(nowMs / DAY_MS) * DAY_MS
  const firstDayMs = todayMs - (ACTIVITY_DAYS - 1) * DAY_MS
  const rows = asked.length === 0 ? [] : await readRows(sql, owner, asked, { nowMs, todayMs, firstDayMs })
  const rowsOf = Map.groupBy(rows, ({ id }) => id)
  return ({ id, budget }) => {
    const own = rowsOf.get(id) ?? []
    const requests = own.length === 0 ? [] : Array.from({ length: ACTIVITY_DAYS }, () => 0)
    for (const { day, requests: ofDay } of own) {
      const place = Math.round((Date.parse(day) - firstDayMs) / DAY_MS)
      if (place >= 0) requests[place] = Number(ofDay)
    }
    const spentNano = own.reduce((sum, { spent_nano: spent }) => sum + spent, 0n)
    return {
      spent: budget
        ? { usd: decimalOf(spentNano), window_start: isoOf(windowOf(budget.per, nowMs).startMs) }
        : null,
      requests_30d: requests,
      requests_24h: own.reduce((sum, { last_day: lastDay }) => sum + Number(lastDay), 0),
    }
  }
}

interface Moments {
  readonly nowMs: number
  readonly todayMs: number
  readonly firstDayMs: number
}

async function readRows(
  sql: Sql,
  owner: Owner,
  asked: readonly Asked[],
  { nowMs, todayMs, firstDayMs }: Moments,
): Promise<readonly DayRow[]> {
  // Days are made of hours every ten minutes: those of yesterday and today are read as they are now.
  const fresh = new Date(todayMs - DAY_MS)
  const dayAgoMs = nowMs - DAY_MS
  const sinceMs = asked.map(({ budget }) => (budget ? windowOf(budget.per, nowMs).startMs : dayAgoMs))
  const earliestMs = sinceMs.reduce((least, ms) => Math.min(least, ms))
  const whose = [asked.map(({ id }) => id), sinceMs.map((ms) => new Date(ms))]
  const read = await Promise.all([
    sql.query<DayRow>(days(owner), [...whose, dayText(earliestMs), dayText(firstDayMs), fresh]),
    sql.query<DayRow>(hours(owner), [...whose, new Date(dayAgoMs), fresh]),
  ])
  return read.flat()
}

function dayText(unixMs: number): string {
  return isoOf(unixMs).slice(0, 10)
}
