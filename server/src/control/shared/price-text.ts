/** Prices as the control API shows them beside models, deployments and what an upstream lists. */
import { z } from 'zod'
import { priceTextOf } from '#core/money/price-text.ts'
import type { ImagePrice, Price } from '#core/money/price.ts'

export const priceText = z
  .object({
    amount: z.string().describe('US dollars, or a range such as `0.03–0.075`. Empty: the figure is unknown.'),
    unit: z.enum([
      'million tokens',
      'million input tokens',
      'million output tokens',
      'image',
      'megapixel',
      'free',
      'unpriced',
    ]),
    note: z.string().nullable().describe('What else is charged.'),
  })
  .meta({ id: 'PriceText' })

export function priceBody(price: Price | ImagePrice): z.output<typeof priceText>[] {
  return priceTextOf(price).map(({ amount, unit, note = null }) => ({ amount, unit, note }))
}
