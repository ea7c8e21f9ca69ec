/** Unknowns, nodes and the doctor's report as schemas. */
import { z } from 'zod'
import { cursor, givenUsd, pageLimit, time, usd } from '../wire/fields.ts'

/** A quarter of a year, hour by hour. `all` has no bound. */
const MAX_HOURS = 2232
/** The worker compares as many. */
const HOURS = 2

const UUID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}'
const uuid = z.string().regex(new RegExp(`^${UUID}$`), 'expected a UUID')

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
    reserved_usd: usd
      .nullable()
      .describe('Counts as spent until the call is resolved. null: the model has no price.'),
    requested_at: time,
    written_at: time,
    posted_at: time.describe(
      'When Torana posts it with the reserved amount, unless somebody resolves it before.',
    ),
  })
  .meta({ id: 'Unknown' })

export const unknownPage = z.object({
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
  })
  .meta({ id: 'UnknownList' })

export const unknownPath = z.object({ request_id: uuid, attempt: z.coerce.number().int().min(0).max(32_767) })

export const resolution = z
  .strictObject({
    action: z.enum(['post', 'void']).describe('`post`: the call was paid. `void`: it was not.'),
    cost_usd: givenUsd.optional().describe('What it cost. Default: the reserved amount. Only for `post`.'),
    tokens: z.int().min(0).optional().describe('Only for `post`.'),
  })
  .refine(({ action, cost_usd: cost, tokens }) => action === 'post' || (cost ?? tokens) === undefined, {
    message: 'a call that was not paid has no cost and no tokens: leave cost_usd and tokens out',
    path: ['action'],
  })
  .meta({ id: 'Resolution' })

export const resolved = z
  .object({ request_id: z.string(), attempt: z.int(), action: z.enum(['post', 'void']) })
  .meta({ id: 'Resolved' })

export const node = z
  .object({
    id: z.string(),
    host: z.string(),
    version: z.string(),
    state: z.enum(['alive', 'silent', 'ended']).describe('`silent`: not seen for a minute, but not ended.'),
    started_at: time,
    seen_at: time,
    ended_at: time.nullable(),
    leased_usd: usd.describe('Part of the hard budgets that the node has leased.'),
  })
  .meta({ id: 'Node' })

export const nodeList = z.object({ data: z.array(node), has_more: z.literal(false) }).meta({ id: 'NodeList' })

export const nodePath = z.object({ id: uuid })

export const ending = z
  .strictObject({
    force: z.boolean().default(false).describe('End the node even if it was seen within the last minute.'),
  })
  .meta({ id: 'Ending' })

export const ended = z
  .object({ id: z.string(), returned_usd: usd.describe('Leased budget that was returned.') })
  .meta({ id: 'Ended' })

export const doctorQuery = z.object({
  hours: z
    .union([z.literal('all'), z.coerce.number().int().min(1).max(MAX_HOURS)])
    .default(HOURS)
    .describe('How many hours of the ledger to add up again.'),
})

const verdict = z.enum(['ok', 'look', 'wrong'])

export const doctorReport = z
  .object({
    at: time,
    verdict: verdict.describe('The worst of all checks.'),
    checks: z.array(
      z.object({
        name: z.string(),
        verdict: verdict.describe(
          '`look`: a warning. `wrong`: a failure; a promise is broken, or about to be.',
        ),
        says: z.string(),
        figures: z.record(z.string(), z.number()),
      }),
    ),
  })
  .meta({ id: 'DoctorReport' })
