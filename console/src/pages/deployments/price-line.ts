/** A price in a few words. */
import type { Deployment } from '../../api/queries/deployments.ts'
import { words } from '../../words/words.ts'

export function priceLine({ amount, unit }: Deployment['price'][number]): string {
  if (unit === 'unpriced') return words.ui.unpriced
  if (unit === 'free' || amount === '') return unit
  return `$${amount} / ${unit}`
}
