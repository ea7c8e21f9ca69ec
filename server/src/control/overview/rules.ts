/** Flows, slots and paces of the overview. */
import { listModels, type ConfiguredBudget, type Project } from '#core/catalog/catalog.ts'
import { decimalOf } from '#core/money/price.ts'
import { standingsOf, type Flow, type NodeSummary } from '#core/traffic/node-summary.ts'
import {
  COARSE_SLOT_MS,
  FINE_KEPT_MS,
  FINE_SLOT_MS,
  type TimeSpan,
  type TrafficSlot,
} from '#ports/traffic-history.ts'
import type { ControlNode } from '../shared/node.ts'
import { isoOf, timeOf } from '../shared/times.ts'

/** Columns of the chart. */
const MAX_SLOTS = 90

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

export function nodesIn(summaries: readonly NodeSummary[], liveNodes: number) {
  return { reporting: summaries.length, alive: Math.max(liveNodes, summaries.length) }
}

export function briefsOf(
  { catalog, isDrained, startedAtMs }: Pick<ControlNode, 'catalog' | 'isDrained' | 'startedAtMs'>,
  summaries: readonly NodeSummary[],
) {
  const standings = standingsOf(summaries)
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

/** The slots of a span: fine ones if they fit the chart and are still kept. It holds at least one. */
export function slotsOf({ fromMs, toMs }: TimeSpan, nowMs: number): TimeSpan & { readonly slotMs: number } {
  const isFine = toMs - fromMs <= MAX_SLOTS * FINE_SLOT_MS && fromMs >= nowMs - FINE_KEPT_MS
  const unitMs = isFine ? FINE_SLOT_MS : COARSE_SLOT_MS
  const slotMs = unitMs * Math.max(1, Math.ceil((toMs - fromMs) / unitMs / MAX_SLOTS))
  const firstMs = Math.ceil(fromMs / slotMs) * slotMs
  return { fromMs: firstMs < toMs ? firstMs : firstMs - slotMs, toMs, slotMs }
}

/** Slots without traffic are included, so that a quiet time shows as one. */
export function seriesOf(
  slots: readonly TrafficSlot[],
  { fromMs, toMs, slotMs }: ReturnType<typeof slotsOf>,
) {
  const bySlot = new Map(slots.map((slot) => [slot.atMs, slot]))
  const data = []
  for (let atMs = fromMs; atMs < toMs; atMs += slotMs) data.push(minuteBody(atMs, bySlot.get(atMs)))
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

/** By project. Where both the configuration and the store have a project, the configuration counts. */
export function budgetsOf(
  stored: readonly Pick<Project, 'name' | 'budget'>[],
  declared: readonly Pick<Project, 'name' | 'budget'>[],
): ReadonlyMap<string, ConfiguredBudget> {
  return new Map(
    [...stored, ...declared].flatMap(({ name, budget }) =>
      budget === undefined ? [] : [[name, budget] as const],
    ),
  )
}

/** What these budgets allow for one day together. Undefined: all of them are for all time, or there is none. */
export function paceOf(budgets: readonly ConfiguredBudget[], nowMs: number): bigint | undefined {
  const days = budgets.flatMap((budget) => dayOf(budget, nowMs) ?? [])
  return days.length === 0 ? undefined : days.reduce((sum, one) => sum + one, 0n)
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
