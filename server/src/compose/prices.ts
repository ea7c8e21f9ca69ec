/** Composition of prices: those of the store in the catalog, and a memory of what deployments cost when. */
import { readStoredPrice, withStoredPrices } from '#config/build/stored-prices.ts'
import { listModels, type Catalog } from '#core/catalog.ts'
import type { PriceFrom } from '#core/price.ts'
import { priceFormOf } from '#core/price-form.ts'
import { priceTextOf } from '#core/price-text.ts'
import type { PricesDependencies } from '#http/control/prices/routes.ts'
import type { NotedPrice, PriceStore, StoredPrice } from '#ports/prices.ts'
import { StoreAway } from '#ports/store.ts'
import type { Log } from '#telemetry/log.ts'

/** While the store is away its last word stands. */
export class StoredPrices {
  readonly #store: Pick<PriceStore, 'read' | 'note'>
  readonly #log: Log
  #last: readonly StoredPrice[] = []
  /** What was noted last, so that nothing is asked where nothing has changed. */
  #noted = ''

  constructor(store: Pick<PriceStore, 'read' | 'note'>, log: Log) {
    this.#store = store
    this.#log = log
  }

  async applied(catalog: Catalog): Promise<Catalog> {
    try {
      this.#last = await this.#store.read()
    } catch (error) {
      if (!(error instanceof StoreAway)) throw error
      this.#log.warn({ err: error }, 'prices of the store could not be read; the last ones stay')
    }
    const { catalog: priced, problems } = withStoredPrices(catalog, this.#last)
    for (const problem of problems) this.#log.warn(problem)
    return priced
  }

  /** Nobody waits for it: what can't be noted now is noted after the next change. */
  note(catalog: Catalog): void {
    const prices = listModels(catalog).flatMap((model) => model.deployments.map(notedPrice))
    const text = JSON.stringify(prices)
    if (text === this.#noted) return
    this.#noted = text
    this.#store.note(prices).catch((error: unknown) => {
      this.#noted = ''
      if (!(error instanceof StoreAway)) this.#log.warn({ err: error }, 'changed prices could not be noted')
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

export function pricesFor(
  store: PriceStore,
  catalog: { readonly current: Catalog; completed(): Promise<void> },
): PricesDependencies['prices'] {
  return {
    catalog: () => catalog.current,
    readPrice: readStoredPrice,
    set: async (deployment, form, before, actor) => {
      await store.set(deployment, form, before, actor)
      await catalog.completed()
    },
    forget: async (deployment, actor) => {
      await store.forget(deployment, actor)
      await catalog.completed()
    },
  }
}
