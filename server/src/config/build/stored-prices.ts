/** Prices of the store, read by the same rules as those of torana.yaml, and applied where torana.yaml has none. */
import { listModels, type Catalog, type Model } from '#core/catalog/catalog.ts'
import type { ReadPrice } from '#core/money/price-form.ts'
import type { Price } from '#core/money/price.ts'
import { embeddingPrice, imagePrice } from '../schema/price.ts'
import { resolveImagePrice, resolvePrice } from './resolve.ts'

/** As the store keeps it. */
interface StoredPrice {
  readonly deployment: string
  readonly form: unknown
  readonly by: string
  readonly atMs: number
}

/** The price that a form means for a model of this kind, or its problems. */
export function readStoredPrice(kind: Model['kind'], form: unknown): ReadPrice {
  const read = kind === 'embedding' ? embeddingPrice.safeParse(form) : imagePrice.safeParse(form)
  if (!read.success) {
    const [issue] = read.error.issues
    return { problem: [issue?.path.join('.'), issue?.message].filter(Boolean).join(': ') }
  }
  if (kind === 'embedding') return { price: embeddingPriceOf(form) }
  return { price: resolveImagePrice([imagePrice.parse(form)]) }
}

function embeddingPriceOf(form: unknown): Price {
  return resolvePrice([embeddingPrice.parse(form)])
}

const CATALOG = { from: 'catalog' }

/** The price in an entry takes precedence: that of torana.yaml can't be changed from outside, that of the store is newer. */
export function withStoredPrices(
  catalog: Catalog,
  stored: readonly StoredPrice[],
): { readonly catalog: Catalog; readonly problems: readonly string[] } {
  if (stored.length === 0) return { catalog, problems: [] }
  const prices = new Map(stored.map((price) => [price.deployment, price]))
  const problems: string[] = []
  const priced = <Deployment extends Model['deployments'][number]>(
    deployment: Deployment,
    kind: Model['kind'],
  ): Deployment => {
    const own = prices.get(deployment.id)
    if (own === undefined || (deployment.priceFrom ?? CATALOG).from !== 'catalog') return deployment
    const { price, problem } = readStoredPrice(kind, own.form)
    if (problem !== undefined) {
      problems.push(`the stored price of ${deployment.id} is left out: ${problem}`)
      return deployment
    }
    return { ...deployment, price, priceFrom: { from: 'store', by: own.by, atMs: own.atMs } }
  }
  const models = new Map(
    listModels(catalog).map((model): [Model, Model] => [
      model,
      model.kind === 'embedding'
        ? { ...model, deployments: model.deployments.map((one) => priced(one, 'embedding')) }
        : { ...model, deployments: model.deployments.map((one) => priced(one, 'image')) },
    ]),
  )
  const byName = [...catalog.models].map(([name, model]) => [name, models.get(model) ?? model] as const)
  return { catalog: { ...catalog, models: new Map(byName) }, problems }
}
