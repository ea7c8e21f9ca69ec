/** Usage: who spends what, and how much this month will cost. */
import { z } from 'zod'
import { windowOf } from '#core/money/budget.ts'
import { FORECAST_DAYS, forecastUntil } from '#core/money/forecast.ts'
import { MAX_LABEL_VALUES, MAX_TAG_KEYS } from '#core/money/labels.ts'
import { decimalOf } from '#core/money/price.ts'
import { callerIn, visibleProjects } from '../shared/caller.ts'
import { givenTime, storable, time, usd } from '../shared/fields.ts'
import type { ControlNode } from '../shared/node.ts'
import { route, type Api } from '../shared/route.ts'
import { DAY_MS, isoOf } from '../shared/times.ts'
import {
  leftOutTags,
  emptyRankings,
  spentByDay,
  tagKeys,
  usageSum,
  usageTable,
  usageTotals,
} from './queries.ts'
import type { UsageFilter, UsageGroup, UsageLabel } from './rollup-queries.ts'
import {
  added,
  besideBody,
  groupBody,
  groupsOf,
  isNothing,
  namesOf,
  NOTHING,
  spanBefore,
  spanOf,
  sumBody,
  without,
} from './rules.ts'

/** Names of models and deployments have no bound of their own; no real one is longer. */
const NAME_CHARACTERS = 400
/** The longest user, and the word before it. */
const ONLY_CHARACTERS = 600
/** Names in one question: more than fit on a page, and few enough for one statement. */
const MAX_ONLY = 50
const GROUPS = 100
const MAX_GROUPS = 1000

const only = z
  .string()
  .max(ONLY_CHARACTERS)
  .regex(
    /^(?:model|deployment|project|key|user|tag:[A-Za-z0-9][A-Za-z0-9._-]{0,63}):[^\0]+$/,
    'expected model:, deployment:, project:, key:, user: or tag:<key>:, and a name',
  )

const groupOrLabel = z
  .string()
  .regex(
    /^(?:model|deployment|project|key|user|tag:[A-Za-z0-9][A-Za-z0-9._-]{0,63})$/,
    'expected model, deployment, project, key, user or tag:<key>, such as tag:team',
  )
  .default('model')
  .transform((text) => text as UsageGroup | UsageLabel)

/** Fields of every question about usage. */
export const usageFields = {
  from: givenTime
    .optional()
    .describe('Default: 30 days before `to`. Made the beginning of an hour or a day.'),
  to: givenTime.optional().describe('Default: now. Made the end of an hour or a day, in UTC.'),
  by: groupOrLabel.describe(
    '`model`, `deployment`, `project`, `key`, `user`, or `tag:` and the key of a tag, such as `tag:team`.',
  ),
  only: z
    .union([only, z.array(only).max(MAX_ONLY)])
    .optional()
    .describe(
      'Such as `model:gpt-image-2`, `user:alice` or `tag:team:red`. Repeat it: names of one kind are alternatives, kinds must all fit. Users and tags are counted one by one, so a question names one of them.',
    ),
  project: storable(NAME_CHARACTERS).optional(),
}

const usageQuery = z.strictObject({
  ...usageFields,
  slot: z.enum(['hour', 'day']).optional().describe('Default: hours up to 48 of them, days otherwise.'),
  before: z
    .enum(['0', '1'])
    .default('0')
    .describe('1: also the sums of the period before, as far as this one has come.'),
  groups: z.coerce
    .number()
    .int()
    .min(1)
    .max(MAX_GROUPS)
    .default(GROUPS)
    .describe(
      'Maximum of groups that are listed, the most expensive first. All others are one sum, in `others`.',
    ),
})

const slots = z.array(usageSum.extend({ at: time }))
const beside = z.object({ total: usageSum, before: usageSum.nullable(), slots })

const usage = z
  .object({
    slot: z.enum(['hour', 'day']),
    from: time,
    to: time,
    data: z.array(z.object({ group: z.string(), total: usageSum, before: usageSum.nullable(), slots })),
    others: z
      .object({ groups: z.int(), total: usageSum, before: usageSum.nullable(), slots })
      .nullable()
      .describe('All groups that are not in `data`.'),
    overflow: beside
      .nullable()
      .describe(
        `By user or tag: calls with a value beyond the first ${MAX_LABEL_VALUES} of their project and day. null: there are none.`,
      ),
    none: beside.nullable().describe('By user or tag: calls that have none. null: there are none.'),
    left_out_tags: usageSum
      .nullable()
      .describe(
        `By tag: calls with a tag whose key is beyond the first ${MAX_TAG_KEYS} of their project and day. Where it is the key asked for, they are in \`none\`. null: there are none.`,
      ),
    tag_keys: z.array(z.string()).describe('Keys of tags that were used, of all projects asked for.'),
    total: usageSum,
    before: usageSum.nullable(),
    before_span: z
      .object({ from: time, to: time })
      .nullable()
      .describe(
        'What every `before` sums up: the period of the same length before, up to the same hour if this one is not over. null: not asked for, or nothing of this period has passed.',
      ),
    forecast: z
      .object({ until: time, usd, low_usd: usd, high_usd: usd })
      .nullable()
      .describe(
        'What this month will have cost at its end. null: there are fewer than three days to tell from.',
      ),
  })
  .meta({ id: 'Usage' })

type Reports = ControlNode['reports']

export function registerUsage(api: Api, { reports, clock }: Pick<ControlNode, 'reports' | 'clock'>): void {
  const rankings = emptyRankings()

  route(api, 'GET /usage', {
    permission: 'usage.read',
    id: 'getUsage',
    summary: 'What was used and spent, by model, deployment, project, key, user or tag, in hours or days',
    query: usageQuery,
    answer: usage,
    handler: async (request) => {
      const { query } = request
      const { by } = query
      const nowMs = clock.nowMs()
      const filter = { projects: visibleProjects(callerIn(request), query.project), ...namesOf(query) }
      const { slot, fromMs, endMs } = spanOf(query, query.slot, nowMs)
      const span = { ...filter, fromMs, endMs }
      const [table, forecast, leftOut, keys] = await Promise.all([
        usageTable(reports, { ...span, by, slot, groups: query.groups }, nowMs, rankings),
        forecastOfMonth(reports, filter, nowMs),
        by.startsWith('tag:') ? leftOutTags(reports, span, nowMs) : NOTHING,
        tagKeys(reports, span),
      ])
      const groups = groupsOf(table.cells)
      const others = groups.find(({ group }) => group === null)
      const names = groups.flatMap(({ group }) => group ?? [])
      const earlier = query.before === '1' ? spanBefore(span, nowMs) : undefined
      const before = earlier && (await usageTotals(reports, { ...filter, by, names, ...earlier }, nowMs))
      const { overflow = [], none = [] } = table.beside ?? {}
      const labelled = before?.label?.labelled
      const ofOverflow = before?.label?.overflow ?? NOTHING
      const ofOthers = before && without(labelled ?? before.whole, [ofOverflow, ...before.groups.values()])
      return {
        slot,
        from: isoOf(fromMs),
        to: isoOf(endMs),
        data: groups.flatMap(({ group, ...sums }) =>
          group === null
            ? []
            : [{ group, ...groupBody(sums, before && (before.groups.get(group) ?? NOTHING)) }],
        ),
        others: others ? { groups: table.groups - groups.length + 1, ...groupBody(others, ofOthers) } : null,
        overflow: besideBody(overflow, before && ofOverflow),
        none: besideBody(none, before && labelled && without(before.whole, [labelled])),
        left_out_tags: isNothing(leftOut) ? null : sumBody(leftOut),
        tag_keys: keys,
        total: sumBody(added([...table.cells, ...overflow, ...none])),
        before: before ? sumBody(before.whole) : null,
        before_span: earlier ? { from: isoOf(earlier.fromMs), to: isoOf(earlier.endMs) } : null,
        forecast,
      }
    },
  })
}

async function forecastOfMonth(reports: Reports, filter: UsageFilter, nowMs: number) {
  const month = windowOf('month', nowMs)
  const todayMs = windowOf('day', nowMs).startMs
  const fromMs = Math.min(month.startMs, todayMs - FORECAST_DAYS * DAY_MS)
  const days = await spentByDay(reports, { ...filter, fromMs, endMs: todayMs + DAY_MS }, nowMs)
  const ofMonth = days.slice(Math.round((month.startMs - fromMs) / DAY_MS))
  const spending = {
    lastDaysNanoUsd: days.slice(-1 - FORECAST_DAYS, -1),
    spentNanoUsd: ofMonth.reduce((sum, nanoUsd) => sum + nanoUsd, 0n),
    nowMs,
  }
  const forecast = forecastUntil(spending, month.endMs)
  if (forecast === undefined) return null
  return {
    until: isoOf(month.endMs),
    usd: decimalOf(forecast.nanoUsd),
    low_usd: decimalOf(forecast.lowNanoUsd),
    high_usd: decimalOf(forecast.highNanoUsd),
  }
}
