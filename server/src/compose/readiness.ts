/** Whether the node wants requests, and whether a load balancer listens to what it says. */
import type { Readiness } from '#http/health.ts'
import type { Clock } from '#ports/clock.ts'
import type { Basics } from './basics.ts'
import type { CatalogInForce } from './catalog.ts'
import type { Directory } from './directory.ts'
import type { Listeners } from './listeners.ts'
import type { Stores } from './stores.ts'

/** The longest pause between two checks that load balancers of the large clouds offer. */
const CHECKED_WITHIN_MS = 300_000

export interface ReadinessParts {
  readonly listeners: Pick<Listeners, 'isDraining'>
  readonly directory: Pick<Directory, 'notReady'>
  readonly stores: Pick<Stores, 'failure'>
  readonly catalog: Pick<CatalogInForce, 'refusal'>
}

export class NodeReadiness implements Readiness {
  readonly #clock: Clock
  readonly #parts: ReadinessParts
  #askedAtMs = Number.NEGATIVE_INFINITY

  constructor({ clock }: Pick<Basics, 'clock'>, parts: ReadinessParts) {
    this.#clock = clock
    this.#parts = parts
  }

  readonly notReady = (): string | undefined => {
    const { listeners, directory, stores } = this.#parts
    return listeners.isDraining ? 'draining' : (directory.notReady() ?? stores.failure())
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
