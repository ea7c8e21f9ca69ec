/** End dates as the page shows them. Pure, tested. */
import type { ModelEnding } from '../../api/queries/models.ts'
import type { EndKind } from '../../charts/timeline/timeline-chart.tsx'
import { DAY_MS, daysUntil } from '../../time/day.ts'

/** Length of the timeline. */
export const TIMELINE_DAYS = 180
const SOON_DAYS = 30
/** Age from which a date that was read from a page may have changed. */
const MAX_AGE_DAYS = 120

export interface Ending extends ModelEnding {
  readonly daysLeft: number
  readonly kind: EndKind
  /** Age of a date that should be looked up again. Undefined: it is young enough, or an upstream or operator declares it. */
  readonly oldDays: number | undefined
}

/** Soonest first. With a project, only its keys count. */
export function endingsOf(
  rows: readonly ModelEnding[],
  project: string | undefined,
  nowMs: number,
): readonly Ending[] {
  return rows
    .map((row) => {
      const users =
        project === undefined ? row.used_by : row.used_by.filter(({ key }) => key.startsWith(`${project}/`))
      const requests =
        project === undefined ? row.requests_30d : users.reduce((sum, { requests_30d: own }) => sum + own, 0)
      const daysLeft = daysUntil(row.ends_on, nowMs)
      return {
        ...row,
        used_by: users,
        requests_30d: requests,
        daysLeft,
        kind: requests === 0 ? 'unused' : daysLeft <= SOON_DAYS ? 'soon' : 'used',
        oldDays: oldDaysOf(row, nowMs),
      } as const
    })
    .toSorted((one, other) => one.daysLeft - other.daysLeft || other.requests_30d - one.requests_30d)
}

function oldDaysOf({ source, source_at: at }: ModelEnding, nowMs: number): number | undefined {
  if (source !== 'catalog') return undefined
  const days = Math.floor((nowMs - Date.parse(at)) / DAY_MS)
  return days > MAX_AGE_DAYS ? days : undefined
}

/** The day on which an upstream was last asked for its dates. Undefined: none gives any. */
export function checkedAt(rows: readonly ModelEnding[]): string | undefined {
  return rows
    .filter(({ source }) => source === 'upstream')
    .map(({ source_at: at }) => at)
    .toSorted()
    .at(-1)
}
