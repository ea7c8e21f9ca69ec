/** How the deployments of models stand over all nodes, and how they stood for a week. */
import type { DeploymentStateName } from '#core/schedule/scheduler.ts'
import { standingsOf, worseOf, type NodeSummary } from '#core/traffic/node-summary.ts'
import type { Drain } from '#ports/drains.ts'
import type { WorstState } from '#ports/traffic-history.ts'
import { STATE_LETTERS } from '../wire/state-letters.ts'

/** Four a day for a week. */
export const WEEK_CELLS = 28
export const WEEK_CELL_MS = 6 * 3_600_000

interface Standing {
  readonly state: DeploymentStateName
  readonly untilMs: number | undefined
  readonly sinceMs: number
}

export interface Health {
  readonly standingOf: (deployment: string) => Standing
  /** The worst of these deployments in each cell. */
  readonly cellsOf: (deployments: readonly string[]) => string
}

export interface Told {
  readonly summaries: readonly NodeSummary[]
  readonly drains: readonly Drain[]
  /** Slots as long as a cell. */
  readonly worst: readonly WorstState[]
  /** Where the first cell begins. */
  readonly fromMs: number
  /** Since when nothing has been heard of one that nobody has called. */
  readonly startedAtMs: number
}

/** The cells end with the one of now. */
export function weekFromMs(nowMs: number): number {
  return (Math.floor(nowMs / WEEK_CELL_MS) - WEEK_CELLS + 1) * WEEK_CELL_MS
}

export function healthOf({ summaries, drains, worst, fromMs, startedAtMs }: Told): Health {
  const standings = standingsOf(summaries)
  const drained = new Map(drains.map((drain) => [drain.deployment, drain]))
  const slots = Map.groupBy(worst, ({ deployment }) => deployment)
  return {
    standingOf(deployment) {
      const drain = drained.get(deployment)
      if (drain !== undefined) return { state: 'drained', untilMs: undefined, sinceMs: drain.atMs }
      const standing = standings.get(deployment)
      if (standing === undefined) return { state: 'healthy', untilMs: undefined, sinceMs: startedAtMs }
      return {
        state: standing.state,
        untilMs: standing.untilMs ?? undefined,
        sinceMs: standing.sinceMs,
      }
    },
    cellsOf(deployments) {
      const cells = Array.from<DeploymentStateName | undefined>({ length: WEEK_CELLS })
      const note = (at: number, state: DeploymentStateName): void => {
        if (at >= 0 && at < WEEK_CELLS) cells[at] = worseOf(cells[at] ?? state, state)
      }
      for (const id of deployments) {
        for (const slot of slots.get(id) ?? [])
          note(Math.floor((slot.atMs - fromMs) / WEEK_CELL_MS), slot.worst)
        // What is known now is not written down yet.
        const now = standings.get(id)
        if (now !== undefined && (now.calls > 0 || now.state !== 'healthy')) note(WEEK_CELLS - 1, now.state)
      }
      return cells.map((state) => (state === undefined ? '.' : STATE_LETTERS[state])).join('')
    },
  }
}
