/** Budgets as schemas. */
import { z } from 'zod'
import { cursor, pageLimit, storable, time, usd } from '../wire/fields.ts'

const NAME_CHARACTERS = 200

const forecast = z
  .object({
    used_up_at: time.nullable().describe('null: not in this window.'),
    earliest: time.nullable().describe('At the pace of a busy day: the 80th percentile of the last seven.'),
    latest: time.nullable().describe('At the pace of a quiet day: the 20th percentile.'),
    at_end_usd: usd.nullable().describe('What is spent at the end of the window. null: it has none.'),
  })
  .nullable()
  .describe('From the last seven days, by weekday. null: there are fewer than three days to tell from.')

export const budgetStanding = z
  .object({
    id: z.string().describe('`project:ads` or `key:ads/website`.'),
    scope: z.enum(['project', 'key']),
    name: z.string(),
    managed_by: z.enum(['configuration', 'store', 'built-in']),
    managed_at: z.string().nullable().describe('Such as `torana.yaml:88`.'),
    limit_usd: usd,
    per: z.enum(['day', 'week', 'month', 'total']),
    hard: z.boolean().describe('It refuses what does not fit. A soft one only tells.'),
    window: z.object({ start: time, end: time.nullable() }),
    spent_usd: usd,
    unknown_usd: usd.describe('Of it: reserved for calls with an unknown outcome.'),
    left_usd: usd,
    leased_usd: usd.describe('Of what is left: what nodes may spend without asking.'),
    forecast,
  })
  .meta({ id: 'BudgetStanding' })

export const budgetDetail = budgetStanding
  .extend({
    marks: z.array(
      z.object({
        percent: z.union([z.literal(50), z.literal(80), z.literal(100)]),
        at: time.describe('When it was passed: to the hour, unless a webhook was told.'),
        told: z.array(z.string()).describe('Hosts of webhooks that were told.'),
      }),
    ),
    refused: z
      .object({ budget_exhausted: z.int(), budget_reserved: z.int(), model_unpriced: z.int() })
      .describe('Requests of this window that were refused, as far as the request log goes back.'),
    spenders: z.array(z.object({ key: z.string(), usd, models: z.array(z.string()) })),
  })
  .meta({ id: 'BudgetDetail' })

export const budgetQuery = z.object({
  project: storable(NAME_CHARACTERS).optional(),
  scope: z.enum(['project', 'key']).optional(),
  after: z
    .string()
    .max(2 * NAME_CHARACTERS)
    .regex(/^\d{1,30}\.\d{9}~[^\0]+$/, 'expected `next` of the page before')
    .optional(),
  limit: pageLimit,
})

export const budgetList = z
  .object({ data: z.array(budgetStanding), has_more: z.boolean(), next: cursor })
  .meta({ id: 'BudgetList' })

export const budgetPath = z.object({
  id: storable(2 * NAME_CHARACTERS).regex(
    /^(project|key):/,
    'expected project:<name> or key:<project>/<name>',
  ),
})

export const budgetSeries = z
  .object({
    data: z.array(z.object({ at: time, spent_usd: usd })),
    has_more: z.literal(false),
    next: z.null(),
  })
  .meta({ id: 'BudgetSeries' })
