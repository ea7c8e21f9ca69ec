/** Prices as schemas. */
import { z } from 'zod'
import { givenTime, storable, time } from '../wire/fields.ts'
import { priceText } from '../wire/price-text.ts'

const NAME_CHARACTERS = 400

const form = z
  .union([z.string(), z.record(z.string(), z.unknown())])
  .describe('As `price` in torana.yaml: `free`, `unpriced`, or fields such as `usdPerMillionTokens`.')

export const price = z
  .object({
    deployment: z.string(),
    model: z.string(),
    kind: z.enum(['embedding', 'image']),
    price: form,
    text: z.array(priceText),
    from: z
      .enum(['configuration', 'store', 'catalog', 'none'])
      .describe('`configuration`: torana.yaml decides, and the price is changed there.'),
    managed_at: z.string().nullable().describe('Such as `torana.yaml:88`.'),
    as_of: z.string().nullable().describe('The day of a price of the catalog, or on which it was set.'),
    source: z.string().nullable().describe('Where a price of the catalog was read.'),
    set_by: z.string().nullable().describe('Who set it here.'),
    unpriced_requests_30d: z.int().describe('Calls of the last 30 days that no sum of dollars holds.'),
  })
  .meta({ id: 'Price' })

/** The answer to a change of a price, built from what was committed: counts come from reports, which may be busy. */
export const changedPrice = price.omit({ unpriced_requests_30d: true }).meta({ id: 'ChangedPrice' })

export const priceList = z
  .object({ data: z.array(price), has_more: z.literal(false), next: z.null() })
  .meta({ id: 'PriceList' })

export const pricePath = z.object({ deployment: storable(NAME_CHARACTERS).min(1) })

export const givenPrice = z.strictObject({ price: form }).meta({ id: 'GivenPrice' })

export const changesQuery = z.object({
  from: givenTime.optional().describe('Default: 30 days before `to`.'),
  to: givenTime.optional().describe('Default: now.'),
})

export const changeList = z
  .object({
    data: z.array(
      z
        .object({
          at: time,
          deployment: z.string(),
          before: z.array(priceText),
          after: z.array(priceText),
          by: z.string().describe('A person, a line of torana.yaml, or `catalog`.'),
        })
        .meta({ id: 'PriceChange' }),
    ),
    has_more: z.boolean(),
    next: z.null(),
  })
  .meta({ id: 'PriceChangeList' })
