/** Entries that PostgreSQL refused and that are set aside. They are few. */
import { z } from 'zod'
import type { Sql } from '#stores/postgres/database.ts'
import { time, usd } from '../shared/fields.ts'
import { answersOf } from '../shared/rows.ts'

export const refusedEntry = z
  .object({
    request_id: z.string(),
    attempt: z.int(),
    kind: z
      .string()
      .describe('`post`: the call was paid. `unknown`: it may have been paid. `void`: it was not.'),
    project: z.string(),
    key_id: z.string(),
    node: z.string().describe('The node that made the call.'),
    usd: usd
      .nullable()
      .describe('Counts as spent until the record is written. null: the model has no price.'),
    reason: z.string().describe('What PostgreSQL said at the last try.'),
    requested_at: time,
    refused_at: time,
    tried_at: time,
  })
  .meta({ id: 'RefusedRecord' })

export const refusedSummary = z.object({
  records: z.int(),
  usd: usd.describe('What they count as spent.'),
})

/** $1: projects; $2 to $4: the last record of the page before; $5: page size and one more. */
const LIST = `
SELECT request_id, attempt, kind, project, key_id, coalesce(nodes.host, refused.node_id::text) AS node,
  amount_nano AS nano, reason, refused_at, tried_at
FROM ledger_refused AS refused LEFT JOIN nodes USING (node_id)
WHERE ($1::text[] IS NULL OR project = ANY($1))
  AND ($2::uuid IS NULL OR (request_id, attempt, kind) > ($2, $3::integer, $4::text))
ORDER BY request_id, attempt, kind LIMIT $5`

const SUMMARY = `
SELECT count(*) AS records, coalesce(sum(amount_nano), 0)::bigint AS nano
FROM ledger_refused WHERE ($1::text[] IS NULL OR project = ANY($1))`

type Projects = readonly string[] | undefined

/** Oldest call first. `after`: the last record of the page before, as `<request id>/<attempt>/<kind>`. */
export function listRefused(sql: Sql, projects: Projects, limit: number, after: string | undefined) {
  const [requestId = null, attempt = null, kind = null] = after?.split('/') ?? []
  const values = [projects ?? null, requestId, attempt, kind, limit]
  return answersOf<Omit<z.output<typeof refusedEntry>, 'requested_at'>>(sql, LIST, values)
}

export async function summaryOfRefused(sql: Sql, projects: Projects) {
  const [summary] = await answersOf<z.output<typeof refusedSummary>>(sql, SUMMARY, [projects ?? null])
  if (summary === undefined) throw new Error('a sum without a row')
  return summary
}
