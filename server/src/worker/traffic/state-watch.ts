/** Since when each deployment is in its state, why, and which changes are worth recording. */
import type { DeploymentReport, DeploymentStateName } from '#core/schedule/scheduler.ts'
import type { DeploymentEvent } from '#ports/traffic-history.ts'

/** Shortest time between two recorded changes: a flapping deployment fills no table. */
const EVENT_EVERY_MS = 10_000

/** What is known about a deployment beside the scheduler's report. */
export interface Reasons {
  /** The reason of the last failed call. */
  readonly lastFailure: string | undefined
  /** What the space guard says. */
  readonly guard: string | undefined
  /** The reason given by the operator who drained it. */
  readonly drain: string | undefined
}

export interface WatchedState {
  readonly state: DeploymentStateName
  readonly sinceMs: number
  readonly reason: string | null
}

interface Watched extends WatchedState {
  /** The last recorded state. */
  recorded: DeploymentStateName
  recordedAtMs: number
}

export class StateWatch {
  readonly #watched = new Map<string, Watched>()
  #events: DeploymentEvent[] = []

  /** Forgets deployments that are no longer reported. */
  look(
    reports: readonly DeploymentReport[],
    reasonsOf: (deployment: string) => Reasons,
    nowMs: number,
  ): void {
    const gone = new Set(this.#watched.keys())
    for (const { deployment, state } of reports) {
      gone.delete(deployment)
      const before = this.#watched.get(deployment)
      const reason = reasonOf(state, reasonsOf(deployment))
      const watched: Watched =
        before === undefined
          ? { state, sinceMs: nowMs, reason, recorded: 'healthy', recordedAtMs: -EVENT_EVERY_MS }
          : {
              ...before,
              state,
              reason,
              sinceMs: isSame(before.state, state) ? before.sinceMs : nowMs,
            }
      if (!isSame(watched.recorded, state) && nowMs - watched.recordedAtMs >= EVENT_EVERY_MS) {
        this.#events.push({ deployment, atMs: nowMs, state, reason: reason ?? '' })
        watched.recorded = state
        watched.recordedAtMs = nowMs
      }
      this.#watched.set(deployment, watched)
    }
    for (const deployment of gone) this.#watched.delete(deployment)
  }

  of(deployment: string): WatchedState | undefined {
    return this.#watched.get(deployment)
  }

  takeEvents(): readonly DeploymentEvent[] {
    const events = this.#events
    this.#events = []
    return events
  }
}

/** A probe is part of an ejection: the failure continues. */
function isSame(a: DeploymentStateName, b: DeploymentStateName): boolean {
  const plain = (state: DeploymentStateName): DeploymentStateName => (state === 'probing' ? 'ejected' : state)
  return plain(a) === plain(b)
}

function reasonOf(state: DeploymentStateName, reasons: Reasons): string | null {
  switch (state) {
    case 'healthy':
      return null
    case 'drained':
      return reasons.drain ?? null
    case 'quarantined':
    case 'held-back':
      return reasons.guard ?? null
    case 'ejected':
    case 'probing':
    case 'limited':
      return reasons.lastFailure ?? null
  }
}
