import type { Schema } from '../../api/client.ts'
import { words } from '../../words/words.ts'

/** `$0.13 per 1M tokens`. */
export function priceText([price]: readonly Schema<'PriceText'>[]): string {
  const say = words.newBatch.options
  if (price === undefined || price.unit === 'unpriced') return say.unpriced
  return price.unit === 'free' ? say.free : say.price(`$${price.amount}`)
}
