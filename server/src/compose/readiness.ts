/** Whether the node wants requests, and whether a load balancer listens to what it says. */
import type { Readiness } from '#http/health.ts'
import type { Clock } from '#ports/clock.ts'
import { wait } from '#runtime/clock.ts'
import type { Log } from '#telemetry/log.ts'
import type { Basics } from './basics.ts'
import type { CatalogInForce } from './catalog.ts'
import type { Directory } from './directory.ts'
import type { Listeners } from './listeners.ts'
import type { Stores } from './stores.ts'

/** The longest pause between two checks that load balancers of the large clouds offer. */
const CHECKED_WITHIN_MS = 300_000
/** How often a node that starts looks whether it can serve. */
const LOOK_MS = 100

export interface ReadinessParts {
  readonly listeners: Pick<Listeners, 'isDraining' | 'isOpen'>
  readonly directory: Pick<Directory, 'notReady'>
  readonly stores: Pick<Stores, 'failure'>
  readonly catalog: Pick<CatalogInForce, 'refusal'>
  /** Aborts when the process is told to stop while it starts. */
  readonly told: AbortSignal
  /** Resolves when an operator or another node has ended this one. */
  readonly ended: { readonly promise: Promise<void> }
}

export class NodeReadiness implements Readiness {
  readonly #clock: Clock
  readonly #log: Log
  readonly #parts: ReadinessParts
  #askedAtMs = Number.NEGATIVE_INFINITY

  constructor({ clock, log }: Pick<Basics, 'clock' | 'log'>, parts: ReadinessParts) {
    this.#clock = clock
    this.#log = log
    this.#parts = parts
  }

  readonly notReady = (): string | undefined => {
    const { listeners } = this.#parts
    if (listeners.isDraining) return 'draining'
    return this.#unable() ?? (listeners.isOpen ? undefined : 'starting')
  }

  /** Why requests could not be served, if so. */
  #unable(): string | undefined {
    const { directory, stores } = this.#parts
    return directory.notReady() ?? stores.failure()
  }

  /** Resolves once the node can serve, or has been ended. Rejects when it is told to stop. */
  readonly serving = async (): Promise<void> => {
    const { told, ended } = this.#parts
    const isEnded = ended.promise.then(() => true)
    let said: string | undefined
    for (let reason = this.#unable(); reason !== undefined; reason = this.#unable()) {
      told.throwIfAborted()
      if (reason !== said) this.#log.warn({ reason }, 'the public port opens when this node can serve')
      said = reason
      if (await Promise.race([isEnded, wait(LOOK_MS)])) return
    }
  }

  readonly remark = (): string | undefined => {
    const { refusal } = this.#parts.catalog
    if (refusal === undefined) return undefined
    const since = new Date(refusal.sinceMs).toISOString()
    return `the configuration file is wrong since ${since}; the last good one stays in use`
  }

  readonly asked = (): void => {
    this.#askedAtMs = this.#clock.monotonicMs()
  }

  /** Whether somebody asks for it now and then. Where nobody does, nobody would notice that it changes. */
  get isWatched(): boolean {
    return this.#clock.monotonicMs() - this.#askedAtMs < CHECKED_WITHIN_MS
  }
}
