/** Usage as schemas. */
import { z } from 'zod'
import { USAGE_GROUPS } from '#ports/usage.ts'
import { givenTime, storable, time, usd } from '../wire/fields.ts'

/** Names of models and deployments have no bound of their own; no real one is longer. */
const NAME_CHARACTERS = 400
/** More than fit on a page, and few enough for one statement. */
const MOST_ONLY = 50
const GROUPS = 100
const MOST_GROUPS = 1000

const sum = z
  .object({
    requests: z.int().describe('Requests that were answered or charged for. Refused ones are not counted.'),
    posts: z.int().describe('Calls that were paid, and answers that needed none.'),
    unknowns: z.int().describe('Calls of which nobody knows yet whether they were paid.'),
    tokens: z.int(),
    images: z.int(),
    usd: usd.describe('What was spent, with what is unknown.'),
    unknown_usd: usd.describe('Of it: reserved for calls of which nobody knows yet whether they were paid.'),
    unpriced: z.int().describe('Calls without a price. They are in no sum of dollars.'),
    hits: z.int().describe('Inputs that needed no call.'),
    saved_usd: usd.describe('What a call for them would have cost.'),
  })
  .meta({ id: 'Sum' })

const slot = sum.extend({ at: time })

const only = z
  .string()
  .max(NAME_CHARACTERS)
  .regex(
    /^(model|deployment|project|key):[^\0]+$/,
    'expected model:, deployment:, project: or key: and a name',
  )

const shared = {
  from: givenTime
    .optional()
    .describe('Default: 30 days before `to`. Made the beginning of an hour or a day.'),
  to: givenTime.optional().describe('Default: now. Made the end of an hour or a day, in UTC.'),
  by: z.enum(USAGE_GROUPS).default('model'),
  only: z
    .union([only, z.array(only).max(MOST_ONLY)])
    .optional()
    .describe(
      'Such as `model:gpt-image-2`. Repeat it: names of one kind are alternatives, kinds must all fit.',
    ),
  project: storable(NAME_CHARACTERS).optional(),
}

export const usageQuery = z.object({
  ...shared,
  slot: z.enum(['hour', 'day']).optional().describe('Default: hours up to 48 of them, days otherwise.'),
  before: z
    .enum(['0', '1'])
    .default('0')
    .describe('1: also the sums of the period of the same length before.'),
  groups: z.coerce
    .number()
    .int()
    .min(1)
    .max(MOST_GROUPS)
    .default(GROUPS)
    .describe('So many groups are told apart, the dearest first. All others are one, in `others`.'),
})

export const exportQuery = z.object({
  ...shared,
  rows: z
    .enum(['groups', 'ledger'])
    .default('groups')
    .describe('`groups`: a row for each group and day. `ledger`: every entry.'),
  format: z.enum(['csv', 'ndjson']).default('csv'),
})

export const usage = z
  .object({
    slot: z.enum(['hour', 'day']),
    from: time,
    to: time,
    data: z.array(z.object({ group: z.string(), total: sum, before: sum.nullable(), slots: z.array(slot) })),
    others: z
      .object({ groups: z.int(), total: sum, before: sum.nullable(), slots: z.array(slot) })
      .nullable()
      .describe('All groups that are not in `data`.'),
    total: sum,
    before: sum.nullable(),
    forecast: z
      .object({ until: time, usd, low_usd: usd, high_usd: usd })
      .nullable()
      .describe(
        'What this month will have cost at its end. null: there are fewer than three days to tell from.',
      ),
  })
  .meta({ id: 'Usage' })
