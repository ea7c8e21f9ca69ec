/** The state of deployments over all nodes, now and for a week. */
import type { DeploymentStateName } from '#core/schedule/scheduler.ts'
import { standingsOf, worseOf, type NodeSummary } from '#core/traffic/node-summary.ts'
import type { Drain } from '#ports/drains.ts'
import type { WorstState } from '#ports/traffic-history.ts'
import { STATE_LETTERS } from '../shared/state-letters.ts'
import { isoOf, timeOf } from '../shared/times.ts'

/** Cells of a week, four a day. */
export const WEEK_CELLS = 28
export const WEEK_CELL_MS = 6 * 3_600_000

export interface Health {
  readonly standingOf: (deployment: string) => {
    readonly state: DeploymentStateName
    readonly until: string | null
    readonly since: string
  }
  /** The worst of these deployments in each cell. */
  readonly cellsOf: (deployments: readonly string[]) => string
}

export interface HealthSources {
  readonly summaries: readonly NodeSummary[]
  readonly drains: readonly Drain[]
  /** Slots of the length of a cell. */
  readonly worst: readonly WorstState[]
  /** The begin of the first cell. */
  readonly fromMs: number
  /** When this node started: a deployment without a call is healthy since then. */
  readonly startedAtMs: number
}

/** The begin of the first cell. The last cell is the one of now. */
export function weekFromMs(nowMs: number): number {
  return (Math.floor(nowMs / WEEK_CELL_MS) - WEEK_CELLS + 1) * WEEK_CELL_MS
}

export function healthOf({ summaries, drains, worst, fromMs, startedAtMs }: HealthSources): Health {
  const standings = standingsOf(summaries)
  const drained = new Map(drains.map((drain) => [drain.deployment, drain]))
  const slots = Map.groupBy(worst, ({ deployment }) => deployment)
  return {
    standingOf(deployment) {
      const drain = drained.get(deployment)
      if (drain !== undefined) return { state: 'drained', until: null, since: isoOf(drain.atMs) }
      const { state = 'healthy', untilMs, sinceMs = startedAtMs } = standings.get(deployment) ?? {}
      return { state, until: timeOf(untilMs ?? undefined), since: isoOf(sinceMs) }
    },
    cellsOf(deployments) {
      const cells = Array.from<DeploymentStateName | undefined>({ length: WEEK_CELLS })
      const note = (at: number, state: DeploymentStateName): void => {
        if (at >= 0 && at < WEEK_CELLS) cells[at] = worseOf(cells[at] ?? state, state)
      }
      for (const id of deployments) {
        for (const slot of slots.get(id) ?? [])
          note(Math.floor((slot.atMs - fromMs) / WEEK_CELL_MS), slot.worst)
        // The state of now is not in the history yet.
        const now = standings.get(id)
        if (now !== undefined && (now.calls > 0 || now.state !== 'healthy')) note(WEEK_CELLS - 1, now.state)
      }
      return cells.map((state) => (state === undefined ? '.' : STATE_LETTERS[state])).join('')
    },
  }
}
