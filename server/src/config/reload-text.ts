/** One line about what a reload changed, so that a slip is seen at once: keys that are gone, a price a thousand times higher. */
import { listModels, type Catalog } from '#core/catalog/catalog.ts'
import { priceTextOf } from '#core/money/price-text.ts'
import { itemsIn, type ConfigItems, type Pause } from './what-changed.ts'

/** Prices that are named, the largest factor first. */
const MAX_PRICES = 3
/** Sections whose changes an operator counts, in the order of the line. */
const COUNTED = ['keys', 'projects', 'models', 'upstreams', 'alerts'] as const satisfies (keyof ConfigItems)[]

/** Such as `12 keys removed, price of embed/gpu-a × 1000`. */
export async function reloadText(before: Catalog, after: Catalog, pause: Pause): Promise<string> {
  const [old, now] = [await itemsIn(before, pause), await itemsIn(after, pause)]
  const parts = COUNTED.flatMap((section) => countsIn(section, old[section], now[section]))
  return [...parts, ...pricesIn(before, after)].join(', ') || 'nothing changed'
}

function countsIn(
  section: string,
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
): readonly string[] {
  const names = [...after.keys()]
  const counts = {
    removed: [...before.keys()].filter((name) => !after.has(name)).length,
    added: names.filter((name) => !before.has(name)).length,
    changed: names.filter((name) => before.has(name) && before.get(name) !== after.get(name)).length,
  }
  return Object.entries(counts).flatMap(([verb, count]) =>
    count === 0 ? [] : `${count} ${count === 1 ? section.slice(0, -1) : section} ${verb}`,
  )
}

interface PriceChange {
  readonly text: string
  /** How far the factor is from 1, upwards or downwards. */
  readonly weight: number
}

function pricesIn(before: Catalog, after: Catalog): readonly string[] {
  const old = pricesBy(before)
  const changes = [...pricesBy(after)].flatMap(([id, price]): readonly PriceChange[] => {
    const was = old.get(id)
    if (was === undefined || was.text === price.text) return []
    const factor = was.unit === price.unit ? price.amount / was.amount : Number.NaN
    if (!Number.isFinite(factor) || factor === 0 || factor === 1)
      return [{ text: `price of ${id} changed`, weight: Infinity }]
    return [{ text: `price of ${id} × ${Number(factor.toPrecision(3))}`, weight: Math.abs(Math.log(factor)) }]
  })
  const named = changes.toSorted((a, b) => b.weight - a.weight).slice(0, MAX_PRICES)
  const more = changes.length - named.length
  return [...named.map(({ text }) => text), ...(more === 0 ? [] : [`${more} more prices changed`])]
}

/** The first figure of each deployment's price, and all of it as text. */
function pricesBy(catalog: Catalog) {
  return new Map(
    listModels(catalog).flatMap(({ deployments }) =>
      deployments.map(({ id, price }) => {
        const texts = priceTextOf(price)
        const [first] = texts
        return [
          id,
          { text: JSON.stringify(texts), amount: Number(first?.amount), unit: first?.unit },
        ] as const
      }),
    ),
  )
}
