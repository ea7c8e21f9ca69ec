/** Unknowns, nodes and the doctor's report as schemas. */
import { z } from 'zod'
import { time, usd } from '../wire/fields.ts'

/** A quarter of a year, hour by hour. `all` has no bound. */
const MAX_HOURS = 2232
/** The worker compares as many. */
const HOURS = 2

const UUID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}'
const uuid = z.string().regex(new RegExp(`^${UUID}$`), 'expected a UUID')

export const node = z
  .object({
    id: z.string(),
    host: z.string(),
    version: z.string(),
    role: z.string().describe('What the node does: `all`, `gateway`, `control` or `worker`.'),
    state: z.enum(['alive', 'silent', 'ended']).describe('`silent`: not seen for a minute, but not ended.'),
    started_at: time,
    seen_at: time,
    ended_at: time.nullable(),
    leased_usd: usd.describe('Part of the hard budgets that the node has leased.'),
    now: z
      .object({
        loop_busy: z.number().describe('0 to 1: the share of time in which its event loop was busy.'),
        spool_waiting: z.int().describe('Usage records that wait on its disk for PostgreSQL.'),
        calls_under_way: z.int(),
      })
      .nullable()
      .describe('What it told in the last seconds. null: nothing.'),
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

const verdict = z.enum(['ok', 'warn', 'fail'])

export const doctorReport = z
  .object({
    at: time,
    verdict: verdict.describe('The worst of all checks.'),
    checks: z.array(
      z.object({
        name: z.string(),
        verdict: verdict.describe(
          '`warn`: an operator should look at it. `fail`: a promise is broken, or about to be.',
        ),
        says: z.string(),
        figures: z.record(z.string(), z.number()),
      }),
    ),
  })
  .meta({ id: 'DoctorReport' })
