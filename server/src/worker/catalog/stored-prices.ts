/** Prices of the store in the catalog, and the history of what each deployment costs. */
import { listModels, type Catalog } from '#core/catalog/catalog.ts'
import type { PriceFrom } from '#core/money/price.ts'
import { priceFormOf } from '#core/money/price-form.ts'
import { priceTextOf } from '#core/money/price-text.ts'
import type { NotedPrice, PriceStore, StoredPrice } from '#ports/prices.ts'
import { StoreUnreachable } from '#ports/store.ts'
import type { CatalogLog } from './in-force.ts'

export interface StoredPricesParts {
  readonly store: Pick<PriceStore, 'read' | 'note'>
  /** The catalog with stored prices, and why some of them can't be used. */
  readonly withPrices: (
    catalog: Catalog,
    prices: readonly StoredPrice[],
  ) => { readonly catalog: Catalog; readonly problems: readonly string[] }
  readonly log: Pick<CatalogLog, 'warn'>
}

/** While the store is unreachable, its last answer holds. */
export class StoredPrices {
  readonly #parts: StoredPricesParts
  #last: readonly StoredPrice[] = []
  /** The prices noted last, as text: unchanged prices are not noted again. */
  #noted = ''

  constructor(parts: StoredPricesParts) {
    this.#parts = parts
  }

  async applied(catalog: Catalog): Promise<Catalog> {
    const { store, withPrices, log } = this.#parts
    try {
      this.#last = await store.read()
    } catch (error) {
      if (!(error instanceof StoreUnreachable)) throw error
      log.warn('prices of the store could not be read; the last ones stay', error)
    }
    const { catalog: priced, problems } = withPrices(catalog, this.#last)
    for (const problem of problems) log.warn(problem)
    return priced
  }

  /** Notes changed prices without waiting. Prices that can't be noted now are noted after the next change. */
  note(catalog: Catalog): void {
    const prices = listModels(catalog).flatMap((model) => model.deployments.map(notedPrice))
    const text = JSON.stringify(prices)
    if (text === this.#noted) return
    this.#noted = text
    this.#parts.store.note(prices).catch((error: unknown) => {
      this.#noted = ''
      if (!(error instanceof StoreUnreachable))
        this.#parts.log.warn('changed prices could not be noted', error)
    })
  }
}

function notedPrice({ id, price, priceFrom }: PricedDeployment): NotedPrice {
  return { deployment: id, form: priceFormOf(price), text: priceTextOf(price), by: nameOf(priceFrom) }
}

type PricedDeployment = Pick<
  ReturnType<typeof listModels>[number]['deployments'][number],
  'id' | 'price' | 'priceFrom'
>

function nameOf(from: PriceFrom | undefined): string {
  if (from === undefined) return 'nobody'
  return from.from === 'configuration' ? from.at : from.from === 'store' ? from.by : 'catalog'
}
