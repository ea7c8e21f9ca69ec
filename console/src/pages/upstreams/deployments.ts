/** The deployments of a model as rows in tiers, and where a row can be moved. A tier is a priority; the lowest is tier 1. */
import type { Routing, RoutingDeployment } from '../../api/queries/routing.ts'
import { identityOf, isEntry, type Entry } from './entry.ts'

export interface DeploymentRow {
  /** The same while it is edited and moved. */
  readonly key: string
  readonly upstream: string
  /** The upstream's name of the model, where the entry names one. */
  readonly upstreamModel: string | undefined
  readonly priority: number
  readonly weight: number
  /** As it will be saved. null: it is declared elsewhere and can't be changed here. */
  readonly entry: Entry | null
  /** As it is stored. Undefined: it is new. */
  readonly was: Entry | undefined
  /** What the nodes report. Undefined: it is new. */
  readonly live: RoutingDeployment | undefined
}

export interface Tier {
  readonly priority: number
  readonly rows: readonly DeploymentRow[]
}

export function deploymentsIn(entry: Entry | null): readonly Entry[] {
  const list = entry?.['deployments']
  return Array.isArray(list) ? list.filter(isEntry) : []
}

/** `entry` is the stored object with the pending changes. */
export function tiersOf(routing: Routing, entry: Entry | null): readonly Tier[] {
  const stored = deploymentsIn(routing.entry)
  const declared = routing.deployments.filter(({ index }) => index === null).map(declaredRow)
  const own = deploymentsIn(entry).map((one) => {
    const key = identityOf(one)
    const at = stored.findIndex((was) => identityOf(was) === key)
    return storedRow(
      key,
      one,
      stored[at],
      routing.deployments.find(({ index }) => index === at),
    )
  })
  const byPriority = Map.groupBy([...declared, ...own], ({ priority }) => priority)
  return [...byPriority]
    .toSorted(([one], [other]) => one - other)
    .map(([priority, rows]) => ({ priority, rows }))
}

function declaredRow(one: RoutingDeployment): DeploymentRow {
  const { id, upstream, priority, weight } = one
  return {
    key: id,
    upstream,
    upstreamModel: undefined,
    priority,
    weight,
    entry: null,
    was: undefined,
    live: one,
  }
}

function storedRow(
  key: string,
  entry: Entry,
  was: Entry | undefined,
  live: RoutingDeployment | undefined,
): DeploymentRow {
  return {
    key,
    upstream: String(entry['upstream']),
    upstreamModel: typeof entry['model'] === 'string' ? entry['model'] : undefined,
    priority: priorityOf(entry),
    weight: weightOf(entry),
    entry,
    was,
    live,
  }
}

/** Of an entry without a weight, as torana.yaml has it. */
const DEFAULT_WEIGHT = 1

export function weightOf(entry: Entry): number {
  return typeof entry['weight'] === 'number' ? entry['weight'] : DEFAULT_WEIGHT
}

export function priorityOf(entry: Entry): number {
  return typeof entry['priority'] === 'number' ? entry['priority'] : 0
}

/** The share of its tier's calls that a row gets by weight, while all of the tier are healthy. */
export function shareIn({ rows }: Tier, { weight }: DeploymentRow): number {
  const total = rows.reduce((sum, one) => sum + one.weight, 0)
  return total === 0 ? 0 : weight / total
}

/** A place for a row: before another stored row of a tier, or behind all of them. */
export interface Slot {
  readonly priority: number
  readonly before: string | undefined
}

/** Every place for a row, from the first tier to one that does not exist yet. */
export function slotsFor(tiers: readonly Tier[], key: string): readonly Slot[] {
  const within = tiers.flatMap(({ priority, rows }) => [
    ...rows
      .filter((row) => row.entry !== null && row.key !== key)
      .map((row) => ({ priority, before: row.key })),
    { priority, before: undefined },
  ])
  const last = tiers.at(-1)
  // Alone in the last tier, it would only change that tier's number.
  const isAloneInLast = last?.rows.length === 1 && last.rows[0]?.key === key
  return isAloneInLast ? within : [...within, { priority: newPriority(tiers), before: undefined }]
}

export function newPriority(tiers: readonly Tier[]): number {
  const last = tiers.at(-1)
  return last === undefined ? 0 : last.priority + 1
}

export function slotOf(tiers: readonly Tier[], key: string): Slot | undefined {
  for (const { priority, rows } of tiers) {
    const own = rows.filter(({ entry }) => entry !== null)
    const at = own.findIndex((row) => row.key === key)
    if (at >= 0) return { priority, before: own[at + 1]?.key }
  }
  return undefined
}

export function isSameSlot(one: Slot | undefined, other: Slot | undefined): boolean {
  return one?.priority === other?.priority && one?.before === other?.before
}

/** The list of deployments with one of them at another place. Rows of a tier are in the order of the list. */
export function movedTo(deployments: readonly Entry[], key: string, slot: Slot): readonly Entry[] {
  const moving = deployments.find((one) => identityOf(one) === key)
  if (moving === undefined) return deployments
  const placed = withPriority(moving, slot.priority)
  const others = deployments.filter((one) => one !== moving)
  const before = others.findIndex((one) => identityOf(one) === slot.before)
  const at = before >= 0 ? before : others.findLastIndex((one) => priorityOf(one) <= slot.priority) + 1
  return others.toSpliced(at, 0, placed)
}

/** Tier 1 needs no priority in the file. */
function withPriority(entry: Entry, priority: number): Entry {
  if (priorityOf(entry) === priority) return entry
  const { priority: _, ...rest } = entry
  if (priority === 0) return rest
  const { upstream, model, ...others } = rest
  return { upstream, ...(model !== undefined && { model }), priority, ...others }
}

/** Where a new deployment goes: the last tier, and never the first, so that it is a fallback unless it is alone. */
export function fallbackPriority(tiers: readonly Tier[]): number {
  const last = tiers.at(-1)
  if (last === undefined) return 0
  return tiers.length === 1 ? newPriority(tiers) : last.priority
}
