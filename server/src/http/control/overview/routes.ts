/** `GET /overview`: what is going on now, and what needs a person. */
import { listModels, type Catalog, type ConfiguredBudget } from '#core/catalog.ts'
import { may } from '#core/permission.ts'
import { decimalOf } from '#core/price.ts'
import { flowsFor, flowsOf, standingsOf, type Flow, type NodeSummary } from '#core/traffic/node-summary.ts'
import type { AttentionFigures } from '#ports/attention-figures.ts'
import {
  COARSE_SLOT_MS,
  FINE_SLOT_MS,
  type TrafficHistory,
  type TrafficSlot,
} from '#ports/traffic-history.ts'
import { faultAnswers } from '../../fault-answers.ts'
import { callerIn, visibleProjects } from '../access/caller.ts'
import type { Api } from '../wire/route.ts'
import { isoOf, timeOf } from '../wire/times.ts'
import { attentionFor, type Attention } from './attention.ts'
import { overview, overviewQuery } from './schemas.ts'

export interface OverviewDependencies {
  readonly catalog: () => Catalog
  readonly summaries: () => Promise<readonly NodeSummary[]>
  readonly liveNodes: () => number
  readonly startedAtMs: number
  readonly attention: () => Promise<readonly Attention[]>
  readonly isDrained: (deployment: string) => boolean
  /** The budgets of projects, by name. */
  readonly budgets: () => Promise<ReadonlyMap<string, ConfiguredBudget>>
  /** Undefined on a node that keeps nothing, as is the next. */
  readonly history: TrafficHistory | undefined
  readonly figures: AttentionFigures | undefined
  readonly nowMs: () => number
}

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** Of a picture with a column each. */
const MOST_SLOTS = 90
/** Before it, a day's pace says nothing. */
const YOUNG_DAY_MS = HOUR_MS

export function registerOverview(api: Api, dependencies: OverviewDependencies): void {
  api.get('/overview', {
    config: { permission: 'overview.read' },
    schema: {
      operationId: 'overview',
      summary:
        'What is going on now: flows, deployments, what needs attention, and the traffic of the last hour',
      querystring: overviewQuery,
      response: { 200: overview, ...faultAnswers([400, 401, 403, 503]) },
    },
    handler: async (request) => {
      const caller = callerIn(request)
      const projects = visibleProjects(caller, request.query.project)
      const nowMs = dependencies.nowMs()
      const { since } = request.query
      const sinceMs = since === undefined ? nowMs - HOUR_MS : Date.parse(since)
      const [told, attention, series, today] = await Promise.all([
        dependencies.summaries(),
        dependencies.attention(),
        seriesOf(dependencies, Math.min(sinceMs, nowMs - FINE_SLOT_MS), projects),
        todayOf(dependencies, projects),
      ])
      return {
        at: isoOf(nowMs),
        nodes: { reporting: told.length, alive: Math.max(dependencies.liveNodes(), told.length) },
        flows: flowsFor(flowsOf(told), projects).map(flowBody),
        deployments: may(caller.role, 'deployments.read') ? briefs(dependencies, told) : [],
        attention: [...attentionFor(attention, projects)],
        series,
        today,
      }
    },
  })
}

export function flowBody({ key, model, deployment, requests, failed, tokens, images, nanoUsd, p95Ms }: Flow) {
  return {
    key,
    model,
    deployment,
    requests,
    failed,
    tokens,
    images,
    usd: decimalOf(BigInt(nanoUsd)),
    p95_ms: p95Ms,
  }
}

function briefs({ catalog, isDrained, startedAtMs }: OverviewDependencies, told: readonly NodeSummary[]) {
  const standings = standingsOf(told)
  return listModels(catalog()).flatMap((model) =>
    model.deployments.map(({ id, upstream, end }) => {
      const standing = standings.get(id)
      return {
        id,
        model: model.id,
        kind: model.kind,
        upstream: upstream.name,
        state: isDrained(id) ? ('drained' as const) : (standing?.state ?? 'healthy'),
        until: timeOf(standing?.untilMs ?? undefined),
        since: isoOf(standing?.sinceMs ?? startedAtMs),
        ends_on: end?.on ?? null,
      }
    }),
  )
}

/** Slots without traffic are there too, so that a quiet time shows as one. */
async function seriesOf(
  { history, nowMs }: OverviewDependencies,
  fromMs: number,
  projects: readonly string[] | undefined,
) {
  const unitMs = nowMs() - fromMs <= MOST_SLOTS * FINE_SLOT_MS ? FINE_SLOT_MS : COARSE_SLOT_MS
  const slotMs = unitMs * Math.max(1, Math.ceil((nowMs() - fromMs) / unitMs / MOST_SLOTS))
  const firstMs = Math.ceil(fromMs / slotMs) * slotMs
  const slots = (await history?.traffic({ fromMs: firstMs, slotMs }, projects)) ?? []
  const bySlot = new Map(slots.map((slot) => [slot.atMs, slot]))
  const data = []
  for (let atMs = firstMs; atMs < nowMs(); atMs += slotMs) data.push(minuteBody(atMs, bySlot.get(atMs)))
  return { slot_seconds: slotMs / 1000, data }
}

function minuteBody(atMs: number, slot: TrafficSlot | undefined) {
  const { answered = 0, refused = 0, limited = 0, failed = 0, unknown = 0 } = slot?.outcomes ?? {}
  return {
    at: isoOf(atMs),
    answered,
    refused,
    limited,
    failed,
    unknown,
    p50_ms: slot?.p50Ms ?? null,
    p95_ms: slot?.p95Ms ?? null,
    p99_ms: slot?.p99Ms ?? null,
    own_p95_ms: slot?.ownP95Ms ?? null,
    inputs: slot?.inputs ?? 0,
    hits: slot?.hits ?? 0,
    spent_usd: decimalOf(slot?.nanoUsd ?? 0n),
  }
}

async function todayOf(
  { figures, budgets, nowMs }: OverviewDependencies,
  projects: readonly string[] | undefined,
) {
  const midnightMs = Math.floor(nowMs() / DAY_MS) * DAY_MS
  const passedMs = nowMs() - midnightMs
  const spent = await figures?.spentSince(midnightMs, projects)
  const { spentNanoUsd, savedNanoUsd } = spent ?? { spentNanoUsd: 0n, savedNanoUsd: 0n }
  const paces = [...(await budgets())]
    .filter(([project]) => projects?.includes(project) ?? true)
    .flatMap(([, budget]) => dayOf(budget, nowMs()) ?? [])
  return {
    spent_usd: decimalOf(spentNanoUsd),
    saved_usd: decimalOf(savedNanoUsd),
    pace_usd: paces.length === 0 ? null : decimalOf(paces.reduce((sum, one) => sum + one, 0n)),
    forecast_usd:
      passedMs < YOUNG_DAY_MS ? null : decimalOf((spentNanoUsd * BigInt(DAY_MS)) / BigInt(passedMs)),
  }
}

/** What a budget allows for one day. Undefined: it is for all time. */
function dayOf({ limitNanoUsd, per }: ConfiguredBudget, nowMs: number): bigint | undefined {
  if (per === 'total') return undefined
  if (per === 'day') return limitNanoUsd
  if (per === 'week') return limitNanoUsd / 7n
  const now = new Date(nowMs)
  return (
    limitNanoUsd / BigInt(new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 0)).getUTCDate())
  )
}
