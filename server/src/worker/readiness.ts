/** Whether the node wants requests, and whether a load balancer follows its answer. */
import type { Clock } from '#ports/clock.ts'

/** The longest interval between two checks that load balancers of the large clouds offer. */
const MAX_CHECK_INTERVAL_MS = 300_000
/** Interval at which a starting node checks whether it can serve. */
const LOOK_MS = 100

export interface ReadinessParts {
  readonly clock: Pick<Clock, 'monotonicMs'>
  readonly wait: (ms: number) => Promise<void>
  readonly listeners: { readonly isDraining: boolean; readonly isOpen: boolean }
  /** Why the node could not serve a request now. Undefined: it could. */
  readonly unable: () => string | undefined
  /** Since when the configuration file is wrong. Undefined: it is not. */
  readonly wrongSinceMs: () => number | undefined
  /** Aborts a start. */
  readonly signal: AbortSignal
  /** Resolves when an operator or another node has ended this one. */
  readonly ended: Promise<void>
  /** A start waits for this reason. Called once for each reason in a row. */
  readonly onWaiting: (reason: string) => void
}

export class NodeReadiness {
  readonly #parts: ReadinessParts
  #checkedAtMs = Number.NEGATIVE_INFINITY

  constructor(parts: ReadinessParts) {
    this.#parts = parts
  }

  readonly notReady = (): string | undefined => {
    const { listeners, unable } = this.#parts
    if (listeners.isDraining) return 'draining'
    return unable() ?? (listeners.isOpen ? undefined : 'starting')
  }

  /** Resolves once the node can serve, or has been ended. Rejects when its start is aborted. */
  readonly serving = async (): Promise<void> => {
    const { unable, signal, ended, wait, onWaiting } = this.#parts
    const isEnded = ended.then(() => true)
    let last: string | undefined
    for (let reason = unable(); reason !== undefined; reason = unable()) {
      signal.throwIfAborted()
      if (reason !== last) onWaiting(reason)
      last = reason
      if (await Promise.race([isEnded, wait(LOOK_MS)])) return
    }
  }

  readonly remark = (): string | undefined => {
    const sinceMs = this.#parts.wrongSinceMs()
    if (sinceMs === undefined) return undefined
    const since = new Date(sinceMs).toISOString()
    return `the configuration file is wrong since ${since}; the last good one stays in use`
  }

  readonly asked = (): void => {
    this.#checkedAtMs = this.#parts.clock.monotonicMs()
  }

  /** Whether anything checks readiness regularly. Otherwise a change of it would go unnoticed. */
  get isWatched(): boolean {
    return this.#parts.clock.monotonicMs() - this.#checkedAtMs < MAX_CHECK_INTERVAL_MS
  }
}
