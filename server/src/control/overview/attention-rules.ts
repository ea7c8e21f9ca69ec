/** What needs a person, ranked, from what nodes and the ledger know at this moment. */
import { ATTENTION_SEVERITIES, type Attention } from '#core/alerts/attention.ts'
import { listModels, type Catalog, type Model } from '#core/catalog/catalog.ts'
import { DAY_MS, daysLeft, isNear, WARNED_DAYS, type ModelEnd } from '#core/catalog/model-end.ts'
import { PROBE_TEXTS } from '#core/embedding/probe-texts.ts'
import { HOUR_MS, momentOf } from '#core/money/ledger.ts'
import { decimalOf } from '#core/money/price.ts'
import { standingsOf, type NodeSummary } from '#core/traffic/node-summary.ts'
import type { ProbeResult } from '#ports/spaces.ts'
import { UNKNOWN_POSTED_AFTER_MS, type LedgerFigures } from '#ports/upkeep.ts'
import type { ModelUsers } from '../shared/model-users-queries.ts'
import type { openSkippedFor } from '../shared/skipping-keys-queries.ts'
import { slowerStep } from '../shared/sealing.ts'
import type { SpaceGuard } from '../shared/space-guard.ts'
import { isoOf } from '../shared/times.ts'
import type { AttentionFigures } from './queries.ts'

export interface AttentionParts {
  readonly summaries: readonly NodeSummary[]
  /** Deployments that are not drained. */
  readonly deployments: readonly WatchedDeployment[]
  /** Deployments whose provider announced a day, also drained ones. */
  readonly ends: readonly EndingDeployment[]
  /** Keys that used the models of `ends` within 30 days, by model. */
  readonly users: ReadonlyMap<string, ModelUsers>
  readonly spaceGuard: Pick<SpaceGuard, 'standingOf'>
  readonly ledger: LedgerFigures
  readonly figures: AttentionFigures
  readonly nowMs: number
}

interface WatchedDeployment {
  readonly id: string
  readonly model: string
  /** The other deployments of the model. */
  readonly siblings: readonly string[]
  /** Keys with a hard budget that skip it, because it has no price. */
  readonly skippingKeys: number
}

/** A deployment with the day on which its provider shuts the model down. */
export interface EndingDeployment extends ModelEnd {
  readonly model: string
  readonly deployment: string
  /** No configuration declares it: an API key in the environment adds it. */
  readonly isBuiltIn: boolean
  /** Deployments of the same model that end later or not at all. */
  readonly outlastedBy: readonly string[]
}

/** Percentage of a budget that needs attention. */
const MARK_PERCENT = 80n
/** Days before its end from which a model that is used is bad news: the week in which an operator must act. */
const LAST_DAYS = 7
/** Keys that an item names. */
const MAX_NAMED_KEYS = 3

export function watchedDeployments(
  catalog: Catalog,
  isDrained: (deployment: string) => boolean,
  skippedFor: Awaited<ReturnType<typeof openSkippedFor>>,
): WatchedDeployment[] {
  return listModels(catalog).flatMap((model) => {
    const ids = model.deployments.map(({ id }) => id)
    const watched = model.deployments.filter(({ id }: Model['deployments'][number]) => !isDrained(id))
    return watched.map((one: Model['deployments'][number]) => ({
      id: one.id,
      model: model.id,
      siblings: ids.filter((other) => other !== one.id),
      skippingKeys: skippedFor(model, one)?.keys ?? 0,
    }))
  })
}

export function endingDeployments(catalog: Catalog): EndingDeployment[] {
  return listModels(catalog).flatMap(({ id: model, deployments, managedBy }) =>
    deployments.flatMap(({ id: deployment, end }: Model['deployments'][number]) => {
      if (end === undefined) return []
      const later = deployments.filter(
        ({ end: other }: Model['deployments'][number]) => other === undefined || other.atMs > end.atMs,
      )
      const outlastedBy = later.map(({ id }: Model['deployments'][number]) => id)
      return [{ ...end, model, deployment, isBuiltIn: managedBy === 'built-in', outlastedBy }]
    }),
  )
}

/** For all callers; `attentionFor` leaves out what a caller may not see. */
export function attentionOf(parts: AttentionParts): readonly Attention[] {
  const all = [
    ...ofStores(parts),
    ...ofDeployments(parts),
    ...ofOvercounts(parts),
    ...ofUnpriced(parts),
    ...ofLedger(parts),
    ...ofDifferences(parts),
    ...ofFigures(parts),
    ...ofEnds(parts),
  ]
  const rank = ({ severity }: Attention): number => ATTENTION_SEVERITIES.indexOf(severity)
  return all.sort((a, b) => rank(a) - rank(b) || (a.since > b.since ? -1 : 1))
}

/** An item without a recorded beginning counts from when this node first saw it. */
export class FirstSeen {
  #since = new Map<string, string>()

  dated(items: readonly Attention[]): readonly Attention[] {
    const dated = items.map((item) =>
      UNDATED.has(item.kind) ? { ...item, since: this.#since.get(item.id) ?? item.since } : item,
    )
    this.#since = new Map(dated.map(({ id, since }) => [id, since]))
    return dated
  }
}

const UNDATED: ReadonlySet<Attention['kind']> = new Set([
  'budget_mark',
  'budget_used_up',
  'deployment_unpriced',
  'doctor_wrong',
  'partition_missing',
  'spool_waiting',
  'store_away',
])

/** A caller who sees only some projects gets what concerns their keys and budgets, and nothing else. */
export function attentionFor(
  all: readonly Attention[],
  projects: readonly string[] | undefined,
): readonly Attention[] {
  if (projects === undefined) return all
  return all.filter(({ subject }) => {
    if (subject.type === 'key') return projects.includes(subject.id.split('/', 1)[0] ?? '')
    if (subject.type === 'project') return projects.includes(subject.id)
    if (subject.type !== 'budget') return false
    return projects.includes(subject.id.slice(subject.id.indexOf(':') + 1).split('/', 1)[0] ?? '')
  })
}

function item(
  kind: Attention['kind'],
  severity: Attention['severity'],
  [type, id]: readonly [Attention['subject']['type'], string],
  since: number | string,
  figures: Attention['figures'],
): Attention {
  const at = typeof since === 'number' ? isoOf(since) : since
  return { id: `${kind}:${id}`, kind, severity, since: at, subject: { type, id }, figures }
}

function ofStores({ summaries }: AttentionParts): readonly Attention[] {
  return summaries.flatMap(({ node, atMs, isStoreAway, spoolWaiting: waiting }) => {
    if (isStoreAway) return item('store_away', 'bad', ['store', node], atMs, { waiting })
    return waiting === 0 ? [] : item('spool_waiting', 'warn', ['node', node], atMs, { waiting })
  })
}

function ofDifferences({ summaries }: AttentionParts): readonly Attention[] {
  const differences = Math.max(0, ...summaries.map(({ ledgerDifferences }) => ledgerDifferences))
  if (differences === 0) return []
  const atMs = Math.max(...summaries.map((one) => one.atMs))
  return [item('doctor_wrong', 'bad', ['store', 'ledger'], atMs, { differences })]
}

function driftOf({ leastCosine, cosines = [] }: ProbeResult): Record<string, string | number> {
  if (leastCosine === undefined) return {}
  const isImage = cosines.indexOf(leastCosine) >= PROBE_TEXTS.length
  return { least_cosine: leastCosine, ...(isImage && { least_of: 'images' }) }
}

function ofDeployments({ summaries, deployments, spaceGuard }: AttentionParts): readonly Attention[] {
  const standings = standingsOf(summaries)
  const skippingKeys = new Map(deployments.map((one) => [one.id, one.skippingKeys]))
  return deployments.flatMap(({ id, model, siblings }) => {
    const standing = standings.get(id)
    const space = spaceGuard.standingOf(id)
    const common = { model, upstream: id.slice(model.length + 1) }
    const figures = { ...common, ...(space?.last && driftOf(space.last)) }
    if (space?.state === 'quarantined') {
      const sinceMs = standing?.sinceMs ?? space.last?.atMs ?? 0
      return item('space_left', 'odd', ['deployment', id], sinceMs, figures)
    }
    if (standing?.state === 'ejected' || standing?.state === 'probing') {
      const well = siblings.find((one) => (standings.get(one)?.state ?? 'healthy') === 'healthy')
      const keys = well === undefined ? 0 : (skippingKeys.get(well) ?? 0)
      const isRejected = (standing.failures['rejectedUs'] ?? 0) > 0
      const kind = isRejected ? 'deployment_rejected_us' : 'deployment_ejected'
      return item(kind, 'bad', ['deployment', id], standing.sinceMs, {
        ...common,
        calls: standing.calls,
        failed: Math.round(standing.calls * standing.failedShare),
        reason: standing.reason ?? '',
        stands_in: well?.slice(model.length + 1) ?? '',
        ...(keys > 0 && { skipping_keys: keys }),
      })
    }
    if (space?.state !== 'warned') return []
    return item('space_warned', 'warn', ['deployment', id], space.last?.atMs ?? 0, figures)
  })
}

/** A fallback that does not take over for these keys. */
function ofUnpriced({ deployments, nowMs }: AttentionParts): readonly Attention[] {
  return deployments.flatMap(({ id, model, skippingKeys: keys }) =>
    keys === 0
      ? []
      : item('deployment_unpriced', 'warn', ['deployment', id], nowMs, {
          model,
          upstream: id.slice(model.length + 1),
          keys,
        }),
  )
}

/** A built-in model without users is left out. */
function ofEnds({ ends, users, nowMs }: AttentionParts): readonly Attention[] {
  return ends.flatMap((end) => {
    const { model, deployment, on, atMs, successor = '', isBuiltIn, outlastedBy } = end
    const { keys, count } = users.get(model) ?? { keys: [], count: 0 }
    const isUsed = count > 0
    if (!isNear(end, nowMs) || (isBuiltIn && !isUsed)) return []
    const days = daysLeft(end, nowMs)
    const isPressing = days <= LAST_DAYS && outlastedBy.length === 0
    const severity = isUsed ? (isPressing ? 'bad' : 'warn') : 'off'
    const sinceMs = days > 0 ? atMs - WARNED_DAYS * DAY_MS : atMs
    const named = keys.slice(0, MAX_NAMED_KEYS).map(({ key }) => key)
    return item('model_ends', severity, ['deployment', deployment], sinceMs, {
      model,
      upstream: deployment.slice(model.length + 1),
      on,
      days,
      successor,
      goes_on: outlastedBy[0]?.slice(model.length + 1) ?? '',
      keys: named.join(', '),
      more_keys: Math.max(0, count - MAX_NAMED_KEYS),
    })
  })
}

function ofOvercounts({ summaries, deployments }: AttentionParts): readonly Attention[] {
  const all = summaries.flatMap(({ overcounts = [] }) => overcounts)
  return deployments.flatMap(({ id, model }) => {
    const own = all.filter(({ deployment }) => deployment === id)
    if (own.length === 0) return []
    const calls = own.reduce((sum, one) => sum + one.calls, 0)
    const cut = own.reduce((sum, { cutCalls }) => sum + cutCalls, 0)
    const sinceMs = Math.min(...own.map((one) => one.sinceMs))
    const figures = { model, upstream: id.slice(model.length + 1), calls, cut }
    return item('usage_above_expected', cut > 0 ? 'bad' : 'warn', ['deployment', id], sinceMs, figures)
  })
}

function ofLedger({ ledger, nowMs }: AttentionParts): readonly Attention[] {
  const { unknowns, refused, budgets, restRows, overflows, seal } = ledger
  const items: Attention[] = []
  if (refused.entries > 0)
    items.push(item('doctor_wrong', 'bad', ['store', 'refused'], nowMs, { refused: refused.entries }))
  if (unknowns.open > 0) {
    const oldestMs = unknowns.oldestAtMs ?? nowMs
    const usd = decimalOf(unknowns.amountNanoUsd)
    const figures = { open: unknowns.open, usd, posts_at: isoOf(oldestMs + UNKNOWN_POSTED_AFTER_MS) }
    items.push(item('unknowns_open', 'odd', ['unknowns', 'open'], oldestMs, figures))
  }
  for (const { budgetId, limitNanoUsd, spentNanoUsd } of budgets) {
    if (limitNanoUsd === 0n || spentNanoUsd * 100n < limitNanoUsd * MARK_PERCENT) continue
    const figures = {
      percent: Number((spentNanoUsd * 100n) / limitNanoUsd),
      spent_usd: decimalOf(spentNanoUsd),
      limit_usd: decimalOf(limitNanoUsd),
    }
    const [kind, severity] =
      spentNanoUsd >= limitNanoUsd ? (['budget_used_up', 'bad'] as const) : (['budget_mark', 'warn'] as const)
    items.push(item(kind, severity, ['budget', budgetId], nowMs, figures))
  }
  const rows = restRows.ledger + restRows.requests
  if (rows > 0) items.push(item('partition_missing', 'warn', ['store', 'rows'], nowMs, { rows }))
  const { step, waitsMs, isStalled } = slowerStep(seal)
  if (isStalled) {
    const figures = {
      step: step === 'seal' ? 'sealed' : 'compared',
      hours: Math.floor(waitsMs / HOUR_MS),
      earlier_nodes: seal.earlierNodes,
    }
    items.push(item('ledger_stalled', 'bad', ['store', 'ledger'], nowMs - waitsMs, figures))
  }
  for (const [project, own] of Map.groupBy(overflows, (overflow) => overflow.project)) {
    const sinceMs = Math.min(...own.map((one) => one.sinceMs))
    const labels = own.map(({ label }) => label).join(', ')
    const usd = decimalOf(own.reduce((sum, { amountNanoUsd }) => sum + amountNanoUsd, 0n))
    items.push(item('labels_overflowed', 'warn', ['project', project], sinceMs, { labels, usd }))
  }
  return items
}

function ofFigures({
  figures: { refusals, keys, webhooks, silentNodes },
}: AttentionParts): readonly Attention[] {
  return [
    ...silentNodes.map(({ id, since, ...figures }) =>
      item('node_silent', 'bad', ['node', id], since, figures),
    ),
    ...refusals.map(({ kind, model, first_request_id: first, ...figures }) =>
      item(kind, 'warn', ['model', model], momentOf(first), figures),
    ),
    ...keys.map(({ key, kind, since, ends_at }) =>
      item(
        kind,
        kind === 'key_idle' ? 'off' : 'warn',
        ['key', key],
        since,
        ends_at === null ? {} : { ends_at },
      ),
    ),
    ...webhooks.map(({ project, events, since }) =>
      item('webhook_given_up', 'warn', ['project', project], since, { events }),
    ),
  ]
}
