/** What needs a person, ranked, from what nodes and books know at this moment. */
import type { z } from 'zod'
import type { AnnouncedEnd } from '#core/announced-ends.ts'
import { DAY_MS, daysLeft, isNear, WARNED_DAYS } from '#core/model-end.ts'
import { decimalOf } from '#core/price.ts'
import { standingsOf, type DeploymentStanding, type NodeSummary } from '#core/traffic/node-summary.ts'
import type { AttentionFigures } from '#ports/attention-figures.ts'
import type { ModelUsers } from '#ports/model-figures.ts'
import type { ProbeResult } from '#ports/spaces.ts'
import {
  UNKNOWN_POSTED_AFTER_MS,
  type BooksFigures,
  type NodeRegister,
  type Reconciler,
} from '#ports/upkeep.ts'
import { isoOf } from '../wire/times.ts'
import type { attention } from './schemas.ts'

export type Attention = z.output<typeof attention>

export interface AttentionParts {
  readonly summaries: () => Promise<readonly NodeSummary[]>
  /** Deployments of the catalog, with their models; drained ones are left out. */
  readonly deployments: () => readonly {
    readonly id: string
    readonly model: string
    readonly siblings: readonly string[]
  }[]
  /** Deployments whose provider announced a day, also drained ones. */
  readonly ends: () => readonly EndingDeployment[]
  /** Who used these models within 30 days; undefined where nothing is kept. */
  readonly usersOf: (models: readonly string[]) => Promise<ReadonlyMap<string, ModelUsers> | undefined>
  readonly spaceStandingOf: (deployment: string) =>
    | {
        readonly state: string
        readonly last: ProbeResult | undefined
        readonly lastGoodAtMs: number | undefined
      }
    | undefined
  /** Undefined on a node that keeps nothing, as are the next two. */
  readonly reconciler: Pick<Reconciler, 'figures'> | undefined
  readonly nodes: Pick<NodeRegister, 'list'> | undefined
  readonly figures: AttentionFigures | undefined
  readonly nowMs: () => number
}

/** A deployment with the day on which its provider shuts the model down. */
export interface EndingDeployment extends AnnouncedEnd {
  /** Nobody declared it: it is there because of an API key in the environment. */
  readonly isBuiltIn: boolean
  /** Deployments of the same model that end later or not at all. */
  readonly outlastedBy: readonly string[]
}

/** At four fifths of a budget somebody should know. */
const MARK_PERCENT = 80n
/** Days before its end from which a model that is used is bad news: the week in which somebody must act. */
const LAST_DAYS = 7
/** Keys that an item names. */
const NAMED_KEYS = 3
const WORST_FIRST = ['bad', 'odd', 'warn', 'off'] as const

/** For everybody; `attentionFor` leaves out what a caller may not see. */
export async function attentionOf(parts: AttentionParts): Promise<readonly Attention[]> {
  const summaries = await parts.summaries()
  const [books, nodes, fromFigures, ends] = await Promise.all([
    parts.reconciler?.figures(),
    parts.nodes?.list(),
    parts.figures === undefined ? [] : ofFigures(parts.figures),
    ofEnds(parts),
  ])
  const all = [
    ...ofStores(summaries),
    ...ofDeployments(standingsOf(summaries), parts),
    ...ofOvercounts(summaries, parts),
    ...(books === undefined ? [] : ofBooks(books, parts.nowMs())),
    ...ofLedger(summaries),
    ...(nodes ?? [])
      .filter(({ state }) => state === 'silent')
      .map((node): Attention => ({
        ...about('node_silent', 'bad', 'node', node.id),
        since: isoOf(node.seenAtMs),
        figures: { host: node.host, leased_usd: decimalOf(node.leasedNanoUsd) },
      })),
    ...fromFigures,
    ...ends,
  ]
  const rank = ({ severity }: Attention): number => WORST_FIRST.indexOf(severity)
  return all.sort((a, b) => rank(a) - rank(b) || (a.since > b.since ? -1 : 1))
}

/** What nobody noted the beginning of counts from when this node first saw it. */
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
  'doctor_wrong',
  'partition_missing',
  'spool_waiting',
  'store_away',
])

/** Whoever sees only some projects is told of their keys and budgets, and of nothing else. */
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

function about(
  kind: Attention['kind'],
  severity: Attention['severity'],
  type: Attention['subject']['type'],
  id: string,
): Pick<Attention, 'id' | 'kind' | 'severity' | 'subject'> {
  return { id: `${kind}:${id}`, kind, severity, subject: { type, id } }
}

function ofStores(summaries: readonly NodeSummary[]): readonly Attention[] {
  return summaries.flatMap(({ node, atMs, isStoreAway, spoolWaiting }): Attention[] => {
    const since = isoOf(atMs)
    if (isStoreAway)
      return [{ ...about('store_away', 'bad', 'store', node), since, figures: { waiting: spoolWaiting } }]
    if (spoolWaiting === 0) return []
    return [{ ...about('spool_waiting', 'warn', 'node', node), since, figures: { waiting: spoolWaiting } }]
  })
}

function ofLedger(summaries: readonly NodeSummary[]): readonly Attention[] {
  const differences = Math.max(0, ...summaries.map(({ ledgerDifferences }) => ledgerDifferences))
  if (differences === 0) return []
  const since = isoOf(Math.max(...summaries.map(({ atMs }) => atMs)))
  return [{ ...about('doctor_wrong', 'bad', 'store', 'ledger'), since, figures: { differences } }]
}

function ofDeployments(
  standings: ReadonlyMap<string, DeploymentStanding>,
  { deployments, spaceStandingOf }: AttentionParts,
): readonly Attention[] {
  return deployments().flatMap(({ id, model, siblings }): Attention[] => {
    const standing = standings.get(id)
    const space = spaceStandingOf(id)
    const common = { model, upstream: id.slice(model.length + 1) }
    const cosine = space?.last?.leastCosine
    const figures = { ...common, ...(cosine !== undefined && { least_cosine: cosine }) }
    if (space?.state === 'quarantined')
      return [
        {
          ...about('space_left', 'odd', 'deployment', id),
          since: isoOf(standing?.sinceMs ?? space.last?.atMs ?? 0),
          figures,
        },
      ]
    if (standing?.state === 'ejected' || standing?.state === 'probing') {
      const well = siblings.find((one) => (standings.get(one)?.state ?? 'healthy') === 'healthy')
      const isRejected = (standing.failures['rejectedUs'] ?? 0) > 0
      return [
        {
          ...about(isRejected ? 'deployment_rejected_us' : 'deployment_ejected', 'bad', 'deployment', id),
          since: isoOf(standing.sinceMs),
          figures: {
            ...common,
            calls: standing.calls,
            failed: Math.round(standing.calls * standing.failedShare),
            reason: standing.reason ?? '',
            stands_in: well?.slice(model.length + 1) ?? '',
          },
        },
      ]
    }
    if (space?.state === 'warned')
      return [
        { ...about('space_warned', 'warn', 'deployment', id), since: isoOf(space.last?.atMs ?? 0), figures },
      ]
    return []
  })
}

/** A built-in model that nobody uses is nobody's business. */
async function ofEnds({ ends, usersOf, nowMs }: AttentionParts): Promise<readonly Attention[]> {
  const now = nowMs()
  const near = ends().filter((end) => isNear(end, now))
  if (near.length === 0) return []
  const users = await usersOf([...new Set(near.map(({ model }) => model))])
  return near.flatMap((end): Attention[] => {
    const { model, deployment, on, atMs, successor = '', isBuiltIn, outlastedBy } = end
    const { keys, count } = users?.get(model) ?? { keys: [], count: 0 }
    const isUsed = users === undefined || count > 0
    if (isBuiltIn && count === 0) return []
    const days = daysLeft(end, now)
    const isPressing = days <= LAST_DAYS && outlastedBy.length === 0
    const severity = isUsed ? (isPressing ? 'bad' : 'warn') : 'off'
    return [
      {
        ...about('model_ends', severity, 'deployment', deployment),
        since: isoOf(days > 0 ? atMs - WARNED_DAYS * DAY_MS : atMs),
        figures: {
          model,
          upstream: deployment.slice(model.length + 1),
          on,
          days,
          successor,
          goes_on: outlastedBy[0]?.slice(model.length + 1) ?? '',
          ...(users !== undefined && {
            keys: keys
              .slice(0, NAMED_KEYS)
              .map(({ key }) => key)
              .join(', '),
            more_keys: Math.max(0, count - NAMED_KEYS),
          }),
        },
      },
    ]
  })
}

function ofOvercounts(
  summaries: readonly NodeSummary[],
  { deployments }: Pick<AttentionParts, 'deployments'>,
): readonly Attention[] {
  const all = summaries.flatMap(({ overcounts = [] }) => overcounts)
  return deployments().flatMap(({ id, model }): Attention[] => {
    const own = all.filter(({ deployment }) => deployment === id)
    if (own.length === 0) return []
    const cut = own.reduce((sum, { cutCalls }) => sum + cutCalls, 0)
    return [
      {
        ...about('usage_above_expected', cut > 0 ? 'bad' : 'warn', 'deployment', id),
        since: isoOf(Math.min(...own.map(({ sinceMs }) => sinceMs))),
        figures: {
          model,
          upstream: id.slice(model.length + 1),
          calls: own.reduce((sum, { calls }) => sum + calls, 0),
          cut,
        },
      },
    ]
  })
}

function ofBooks(
  { unknowns, budgets, restRows, overflows }: BooksFigures,
  nowMs: number,
): readonly Attention[] {
  const rows = restRows.ledger + restRows.requests
  return [
    ...(unknowns.open === 0
      ? []
      : [
          {
            ...about('unknowns_open', 'odd', 'unknowns', 'open'),
            since: isoOf(unknowns.oldestAtMs ?? nowMs),
            figures: {
              open: unknowns.open,
              usd: decimalOf(unknowns.amountNanoUsd),
              posts_at: isoOf((unknowns.oldestAtMs ?? nowMs) + UNKNOWN_POSTED_AFTER_MS),
            },
          },
        ]),
    ...budgets.flatMap(({ budgetId, limitNanoUsd, spentNanoUsd }): Attention[] => {
      if (limitNanoUsd === 0n || spentNanoUsd * 100n < limitNanoUsd * MARK_PERCENT) return []
      const isUsedUp = spentNanoUsd >= limitNanoUsd
      return [
        {
          ...about(
            isUsedUp ? 'budget_used_up' : 'budget_mark',
            isUsedUp ? 'bad' : 'warn',
            'budget',
            budgetId,
          ),
          since: isoOf(nowMs),
          figures: {
            percent: Number((spentNanoUsd * 100n) / limitNanoUsd),
            spent_usd: decimalOf(spentNanoUsd),
            limit_usd: decimalOf(limitNanoUsd),
          },
        },
      ]
    }),
    ...(rows === 0
      ? []
      : [{ ...about('partition_missing', 'warn', 'store', 'rows'), since: isoOf(nowMs), figures: { rows } }]),
    ...[...Map.groupBy(overflows, ({ project }) => project)].map(([project, own]): Attention => ({
      ...about('labels_overflowed', 'warn', 'project', project),
      since: isoOf(Math.min(...own.map(({ sinceMs }) => sinceMs))),
      figures: {
        labels: own.map(({ label }) => label).join(', '),
        usd: decimalOf(own.reduce((sum, { amountNanoUsd }) => sum + amountNanoUsd, 0n)),
      },
    })),
  ]
}

async function ofFigures(figures: AttentionFigures): Promise<readonly Attention[]> {
  const [refusals, keys, webhooks] = [
    await figures.refusals(),
    await figures.keys(),
    await figures.webhooksGivenUp(),
  ]
  return [
    ...refusals.map(({ fault, model = '', requests, firstAtMs, projects }): Attention => ({
      ...about(
        fault === 'model_unpriced' ? 'unpriced_refused' : 'model_retired_used',
        'warn',
        'model',
        model,
      ),
      since: isoOf(firstAtMs),
      figures: { requests, projects: projects.join(', ') },
    })),
    ...keys.map(({ key, kind, atMs, expiresAtMs }): Attention => ({
      ...about(kind === 'idle' ? 'key_idle' : 'key_ends', kind === 'idle' ? 'off' : 'warn', 'key', key),
      since: isoOf(atMs),
      figures: { ...(expiresAtMs !== undefined && { ends_at: isoOf(expiresAtMs) }) },
    })),
    ...webhooks.map(({ project, events, lastAtMs }): Attention => ({
      ...about('webhook_given_up', 'warn', 'project', project),
      since: isoOf(lastAtMs),
      figures: { events },
    })),
  ]
}
