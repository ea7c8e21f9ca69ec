/** Applies the store's drained deployments to the scheduler. */
import type { Drain, DrainStore } from '#ports/drains.ts'

export interface DrainParts {
  readonly store: Pick<DrainStore, 'list'>
  readonly apply: (deployment: string, isDrained: boolean) => void
}

export class DrainsInForce {
  readonly #parts: DrainParts
  #drains: ReadonlyMap<string, Drain> = new Map()

  constructor(parts: DrainParts) {
    this.#parts = parts
  }

  of(deployment: string): Drain | undefined {
    return this.#drains.get(deployment)
  }

  /** Call it after a change of the catalog: drains that the scheduler has forgotten are set again. */
  apply(): void {
    for (const deployment of this.#drains.keys()) this.#parts.apply(deployment, true)
  }

  /** Rejects with `StoreUnreachable`; what was known before then stays in force. */
  async refresh(): Promise<void> {
    const list = await this.#parts.store.list()
    const before = this.#drains
    this.#drains = new Map(list.map((drain) => [drain.deployment, drain]))
    for (const deployment of before.keys())
      if (!this.#drains.has(deployment)) this.#parts.apply(deployment, false)
    this.apply()
  }
}
