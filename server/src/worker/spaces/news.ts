/** Reports the standings of deployments: each change once, and all standings again with another catalog. */
import type { Catalog } from '#core/catalog/catalog.ts'
import { unguardedDeployments, type GuardedStanding } from './knowledge.ts'

export class SpaceNews {
  readonly #onStanding: (standing: GuardedStanding) => void
  #reported = new Map<string, GuardedStanding>()
  #reportedCatalog: Catalog | undefined

  constructor(onStanding: (standing: GuardedStanding) => void) {
    this.#onStanding = onStanding
  }

  tell(catalog: Catalog, standings: ReadonlyMap<string, GuardedStanding>): void {
    if (catalog !== this.#reportedCatalog) {
      this.#release(catalog)
      // The listener may have started over with the catalog.
      this.#reported = new Map()
    }
    this.#reportedCatalog = catalog
    for (const [id, standing] of standings) {
      const reported = this.#reported.get(id)
      this.#reported.set(id, standing)
      if (reported?.state !== standing.state || reported.reason !== standing.reason)
        this.#onStanding(standing)
    }
  }

  /** Releases deployments that were held back and are no longer guarded: nothing else would release them later. */
  #release(catalog: Catalog): void {
    for (const { id } of unguardedDeployments(catalog)) {
      const reported = this.#reported.get(id)
      if (reported?.isQuarantined)
        this.#onStanding({ ...reported, state: 'trusted', isQuarantined: false, reason: undefined })
    }
  }
}
