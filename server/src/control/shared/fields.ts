/** Fields that several schemas of the control API have. */
import { z } from 'zod'
import { nanoUsdOf } from '#core/money/price.ts'

/** Nano-dollars are kept as 64-bit integers. */
const MAX_USD = 9_000_000_000
const PAGE = 100
const MAX_PAGE = 1000

export const time = z.iso.datetime()

/** The years a moment may lie in: before and behind them, sums of days have no form that PostgreSQL reads. */
const YEARS = { first: 1970, last: 2999 }

/** A moment that a caller gives. */
export const givenTime = time.refine((value) => {
  const year = new Date(value).getUTCFullYear()
  return year >= YEARS.first && year <= YEARS.last
}, `must lie in the years ${YEARS.first} to ${YEARS.last}`)

/** How many entries one page holds. */
export const pageLimit = z.coerce.number().int().min(1).max(MAX_PAGE).default(PAGE)

/** What the next page is asked for with. */
export const cursor = z
  .string()
  .nullable()
  .describe('Ask again with `after` = this. null: this is the last page.')

/** A text that goes to PostgreSQL, which refuses a NUL. Every text of a body or a query is checked before; this is its documentation. */
export function storable(maxCharacters: number) {
  return z
    .string()
    .max(maxCharacters)
    .regex(/^[^\0]*$/, 'must not have a NUL character')
}

/** Money in answers. A number would round, and would print small amounts as `5.8e-7`. */
export const usd = z
  .string()
  .regex(/^-?\d+\.\d{9}$/)
  .describe('US dollars, with nine decimals.')

/** An amount that a caller gives, as a number or as decimal text. It is kept exactly as it was given. */
export const givenUsd = z
  .union([z.number(), z.string().regex(/^\d{1,10}(\.\d+)?$/, 'expected dollars such as 12.50')])
  .refine((value) => Number(value) >= 0 && Number(value) <= MAX_USD, `a dollar amount is 0 to ${MAX_USD}`)
  .refine(isNanoUsd, 'a dollar amount has at most nine decimals')

function isNanoUsd(value: number | string): boolean {
  try {
    nanoUsdOf(value)
    return true
  } catch {
    return false
  }
}

export function listOf<Item extends z.ZodType>(item: Item) {
  return z.object({
    data: z.array(item),
    has_more: z.boolean().describe('Ask again with `after` (or `before`) = the last entry of this page.'),
  })
}

/** A page of a list whose next page is asked for with a cursor. */
export function pageOf<Item extends z.ZodType>(item: Item) {
  return z.object({ data: z.array(item), has_more: z.boolean(), next: cursor })
}

/** The answer of a route that has nothing to say. */
export const noContent = z.undefined().describe('Done.')

/** A name of a project or a key: names travel in paths, headers and metric labels. */
export const name = z
  .string()
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/,
    'a name is letters, digits, dots, dashes or underscores, at most 63',
  )
