/** Usage as schemas. */
import { z } from 'zod'
import { MOST_TAG_KEYS, MOST_VALUES, type UsageGroup, type UsageLabel } from '#ports/usage.ts'
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
    unknowns: z.int().describe('Calls with an unknown outcome.'),
    tokens: z.int(),
    images: z.int(),
    usd: usd.describe('What was spent, with what is unknown.'),
    unknown_usd: usd.describe('Of it: reserved for calls with an unknown outcome.'),
    unpriced: z.int().describe('Calls without a price. They are in no sum of dollars.'),
    hits: z.int().describe('Inputs that needed no call.'),
    saved_usd: usd.describe('What a call for them would have cost.'),
  })
  .meta({ id: 'Sum' })

const slot = sum.extend({ at: time })

/** The longest user, and the word before it. */
const ONLY_CHARACTERS = 600

const only = z
  .string()
  .max(ONLY_CHARACTERS)
  .regex(
    /^(?:model|deployment|project|key|user|tag:[A-Za-z0-9][A-Za-z0-9._-]{0,63}):[^\0]+$/,
    'expected model:, deployment:, project:, key:, user: or tag:<key>:, and a name',
  )

const by = z
  .string()
  .regex(
    /^(?:model|deployment|project|key|user|tag:[A-Za-z0-9][A-Za-z0-9._-]{0,63})$/,
    'expected model, deployment, project, key, user or tag:<key>, such as tag:team',
  )
  .default('model')
  .transform((text) => text as UsageGroup | UsageLabel)

const shared = {
  from: givenTime
    .optional()
    .describe('Default: 30 days before `to`. Made the beginning of an hour or a day.'),
  to: givenTime.optional().describe('Default: now. Made the end of an hour or a day, in UTC.'),
  by: by.describe(
    '`model`, `deployment`, `project`, `key`, `user`, or `tag:` and the key of a tag, such as `tag:team`.',
  ),
  only: z
    .union([only, z.array(only).max(MOST_ONLY)])
    .optional()
    .describe(
      'Such as `model:gpt-image-2`, `user:alice` or `tag:team:red`. Repeat it: names of one kind are alternatives, kinds must all fit. Users and tags are counted one by one, so a question names one of them.',
    ),
  project: storable(NAME_CHARACTERS).optional(),
}

export const usageQuery = z.strictObject({
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

export const exportQuery = z.strictObject({
  ...shared,
  rows: z
    .enum(['groups', 'ledger'])
    .default('groups')
    .describe('`groups`: a row for each group and day. `ledger`: every entry.'),
  format: z.enum(['csv', 'ndjson']).default('csv'),
})

const beside = z.object({ total: sum, before: sum.nullable(), slots: z.array(slot) })

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
    overflow: beside
      .nullable()
      .describe(
        `By user or tag: calls with a value beyond the first ${MOST_VALUES} of their project and day. null: there are none.`,
      ),
    none: beside.nullable().describe('By user or tag: calls that have none. null: there are none.'),
    left_out_tags: sum
      .nullable()
      .describe(
        `By tag: calls with a tag whose key is beyond the first ${MOST_TAG_KEYS} of their project and day. Where it is the key asked for, they are in \`none\`. null: there are none.`,
      ),
    tag_keys: z.array(z.string()).describe('Keys of tags that were used, of all projects asked for.'),
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
