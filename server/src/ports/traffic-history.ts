import type { DeploymentStateName } from '#core/schedule/scheduler.ts'
import type { SparseCounts } from '#core/traffic/latency-counts.ts'
import type { Outcome } from '#core/request/request-outcome.ts'

/** How long one slot of a deployment's history is. */
export const DEPLOYMENT_SLOT_MS = 300_000
/** Slots of the traffic of all projects: fine ones for the last day, coarse ones for the last month. */
export const FINE_SLOT_MS = 60_000
export const COARSE_SLOT_MS = 1_800_000
/** Age up to which fine slots are kept: the day they are looked at, and two hours. */
export const FINE_KEPT_MS = 26 * 3_600_000

/** A span of time. `toMs` is the first moment that is not in it. */
export interface TimeSpan {
  readonly fromMs: number
  readonly toMs: number
}

/** What one node saw of one deployment in one slot. */
export interface DeploymentSlot {
  readonly deployment: string
  /** Where the slot begins. */
  readonly atMs: number
  readonly worst: DeploymentStateName
  readonly calls: number
  readonly failed: number
  readonly latency: SparseCounts
  /** Highest number at one moment. */
  readonly inFlight: number
  /** As of the end of the slot. Undefined: there was none. */
  readonly limit: number | undefined
}

export interface DeploymentEvent {
  readonly deployment: string
  readonly atMs: number
  readonly state: DeploymentStateName
  readonly reason: string
}

/** What one node answered in one slot to one project. */
export interface ProjectSlot {
  readonly slotMs: number
  readonly atMs: number
  /** Empty: callers without a valid key. */
  readonly project: string
  readonly outcomes: Readonly<Record<Outcome, number>>
  readonly inputs: number
  readonly hits: number
  readonly nanoUsd: bigint
  readonly latency: SparseCounts
  /** Torana's own time, without waits and upstreams. */
  readonly own: SparseCounts
}

/** Everything that a node writes at one time. */
export interface TrafficPage {
  readonly deployments: readonly DeploymentSlot[]
  readonly events: readonly DeploymentEvent[]
  readonly projects: readonly ProjectSlot[]
}

/** All nodes together, in one slot of the length that was asked for. */
export interface TrafficSlot {
  readonly atMs: number
  readonly outcomes: Readonly<Record<Outcome, number>>
  readonly inputs: number
  readonly hits: number
  readonly nanoUsd: bigint
  readonly p50Ms: number | undefined
  readonly p95Ms: number | undefined
  readonly p99Ms: number | undefined
  readonly ownP95Ms: number | undefined
}

export interface WorstState {
  readonly deployment: string
  readonly atMs: number
  readonly worst: DeploymentStateName
}
