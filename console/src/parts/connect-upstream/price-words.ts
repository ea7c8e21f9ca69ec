/** A price in a few words, as tables of models show it. */
import type { Schema } from '../../api/client.ts'
import { words } from '../../words/words.ts'

type PriceText = Schema<'PriceText'>

/** `0.02 / M tokens` · `5 in, 30 out / M tokens` · `free`. Undefined: it has none. */
export function listPrice(price: readonly PriceText[]): string | undefined {
  const [first, second] = price
  if (first === undefined || first.unit === 'unpriced') return undefined
  switch (first.unit) {
    case 'free':
      return words.upstreams.free
    case 'image':
      return `${first.amount} / ${words.upstreams.perImage}`
    case 'megapixel':
      return `${first.amount} / ${words.upstreams.perMegapixel}`
    case 'million tokens':
      return `${first.amount} / ${words.upstreams.perTokens}`
    default:
      return `${words.upstreams.inOut(first.amount, second?.amount ?? '–')} / ${words.upstreams.perTokens}`
  }
}
