/** Days of the store on which upstreams shut models down, in the catalog. */
import type { Catalog } from '#core/catalog/catalog.ts'
import { withListedEnds, type UpstreamListing } from '#core/catalog/listed-ends.ts'
import type { ModelEndStore } from '#ports/model-ends.ts'
import { StoreUnreachable } from '#ports/store.ts'
import type { CatalogLog } from './in-force.ts'

/** While the store is unreachable, its last answer holds. */
export class ListedEnds {
  readonly #store: Pick<ModelEndStore, 'listings'>
  readonly #log: Pick<CatalogLog, 'warn'>
  #last: readonly UpstreamListing[] = []

  constructor(store: Pick<ModelEndStore, 'listings'>, log: Pick<CatalogLog, 'warn'>) {
    this.#store = store
    this.#log = log
  }

  async applied(catalog: Catalog): Promise<Catalog> {
    try {
      this.#last = await this.#store.listings()
    } catch (error) {
      if (!(error instanceof StoreUnreachable)) throw error
      this.#log.warn('ends of models that upstreams list could not be read; the last ones stay', error)
    }
    return withListedEnds(catalog, this.#last)
  }
}
