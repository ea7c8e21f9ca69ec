/** Limits and budgets of projects and keys: as schemas, as changes and as answers. */
import { z } from 'zod'
import type { ConfiguredBudget, ConfiguredLimits } from '#core/catalog/catalog.ts'
import { decimalOf, nanoUsdOf } from '#core/money/price.ts'
import type { TermsChange } from '#ports/key-store.ts'
import { givenUsd, usd } from './fields.ts'

const MAX_RATE = 1_000_000_000

const rate = z.int().min(1).max(MAX_RATE)
const rateChange = rate.nullish().describe('Units a minute. null: no such limit.')

const limits = z
  .object({
    requests_per_minute: rate.optional(),
    tokens_per_minute: rate.optional(),
    images_per_minute: rate.optional(),
  })
  .meta({ id: 'Limits' })

const limitsChange = z
  .strictObject({
    requests_per_minute: rateChange,
    tokens_per_minute: rateChange,
    images_per_minute: rateChange,
  })
  .meta({ id: 'LimitsChange' })

const period = z.enum(['day', 'week', 'month', 'total'])

const budget = z.object({ usd, per: period, hard: z.boolean() }).meta({ id: 'Budget' })

const budgetChange = z
  .strictObject({ usd: givenUsd, per: period.default('month'), hard: z.boolean().default(false) })
  .meta({ id: 'BudgetChange' })

/** Fields of a request. */
export const termsChange = {
  limits: limitsChange.optional().describe('Fields that are left out stay as they are.'),
  budget: budgetChange.nullish().describe('null: no budget.'),
}

/** Fields of an answer. */
export const terms = { limits, budget: budget.nullable() }

export const managed = {
  managed_by: z
    .enum(['configuration', 'store'])
    .describe('`configuration`: declared in torana.yaml or the environment, and read-only here.'),
  managed_at: z
    .string()
    .nullable()
    .describe('Where it is declared: `torana.yaml:88`, or `environment`. null: in the store.'),
}

const change = z.object(termsChange)
const answer = z.object(terms)

export function termsChangeOf({ limits: rates, budget: sum }: z.output<typeof change>): TermsChange {
  return {
    limits: rates && {
      requestsPerMinute: rates.requests_per_minute,
      tokensPerMinute: rates.tokens_per_minute,
      imagesPerMinute: rates.images_per_minute,
    },
    budget: sum && { limitNanoUsd: nanoUsdOf(sum.usd), per: sum.per, hard: sum.hard },
  }
}

export interface Terms {
  readonly limits?: ConfiguredLimits | undefined
  readonly budget?: ConfiguredBudget | undefined
}

export function termsBody({ limits: rates = {}, budget: sum }: Terms): z.output<typeof answer> {
  return {
    limits: {
      requests_per_minute: rates.requestsPerMinute,
      tokens_per_minute: rates.tokensPerMinute,
      images_per_minute: rates.imagesPerMinute,
    },
    budget: sum ? { usd: decimalOf(sum.limitNanoUsd), per: sum.per, hard: sum.hard } : null,
  }
}
