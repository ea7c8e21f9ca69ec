/** Unknowns as schemas. */
import { z } from 'zod'
import { cursor, givenUsd, pageLimit, storable, time, usd } from '../wire/fields.ts'

const UUID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}'
const uuid = z.string().regex(new RegExp(`^${UUID}$`), 'expected a UUID')
const NAME_CHARACTERS = 200
/** A sentence or two, for whoever reads the audit. */
const NOTE_CHARACTERS = 500

export const unknown = z
  .object({
    request_id: z.string(),
    attempt: z.int(),
    call_id: z.string().describe('The id of the call that the upstream received.'),
    project: z.string(),
    key_id: z.string(),
    model: z.string(),
    deployment: z.string(),
    images: z.int(),
    what: z.string().nullable().describe('What was asked for, such as `1 picture, 1024×1024`.'),
    reason: z.string().describe('Why nobody knows how it ended.'),
    node: z.string().describe('The node that made the call.'),
    reserved_usd: usd
      .nullable()
      .describe('Counts as spent until the call is resolved. null: the model has no price.'),
    requested_at: time,
    written_at: time,
    posted_at: time.describe(
      'When Torana posts it with the reserved amount, unless somebody resolves it before.',
    ),
    resolved: z
      .object({
        action: z.enum(['post', 'void']),
        by: z.string().describe('`system`: its record came late, or its time was over.'),
        at: time,
        note: z.string().nullable(),
        cost_usd: usd.nullable().describe('What it cost after all.'),
      })
      .nullable(),
  })
  .meta({ id: 'Unknown' })

export const unknownPage = z.object({
  state: z
    .enum(['open', 'resolved'])
    .default('open')
    .describe('Open ones come oldest first, resolved ones of 30 days newest first.'),
  project: storable(NAME_CHARACTERS).optional(),
  after: z
    .string()
    .regex(new RegExp(`^${UUID}/\\d{1,4}$`), 'expected <request id>/<attempt>')
    .optional()
    .describe('`next` of the previous page.'),
  limit: pageLimit,
})

export const unknownList = z
  .object({
    data: z.array(unknown),
    has_more: z.boolean(),
    next: cursor,
    summary: z.object({
      open: z.int(),
      reserved_usd: usd.describe('What is reserved for the open ones.'),
      resolved: z.int().describe('In the last 30 days.'),
    }),
  })
  .meta({ id: 'UnknownList' })

export const unknownPath = z.object({ request_id: uuid, attempt: z.coerce.number().int().min(0).max(32_767) })

export const resolution = z
  .strictObject({
    action: z.enum(['post', 'void']).describe('`post`: the call was paid. `void`: it was not.'),
    cost_usd: givenUsd.optional().describe('What it cost. Default: the reserved amount. Only for `post`.'),
    tokens: z.int().min(0).optional().describe('Only for `post`.'),
    note: storable(NOTE_CHARACTERS)
      .trim()
      .min(1)
      .optional()
      .describe('Why you think so. It stands in the audit. People must give one; programs may.'),
  })
  .refine(({ action, cost_usd: cost, tokens }) => action === 'post' || (cost ?? tokens) === undefined, {
    message: 'a call that was not paid has no cost and no tokens: leave cost_usd and tokens out',
    path: ['action'],
  })
  .meta({ id: 'Resolution' })

export const resolved = z
  .object({ request_id: z.string(), attempt: z.int(), action: z.enum(['post', 'void']) })
  .meta({ id: 'Resolved' })
