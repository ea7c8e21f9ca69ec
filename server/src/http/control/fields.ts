/** Fields that several schemas of the control API have. */
import { z } from 'zod'
import { nanoUsdOf } from '#core/price.ts'

/** Nano-dollars are kept as 64-bit integers. */
const MAX_USD = 9_000_000_000
const PAGE = 100
const MAX_PAGE = 1000

export const time = z.iso.datetime()

/** How many entries one page holds. */
export const pageLimit = z.coerce.number().int().min(1).max(MAX_PAGE).default(PAGE)

/** A text that goes to PostgreSQL, which refuses a NUL. */
export function storable(maxCharacters: number) {
  return z
    .string()
    .max(maxCharacters)
    .regex(/^[^\0]*$/, 'must not have a NUL character')
}

/** An amount that a caller gives. It is kept exactly as it was given. */
export const givenUsd = z
  .number()
  .min(0)
  .max(MAX_USD)
  .refine(isNanoUsd, 'a dollar amount has at most nine decimals')

function isNanoUsd(value: number): boolean {
  try {
    nanoUsdOf(value)
    return true
  } catch {
    return false
  }
}
