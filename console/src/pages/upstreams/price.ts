/** Prices in the form of torana.yaml, as one choice and an amount. */
import type { RoutingDeployment } from '../../api/queries/routing.ts'
import { words } from '../../words/words.ts'
import { isEntry } from './entry.ts'

export type Kind = 'embedding' | 'image'
export type PriceChoice = 'default' | 'free' | 'unpriced' | 'custom' | 'table'

const FIELDS: Record<Kind, string> = { embedding: 'usdPerMillionTokens', image: 'usdPerImage' }

/** What is chosen by the `price` of an entry. */
export function choiceOf(price: unknown, kind: Kind): PriceChoice {
  if (price === undefined || price === null) return 'default'
  if (price === 'free' || price === 'unpriced') return price
  return amountOf(price, kind) === undefined ? 'table' : 'custom'
}

/** The one amount in dollars. Undefined: it has none, or several. */
export function amountOf(price: unknown, kind: Kind): string | undefined {
  if (!isEntry(price)) return undefined
  const [field, ...more] = Object.keys(price)
  const value = field === FIELDS[kind] && more.length === 0 ? price[field] : undefined
  return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined
}

/** For an entry; undefined takes the price out of it. */
export function priceOf(choice: PriceChoice, kind: Kind, amount: string): unknown {
  if (choice === 'default') return undefined
  return choice === 'custom' ? { [FIELDS[kind]]: amount } : choice
}

/** `Free` · `$0.01 per 1M` · `Price table`. */
export function priceText(price: unknown, kind: Kind, byDefault: string): string {
  const say = words.routing.price
  const choice = choiceOf(price, kind)
  if (choice === 'default') return byDefault
  if (choice !== 'custom') return say[choice]
  const amount = amountOf(price, kind) ?? ''
  return kind === 'image' ? say.perImage(amount) : say.perMillion(amount)
}

/** What the API says of a price, in a few words. */
export function shortPrice(price: RoutingDeployment['price_text']): string {
  const say = words.routing.price
  const [first] = price
  switch (first?.unit) {
    case undefined:
    case 'unpriced':
      return say.unpriced
    case 'free':
      return say.free
    case 'image':
      return say.perImage(first.amount)
    case 'million tokens':
      return say.perMillion(first.amount)
    default:
      return say.table
  }
}
