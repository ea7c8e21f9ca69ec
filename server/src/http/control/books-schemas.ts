/** Unknowns, nodes and the doctor's report as schemas. */
import { z } from 'zod'
import { nanoUsdOf } from '#core/price.ts'

const PAGE = 100
const MAX_PAGE = 1000
/** Nano-dollars are kept as 64-bit integers. */
const MAX_USD = 9_000_000_000
/** A quarter of a year, hour by hour; `all` takes as long as it takes. */
const MAX_HOURS = 2232
/** What the worker compares too. */
const HOURS = 2

const time = z.iso.datetime()
const usd = z.number().describe('US dollars.')
const UUID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}'
const uuid = z.string().regex(new RegExp(`^${UUID}$`), 'expected a UUID')

export const unknown = z
  .object({
    request_id: z.string(),
    attempt: z.int(),
    call_id: z.string().describe('What the upstream was sent as the id of the call.'),
    project: z.string(),
    key_id: z.string(),
    model: z.string(),
    deployment: z.string(),
    images: z.int(),
    reserved_usd: usd
      .nullable()
      .describe('Counted as spent until it is resolved. null: the model has no price.'),
    requested_at: time,
    written_at: time,
    posted_at: time.describe('When it is posted at what was reserved, if nobody resolves it before.'),
  })
  .meta({ id: 'Unknown' })

export const unknownPage = z.object({
  after: z
    .string()
    .regex(new RegExp(`^${UUID}/\\d{1,4}$`), 'expected <request id>/<attempt>')
    .optional()
    .describe('`<request id>/<attempt>` of the last entry of the page before.'),
  limit: z.coerce.number().int().min(1).max(MAX_PAGE).default(PAGE),
})

export const unknownList = z
  .object({
    data: z.array(unknown),
    has_more: z.boolean().describe('Ask again with `after` = `<request id>/<attempt>` of the last entry.'),
  })
  .meta({ id: 'UnknownList' })

export const unknownPath = z.object({ request_id: uuid, attempt: z.coerce.number().int().min(0).max(32_767) })

export const resolution = z
  .strictObject({
    action: z.enum(['post', 'void']).describe('`post`: it was paid after all. `void`: it was not.'),
    cost_usd: z
      .number()
      .min(0)
      .max(MAX_USD)
      .refine(isNanoUsd, 'a dollar amount has at most nine decimals')
      .optional()
      .describe('What it cost; left out: what was reserved. Only for `post`.'),
    tokens: z.int().min(0).optional().describe('Only for `post`.'),
  })
  .refine(({ action, cost_usd: cost, tokens }) => action === 'post' || (cost ?? tokens) === undefined, {
    message: 'what was not paid has no cost and no tokens: leave cost_usd and tokens out',
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
    state: z.enum(['alive', 'silent', 'ended']).describe('`silent`: not seen for a minute, and not ended.'),
    started_at: time,
    seen_at: time,
    ended_at: time.nullable(),
    leased_usd: usd.describe('Budget that it holds for requests to come or under way.'),
  })
  .meta({ id: 'Node' })

export const nodeList = z.object({ data: z.array(node), has_more: z.literal(false) }).meta({ id: 'NodeList' })

export const nodePath = z.object({ id: uuid })

export const ending = z
  .strictObject({ force: z.boolean().default(false).describe('Also if it was seen within the last minute.') })
  .meta({ id: 'Ending' })

export const ended = z
  .object({ id: z.string(), returned_usd: usd.describe('Budget that came home.') })
  .meta({ id: 'Ended' })

export const doctorQuery = z.object({
  hours: z
    .union([z.literal('all'), z.coerce.number().int().min(1).max(MAX_HOURS)])
    .default(HOURS)
    .describe('How many hours of the ledger are added up again.'),
})

const verdict = z.enum(['ok', 'look', 'wrong'])

export const doctorReport = z
  .object({
    at: time,
    verdict: verdict.describe('The worst of all checks.'),
    checks: z.array(
      z.object({
        name: z.string(),
        verdict: verdict.describe('`look`: somebody should. `wrong`: a promise is broken, or about to be.'),
        says: z.string(),
        figures: z.record(z.string(), z.number()),
      }),
    ),
  })
  .meta({ id: 'DoctorReport' })

function isNanoUsd(value: number): boolean {
  try {
    nanoUsdOf(value)
    return true
  } catch {
    return false
  }
}
