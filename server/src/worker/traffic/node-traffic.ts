/**
 * What this node knows about its traffic: counted as it happens, examined once per second, written once per
 * minute. A request only touches counters; everything else happens here.
 */
import type { DeploymentReport, DeploymentStateName } from '#core/schedule/scheduler.ts'
import { worseOf, type DeploymentSummary, type NodeSummary } from '#core/traffic/node-summary.ts'
import type { Clock } from '#ports/clock.ts'
import { isCut, type CallRecord, type Overcount, type RequestRecord } from '#ports/observer.ts'
import {
  COARSE_SLOT_MS,
  DEPLOYMENT_SLOT_MS,
  FINE_SLOT_MS,
  type DeploymentEvent,
  type DeploymentSlot,
  type ProjectSlot,
  type TrafficPage,
} from '#ports/traffic-history.ts'
import { CallCounts } from './call-counts.ts'
import { FlowCounts } from './flow-counts.ts'
import { Overcounts } from './overcounts.ts'
import { ProjectCounts } from './project-counts.ts'
import { StateWatch, type Reasons } from './state-watch.ts'

/** Rows that wait for an unreachable store; older ones are dropped. */
const MAX_PENDING = 5000

export interface NodeTrafficParts {
  readonly clock: Clock
  readonly states: (nowMs: number) => readonly DeploymentReport[]
  readonly reasonsOf: (deployment: string) => Omit<Reasons, 'lastFailure'>
}

/** What a node reports about itself beside its traffic. */
export type NodeCondition = Pick<
  NodeSummary,
  | 'node'
  | 'loopBusy'
  | 'spoolWaiting'
  | 'callsUnderWay'
  | 'isStoreAway'
  | 'ledgerDifferences'
  | 'certificateEndsMs'
>

interface Ended {
  readonly deployments: DeploymentSlot[]
  readonly projects: ProjectSlot[]
  readonly events: DeploymentEvent[]
}

/** The current slot of a deployment. */
interface OpenSlot {
  worst: DeploymentStateName
  inFlight: number
  limit: number | undefined
}

export class NodeTraffic {
  readonly #parts: NodeTrafficParts
  readonly #flows = new FlowCounts()
  readonly #calls = new Map<string, CallCounts>()
  readonly #fine = new ProjectCounts(FINE_SLOT_MS)
  readonly #coarse = new ProjectCounts(COARSE_SLOT_MS)
  readonly #watch = new StateWatch()
  readonly #overcounts = new Overcounts()
  #reports: readonly DeploymentReport[] = []
  #slots = new Map<string, OpenSlot>()
  #lookedMs: number
  /** Ended slots that are not written yet. */
  #ended: Ended = { deployments: [], projects: [], events: [] }

  constructor(parts: NodeTrafficParts) {
    this.#parts = parts
    this.#lookedMs = parts.clock.nowMs()
  }

  requestEnded(record: RequestRecord): void {
    this.#flows.requestEnded(record)
    this.#fine.add(record)
  }

  callEnded(record: CallRecord): void {
    this.#callsOf(record.deployment).add(record)
  }

  overcounted(record: Overcount): void {
    this.#overcounts.add(record.deployment, isCut(record), this.#parts.clock.nowMs())
  }

  /** Call it once per second. */
  look(): void {
    const { clock, states, reasonsOf } = this.#parts
    const nowMs = clock.nowMs()
    this.#closeSlots(nowMs)
    if (slotOf(nowMs, 60_000) !== slotOf(this.#lookedMs, 60_000))
      for (const calls of this.#calls.values()) calls.nextMinute()
    this.#lookedMs = nowMs
    this.#reports = states(clock.monotonicMs())
    const reasons = (deployment: string): Reasons => ({
      lastFailure: this.#calls.get(deployment)?.lastFailure,
      ...reasonsOf(deployment),
    })
    this.#watch.look(this.#reports, reasons, nowMs)
    for (const report of this.#reports) this.#noteInSlot(report)
    this.#flows.nextSecond()
    for (const calls of this.#calls.values()) calls.nextSecond()
    this.#forgetGone()
  }

  summary(condition: NodeCondition): NodeSummary {
    const { clock } = this.#parts
    const flows = this.#flows.flows()
    const [nowMs, monotonicMs] = [clock.nowMs(), clock.monotonicMs()]
    const deployments = this.#reports.map((report): DeploymentSummary => {
      const { deployment: id, closedUntilMs, limit } = report
      const { state, sinceMs, reason } = this.#watch.of(id) ?? { ...report, sinceMs: nowMs, reason: null }
      const calls = this.#calls.get(id)
      const own = flows.filter(({ deployment }) => deployment === id)
      return {
        id,
        state,
        sinceMs,
        untilMs: closedUntilMs === undefined ? null : Math.round(nowMs + closedUntilMs - monotonicMs),
        reason,
        inFlight: report.inFlight,
        limit: Number.isFinite(limit) ? Math.floor(limit) : null,
        learnsLimit: report.learnsLimit,
        rate: {
          requests: calls?.rate ?? 0,
          tokens: own.reduce((sum, { tokens }) => sum + tokens, 0),
          images: own.reduce((sum, { images }) => sum + images, 0),
        },
        ...(calls ?? NOT_CALLED).lately,
      }
    })
    const overcounts = this.#overcounts.lately(nowMs)
    return { ...condition, atMs: nowMs, overcounts, deployments, flows }
  }

  /** The rows to write now: ended slots, and current ones as they are. */
  page(): TrafficPage {
    const nowMs = this.#parts.clock.nowMs()
    const { deployments, projects, events } = this.#ended
    events.push(...this.#watch.takeEvents())
    return {
      deployments: [...deployments, ...this.#deploymentRows(slotOf(nowMs, DEPLOYMENT_SLOT_MS))],
      projects: [
        ...projects,
        ...this.#fine.rows(slotOf(nowMs, FINE_SLOT_MS)),
        ...this.#coarse.rows(slotOf(nowMs, COARSE_SLOT_MS)),
      ],
      events: [...events],
    }
  }

  /** The page is written: ended slots need not be written again. */
  written({ deployments, projects, events }: TrafficPage): void {
    const done = new Set<unknown>([...deployments, ...projects, ...events])
    const isLeft = (row: unknown): boolean => !done.has(row)
    this.#ended = {
      deployments: this.#ended.deployments.filter(isLeft),
      projects: this.#ended.projects.filter(isLeft),
      events: this.#ended.events.filter(isLeft),
    }
  }

  #callsOf(deployment: string): CallCounts {
    let calls = this.#calls.get(deployment)
    if (calls === undefined) this.#calls.set(deployment, (calls = new CallCounts()))
    return calls
  }

  #noteInSlot({ deployment, state, inFlight, limit }: DeploymentReport): void {
    const open = this.#slots.get(deployment)
    if (open === undefined) this.#slots.set(deployment, { worst: state, inFlight, limit: finite(limit) })
    else {
      open.worst = worseOf(open.worst, state)
      open.inFlight = Math.max(open.inFlight, inFlight)
      open.limit = finite(limit)
    }
  }

  #closeSlots(nowMs: number): void {
    const before = this.#lookedMs
    const hasEnded = (slotMs: number): boolean => slotOf(nowMs, slotMs) !== slotOf(before, slotMs)
    const { deployments, projects, events } = this.#ended
    if (hasEnded(DEPLOYMENT_SLOT_MS)) {
      deployments.push(...this.#deploymentRows(slotOf(before, DEPLOYMENT_SLOT_MS)))
      this.#slots = new Map()
      for (const calls of this.#calls.values()) calls.nextSlot()
    }
    if (hasEnded(FINE_SLOT_MS)) {
      const rows = this.#fine.rows(slotOf(before, FINE_SLOT_MS))
      projects.push(...rows)
      this.#coarse.addRows(rows)
      this.#fine.clear()
    }
    if (hasEnded(COARSE_SLOT_MS)) {
      projects.push(...this.#coarse.rows(slotOf(before, COARSE_SLOT_MS)))
      this.#coarse.clear()
    }
    this.#ended = {
      deployments: deployments.slice(-MAX_PENDING),
      projects: projects.slice(-MAX_PENDING),
      events: events.slice(-MAX_PENDING),
    }
  }

  /** A healthy deployment without calls has no rows. */
  #deploymentRows(atMs: number): readonly DeploymentSlot[] {
    return Array.from(this.#slots, ([deployment, open]) => {
      const { calls, failed, latency } = (this.#calls.get(deployment) ?? NOT_CALLED).slot
      return { deployment, atMs, ...open, calls, failed, latency }
    }).filter(({ calls, worst }) => calls > 0 || worst !== 'healthy')
  }

  /** Forgets deployments that the catalog no longer has. */
  #forgetGone(): void {
    if (this.#calls.size <= this.#reports.length) return
    const known = new Set(this.#reports.map(({ deployment }) => deployment))
    for (const deployment of this.#calls.keys()) if (!known.has(deployment)) this.#calls.delete(deployment)
  }
}

const NOT_CALLED = new CallCounts()

function slotOf(atMs: number, slotMs: number): number {
  return Math.floor(atMs / slotMs) * slotMs
}

function finite(limit: number): number | undefined {
  return Number.isFinite(limit) ? limit : undefined
}
