/** Since when each deployment is in its state, why, and which changes are worth writing down. */
import type { DeploymentReport, DeploymentStateName } from '#core/schedule/scheduler.ts'
import type { DeploymentEvent } from '#ports/traffic-history.ts'

/** A deployment that goes in and out of a state all the time fills no table. */
const EVENT_EVERY_MS = 10_000

/** What is known of a deployment beside what the scheduler says. */
export interface Reasons {
  /** What the last failed call died of. */
  readonly lastFailure: string | undefined
  /** What the space guard says. */
  readonly guard: string | undefined
  /** What the operator said who drained it. */
  readonly drain: string | undefined
}

export interface WatchedState {
  readonly state: DeploymentStateName
  readonly sinceMs: number
  readonly reason: string | null
}

interface Watched extends WatchedState {
  /** The state that was last written down. */
  told: DeploymentStateName
  toldAtMs: number
}

export class StateWatch {
  readonly #watched = new Map<string, Watched>()
  #events: DeploymentEvent[] = []

  /** Deployments that are not reported any more are forgotten. */
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
          ? { state, sinceMs: nowMs, reason, told: 'healthy', toldAtMs: -EVENT_EVERY_MS }
          : {
              ...before,
              state,
              reason,
              sinceMs: isSame(before.state, state) ? before.sinceMs : nowMs,
            }
      if (!isSame(watched.told, state) && nowMs - watched.toldAtMs >= EVENT_EVERY_MS) {
        this.#events.push({ deployment, atMs: nowMs, state, reason: reason ?? '' })
        watched.told = state
        watched.toldAtMs = nowMs
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

/** A probe is a part of an ejection: the illness goes on. */
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
