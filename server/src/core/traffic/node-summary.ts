/** One node's view of the traffic of the last minutes, as plain values that can be sent to other nodes, and the sum of several. */
import { DEPLOYMENT_STATES, type DeploymentStateName } from '../schedule/scheduler.ts'
import { LatencyCounts, type SparseCounts } from './latency-counts.ts'

/** Requests per second from one key through a model to a deployment, as the mean of the last ten seconds. */
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
  /** Per second, as the mean of the last ten seconds. */
  readonly rate: Rate
  /** Of the last 15 minutes, like the fields below. */
  readonly calls: number
  readonly failed: number
  /** By kind of failure. */
  readonly failures: Readonly<Record<string, number>>
  readonly latency: SparseCounts
}

/** Calls of one deployment whose upstream counted, or charged, more than the expected maximum. */
export interface OvercountSummary {
  readonly deployment: string
  /** Since `sinceMs`, like the fields below. */
  readonly calls: number
  /** Those of them that were not charged in full. */
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
  /** PostgreSQL is unreachable. Nodes of other versions write this name. */
  readonly isStoreAway: boolean
  /** Places where ledger and sums differ, as far as this node has compared them. */
  readonly ledgerDifferences: number
  /** Absent: a node of an earlier version. */
  readonly overcounts?: readonly OvercountSummary[] | undefined
  /** Unix milliseconds. Absent: a node without TLS, or of an earlier version. */
  readonly certificateEndsMs?: number | undefined
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

/** By deployment. A deployment that no node has called yet is in no summary, and not in the result. */
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

/** Flows shown separately: beyond what a chart can show, the thinnest are merged. */
export const MAX_FLOWS = 64
const OTHERS = 'others'

/** The flows of all nodes, the thickest first. */
export function flowsOf(summaries: readonly NodeSummary[]): readonly Flow[] {
  return joined(summaries.flatMap(({ flows }) => flows))
}

/** Merges flows of the same path; those beyond `MAX_FLOWS` become one without a path. */
export function joined(flows: readonly Flow[]): readonly Flow[] {
  const byWay = new Map<string, Flow>()
  for (const flow of flows) {
    const way = JSON.stringify([flow.key, flow.model, flow.deployment])
    const known = byWay.get(way)
    byWay.set(way, known ? sumOf(known, flow) : flow)
  }
  const sorted = [...byWay.values()].sort((a, b) => b.requests - a.requests || (a.key < b.key ? -1 : 1))
  const [shown, rest] = [sorted.slice(0, MAX_FLOWS), sorted.slice(MAX_FLOWS)]
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
 * The flows that a viewer of only these projects may see. What others send through the same deployments is one flow without
 * a name; what they send elsewhere is left out.
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
    // The other projects' spending is hidden.
    ...beside.map((flow) => ({ ...flow, project: '', key: OTHER_PROJECTS, nanoUsd: '0' })),
  ])
}
