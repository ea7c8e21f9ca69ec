/** Tells how deployments stand: each change once, and all standings anew with another catalog. */
import type { Catalog } from '#core/catalog.ts'
import { unguardedDeployments, type GuardedStanding } from './knowledge.ts'

export class SpaceNews {
  readonly #onStanding: (standing: GuardedStanding) => void
  #told = new Map<string, GuardedStanding>()
  #toldOf: Catalog | undefined

  constructor(onStanding: (standing: GuardedStanding) => void) {
    this.#onStanding = onStanding
  }

  tell(catalog: Catalog, standings: ReadonlyMap<string, GuardedStanding>): void {
    if (catalog !== this.#toldOf) {
      this.#release(catalog)
      // The listener may have begun anew with the catalog.
      this.#told = new Map()
    }
    this.#toldOf = catalog
    for (const [id, standing] of standings) {
      const told = this.#told.get(id)
      this.#told.set(id, standing)
      if (told?.state !== standing.state || told.reason !== standing.reason) this.#onStanding(standing)
    }
  }

  /** Deployments that were held back and are not guarded any more: nothing else would release them later. */
  #release(catalog: Catalog): void {
    for (const { id } of unguardedDeployments(catalog)) {
      const told = this.#told.get(id)
      if (told?.isQuarantined)
        this.#onStanding({ ...told, state: 'trusted', isQuarantined: false, reason: undefined })
    }
  }
}
