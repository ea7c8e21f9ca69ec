/** What one node knows of the traffic of the last minutes, as plain values that can be sent to other nodes, and their sum. */
import { DEPLOYMENT_STATES, type DeploymentStateName } from '../schedule/scheduler.ts'
import { LatencyCounts, type SparseCounts } from './latency-counts.ts'

/** What flows from one key through a model to a deployment, a second, as the mean of the last ten. */
export interface Flow {
  readonly project: string
  /** `project/name`. */
  readonly key: string
  readonly model: string
  /** null: answered from the cache. */
  readonly deployment: string | null
  readonly requests: number
  readonly failed: number
  readonly tokens: number
  readonly images: number
  /** Whole nano-dollars, as text. */
  readonly nanoUsd: string
  readonly p95Ms: number | null
}

interface Rate {
  readonly requests: number
  readonly tokens: number
  readonly images: number
}

export interface DeploymentSummary {
  readonly id: string
  readonly state: DeploymentStateName
  readonly sinceMs: number
  /** When it is probed or called again. */
  readonly untilMs: number | null
  readonly reason: string | null
  readonly inFlight: number
  /** null: there is none. */
  readonly limit: number | null
  readonly learnsLimit: boolean
  /** A second, as the mean of the last ten. */
  readonly rate: Rate
  /** Of the last 15 minutes, as are those below. */
  readonly calls: number
  readonly failed: number
  /** By kind of failure. */
  readonly failures: Readonly<Record<string, number>>
  readonly latency: SparseCounts
}

/** Calls of one deployment whose upstream counted, or charged, more than was expected of them at most. */
export interface OvercountSummary {
  readonly deployment: string
  /** Since `sinceMs`, as are those below. */
  readonly calls: number
  /** Of them, those that were not charged in full. */
  readonly cutCalls: number
  readonly sinceMs: number
  readonly lastMs: number
}

export interface NodeSummary {
  readonly node: string
  readonly atMs: number
  /** 0 to 1: the share of time in which its event loop was busy. */
  readonly loopBusy: number
  /** Entries that wait on its disk for the store. */
  readonly spoolWaiting: number
  readonly callsUnderWay: number
  readonly isStoreAway: boolean
  /** Places where ledger and sums differ, as far as this node has compared them. */
  readonly ledgerDifferences: number
  /** Absent: a node of an earlier version. */
  readonly overcounts?: readonly OvercountSummary[] | undefined
  readonly deployments: readonly DeploymentSummary[]
  readonly flows: readonly Flow[]
}

/** One deployment as all nodes see it: the worst state of any. */
export interface DeploymentStanding extends Omit<DeploymentSummary, 'latency' | 'id' | 'failed'> {
  readonly nodes: readonly {
    readonly node: string
    readonly state: DeploymentStateName
    readonly inFlight: number
    readonly limit: number | null
  }[]
  readonly p50Ms: number | null
  readonly p95Ms: number | null
  readonly failedShare: number
}

export function worseOf(a: DeploymentStateName, b: DeploymentStateName): DeploymentStateName {
  return DEPLOYMENT_STATES.indexOf(a) < DEPLOYMENT_STATES.indexOf(b) ? b : a
}

/** By deployment. One that no node has called yet is in none of the summaries, and not in the result. */
export function standingsOf(summaries: readonly NodeSummary[]): ReadonlyMap<string, DeploymentStanding> {
  const seen = new Map<string, { readonly node: string; readonly of: DeploymentSummary }[]>()
  for (const { node, deployments } of summaries)
    for (const of of deployments) {
      const known = seen.get(of.id)
      if (known) known.push({ node, of })
      else seen.set(of.id, [{ node, of }])
    }
  return new Map(Array.from(seen, ([id, parts]) => [id, standingOf(parts)]))
}

function standingOf(
  parts: readonly { readonly node: string; readonly of: DeploymentSummary }[],
): DeploymentStanding {
  const all = parts.map(({ of }) => of)
  const state = all.map((one) => one.state).reduce(worseOf)
  const worst = all.filter((one) => one.state === state)
  const untils = worst.flatMap(({ untilMs }) => untilMs ?? [])
  const latency = new LatencyCounts()
  for (const one of all) latency.addAll(one.latency)
  const sum = (valueOf: (one: DeploymentSummary) => number): number =>
    all.reduce((total, one) => total + valueOf(one), 0)
  const calls = sum((one) => one.calls)
  const failures: Record<string, number> = {}
  for (const one of all)
    for (const [kind, count] of Object.entries(one.failures)) failures[kind] = (failures[kind] ?? 0) + count
  return {
    state,
    sinceMs: Math.min(...worst.map(({ sinceMs }) => sinceMs)),
    untilMs: untils.length === 0 ? null : Math.min(...untils),
    reason: worst.find(({ reason }) => reason !== null)?.reason ?? null,
    inFlight: sum((one) => one.inFlight),
    limit: all.some(({ limit }) => limit === null) ? null : sum((one) => one.limit ?? 0),
    learnsLimit: all.some(({ learnsLimit }) => learnsLimit),
    rate: {
      requests: sum(({ rate }) => rate.requests),
      tokens: sum(({ rate }) => rate.tokens),
      images: sum(({ rate }) => rate.images),
    },
    calls,
    failures,
    failedShare: calls === 0 ? 0 : sum((one) => one.failed) / calls,
    p50Ms: latency.quantile(0.5) ?? null,
    p95Ms: latency.quantile(0.95) ?? null,
    nodes: parts.map(({ node, of: { state: own, inFlight, limit } }) => ({
      node,
      state: own,
      inFlight,
      limit,
    })),
  }
}

/** Where more flow than a picture can show, the thinnest are one. */
export const MOST_FLOWS = 64
const OTHERS = 'others'

/** The flows of all nodes, the thickest first. */
export function flowsOf(summaries: readonly NodeSummary[]): readonly Flow[] {
  return joined(summaries.flatMap(({ flows }) => flows))
}

/** Flows of one way become one; those beyond `MOST_FLOWS` become one without a way. */
export function joined(flows: readonly Flow[]): readonly Flow[] {
  const byWay = new Map<string, Flow>()
  for (const flow of flows) {
    const way = JSON.stringify([flow.key, flow.model, flow.deployment])
    const known = byWay.get(way)
    byWay.set(way, known ? sumOf(known, flow) : flow)
  }
  const sorted = [...byWay.values()].sort((a, b) => b.requests - a.requests || (a.key < b.key ? -1 : 1))
  const [shown, rest] = [sorted.slice(0, MOST_FLOWS), sorted.slice(MOST_FLOWS)]
  if (rest.length === 0) return shown
  const others = { project: '', key: OTHERS, model: OTHERS, deployment: null }
  return [...shown, { ...rest.reduce(sumOf), ...others }]
}

function sumOf(a: Flow, b: Flow): Flow {
  return {
    ...a,
    requests: a.requests + b.requests,
    failed: a.failed + b.failed,
    tokens: a.tokens + b.tokens,
    images: a.images + b.images,
    nanoUsd: String(BigInt(a.nanoUsd) + BigInt(b.nanoUsd)),
    p95Ms: a.p95Ms === null || b.p95Ms === null ? (a.p95Ms ?? b.p95Ms) : Math.max(a.p95Ms, b.p95Ms),
  }
}

const OTHER_PROJECTS = 'other projects'

/**
 * The flows that somebody who sees only these projects may see. What others send through the same deployments is one flow
 * without a name; what they send elsewhere is not there.
 */
export function flowsFor(flows: readonly Flow[], projects: readonly string[] | undefined): readonly Flow[] {
  if (projects === undefined) return flows
  const own = flows.filter(({ project }) => projects.includes(project))
  const ways = new Set(own.map(({ model, deployment }) => JSON.stringify([model, deployment])))
  const beside = flows.filter(
    ({ project, model, deployment }) =>
      !projects.includes(project) && ways.has(JSON.stringify([model, deployment])),
  )
  return joined([
    ...own,
    // What they pay is theirs to know.
    ...beside.map((flow) => ({ ...flow, project: '', key: OTHER_PROJECTS, nanoUsd: '0' })),
  ])
}
