/** Routes about usage: who spends what, and the rows behind it. */
import type { z } from 'zod'
import { windowOf } from '#core/budget.ts'
import { forecastUntil } from '#core/forecast.ts'
import { decimalOf } from '#core/price.ts'
import type { UsageFilter, UsageReader } from '#ports/usage.ts'
import { faultAnswers } from '../../fault-answers.ts'
import { callerIn, visibleProjects } from '../access/caller.ts'
import type { Api } from '../wire/route.ts'
import { isoOf } from '../wire/times.ts'
import { added, besideBody, groupBody, groupsOf, isNothing, NOTHING, sumBody, without } from './bodies.ts'
import { registerUsageExport } from './export.ts'
import { usage, usageQuery } from './schemas.ts'
import { namesOf, spanOf } from './span.ts'

export interface UsageDependencies {
  readonly usage: UsageReader
  readonly nowMs: () => number
}

const DAY_MS = 86_400_000
/** Each weekday once. */
const FORECAST_DAYS = 7

export function registerUsage(api: Api, dependencies: UsageDependencies): void {
  registerUsageExport(api, dependencies)

  api.get('/usage', {
    config: { permission: 'usage.read' },
    schema: {
      operationId: 'getUsage',
      summary: 'What was used and spent, by model, deployment, project, key, user or tag, in hours or days',
      querystring: usageQuery,
      response: { 200: usage, ...faultAnswers([400, 401, 403, 503]) },
    },
    handler: async (request) => {
      const { query } = request
      const filter = {
        projects: visibleProjects(callerIn(request), query.project),
        ...namesOf(query),
      }
      const nowMs = dependencies.nowMs()
      return usageBody(query, filter, { ...dependencies, nowMs })
    },
  })
}

async function usageBody(
  query: z.output<typeof usageQuery>,
  filter: UsageFilter,
  { usage: reader, nowMs }: { readonly usage: UsageReader; readonly nowMs: number },
): Promise<z.output<typeof usage>> {
  const { by } = query
  const { slot, fromMs, endMs } = spanOf(query, query.slot, nowMs)
  const [table, forecast, leftOut, tagKeys] = await Promise.all([
    reader.table({ ...filter, by, slot, fromMs, endMs, groups: query.groups }),
    forecastOfMonth(reader, filter, nowMs),
    by.startsWith('tag:') ? reader.withLeftOutTags({ ...filter, fromMs, endMs }) : NOTHING,
    reader.tagKeys({ ...filter, fromMs, endMs }),
  ])
  const groups = groupsOf(table.cells)
  const names = groups.flatMap(({ group }) => group ?? [])
  const others = groups.find(({ group }) => group === undefined)
  const span = { ...filter, by, names, fromMs: fromMs - (endMs - fromMs), endMs: fromMs }
  const before = query.before === '1' ? await reader.totals(span) : undefined
  const { overflow = [], none = [] } = table.beside ?? {}
  const labelled = before?.label?.labelled
  const ofOverflow = before?.label?.overflow ?? NOTHING
  return {
    slot,
    from: isoOf(fromMs),
    to: isoOf(endMs),
    data: groups.flatMap(({ group, ...sums }) =>
      group === undefined
        ? []
        : [{ group, ...groupBody({ group, ...sums }, before && (before.groups.get(group) ?? NOTHING)) }],
    ),
    others:
      others === undefined
        ? null
        : {
            groups: table.groups - groups.length + 1,
            ...groupBody(
              others,
              before && without(labelled ?? before.whole, [ofOverflow, ...before.groups.values()]),
            ),
          },
    overflow: besideBody(overflow, before && ofOverflow),
    none: besideBody(none, before && labelled && without(before.whole, [labelled])),
    left_out_tags: isNothing(leftOut) ? null : sumBody(leftOut),
    tag_keys: [...tagKeys],
    total: sumBody(added([...table.cells, ...overflow, ...none].map(({ sum }) => sum))),
    before: before ? sumBody(before.whole) : null,
    forecast,
  }
}

async function forecastOfMonth(
  reader: UsageReader,
  filter: UsageFilter,
  nowMs: number,
): Promise<z.output<typeof usage>['forecast']> {
  const month = windowOf('month', nowMs)
  const todayMs = windowOf('day', nowMs).startMs
  const fromMs = Math.min(month.startMs, todayMs - FORECAST_DAYS * DAY_MS)
  const days = await reader.spentByDay({ ...filter, fromMs, endMs: todayMs + DAY_MS })
  const ofMonth = days.slice(Math.round((month.startMs - fromMs) / DAY_MS))
  const forecast = forecastUntil(
    {
      lastDaysNanoUsd: days.slice(-1 - FORECAST_DAYS, -1),
      spentNanoUsd: ofMonth.reduce((sum, nanoUsd) => sum + nanoUsd, 0n),
      nowMs,
    },
    month.endMs,
  )
  if (forecast === undefined) return null
  return {
    until: isoOf(month.endMs),
    usd: decimalOf(forecast.nanoUsd),
    low_usd: decimalOf(forecast.lowNanoUsd),
    high_usd: decimalOf(forecast.highNanoUsd),
  }
}
