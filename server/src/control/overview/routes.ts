/** `GET /overview`: what is going on now, and what needs a person. */
import { z } from 'zod'
import { may } from '#core/access/permission.ts'
import { decimalOf } from '#core/money/price.ts'
import { flowsFor, flowsOf } from '#core/traffic/node-summary.ts'
import { deploymentBrief } from '../shared/model-fields.ts'
import { callerIn, visibleProjects } from '../shared/caller.ts'
import { givenTime, storable, time, usd } from '../shared/fields.ts'
import { route, type Api } from '../shared/route.ts'
import { DAY_MS, HOUR_MS, isoOf, spanSince } from '../shared/times.ts'
import { attentionFor } from './attention-rules.ts'
import type { OpenOverview } from './open.ts'
import { attention, spentSince } from './queries.ts'
import { briefsOf, flowBody, nodesIn, paceOf, seriesOf, slotsOf } from './rules.ts'

const nodes = z
  .object({ reporting: z.int(), alive: z.int() })
  .describe('How many nodes reported in the last seconds.')

const flow = z
  .object({
    key: z.string(),
    model: z.string(),
    deployment: z.string().nullable().describe('null: answered from the cache.'),
    requests: z.number(),
    failed: z.number(),
    tokens: z.number(),
    images: z.number(),
    usd,
    p95_ms: z.number().nullable(),
  })
  .describe('A second, as the mean of the last ten.')
  .meta({ id: 'Flow' })

const minute = z
  .object({
    at: time,
    answered: z.int(),
    refused: z.int(),
    limited: z.int(),
    failed: z.int(),
    unknown: z.int(),
    p50_ms: z.number().nullable(),
    p95_ms: z.number().nullable(),
    p99_ms: z.number().nullable(),
    own_p95_ms: z.number().nullable().describe('Torana’s own part.'),
    inputs: z.int().describe('Of models with a cache.'),
    hits: z.int(),
    spent_usd: usd,
  })
  .meta({ id: 'Minute' })

const overview = z
  .object({
    at: time,
    nodes,
    flows: z.array(flow),
    deployments: z.array(deploymentBrief).describe('Empty for those who may not see deployments.'),
    attention: z.array(attention).describe('The worst first.'),
    series: z.object({ slot_seconds: z.int(), data: z.array(minute) }),
    today: z.object({
      spent_usd: usd,
      pace_usd: usd.nullable().describe('What all budgets of projects allow for a day. null: there is none.'),
      forecast_usd: usd.nullable().describe('At the pace of today. null: the day is too young.'),
      saved_usd: usd,
    }),
  })
  .meta({ id: 'Overview' })

const overviewQuery = z.object({
  since: givenTime.optional().describe('Default: an hour before `until`. A month is kept.'),
  until: givenTime.optional().describe('The first moment that is not in `series`. Default: now.'),
  project: storable(200).optional(),
})

/** Age of a day below which its pace says nothing. */
const YOUNG_DAY_MS = HOUR_MS

export function registerOverview(api: Api, opened: OpenOverview): void {
  const { node } = opened
  route(api, 'GET /overview', {
    permission: 'overview.read',
    id: 'overview',
    summary:
      'What is going on now: flows, deployments, what needs attention, and the traffic of a span of time',
    query: overviewQuery,
    answer: overview,
    handler: async (request) => {
      const caller = callerIn(request)
      const { project } = request.query
      const projects = visibleProjects(caller, project)
      const nowMs = node.clock.nowMs()
      const slots = slotsOf(spanSince(request.query, HOUR_MS, nowMs), nowMs)
      const [summaries, items, traffic, today] = await Promise.all([
        node.summaries(),
        opened.attention(),
        node.history.traffic(slots, slots.slotMs, projects),
        todayOf(opened, projects, nowMs),
      ])
      return {
        at: isoOf(nowMs),
        nodes: nodesIn(summaries, node.liveNodes()),
        flows: flowsFor(flowsOf(summaries), projects).map(flowBody),
        deployments: may(caller.role, 'deployments.read') ? briefsOf(node, summaries) : [],
        attention: [...attentionFor(items, projects)],
        series: seriesOf(traffic, slots),
        today,
      }
    },
  })
}

async function todayOf(
  { node, budgets }: OpenOverview,
  projects: readonly string[] | undefined,
  nowMs: number,
) {
  const midnightMs = Math.floor(nowMs / DAY_MS) * DAY_MS
  const passedMs = nowMs - midnightMs
  const { spentNanoUsd, savedNanoUsd } = await spentSince(node.reports, midnightMs, projects)
  const own = [...(await budgets())].filter(([project]) => projects?.includes(project) ?? true)
  const pace = paceOf(
    own.map(([, budget]) => budget),
    nowMs,
  )
  return {
    spent_usd: decimalOf(spentNanoUsd),
    saved_usd: decimalOf(savedNanoUsd),
    pace_usd: pace === undefined ? null : decimalOf(pace),
    forecast_usd:
      passedMs < YOUNG_DAY_MS ? null : decimalOf((spentNanoUsd * BigInt(DAY_MS)) / BigInt(passedMs)),
  }
}
