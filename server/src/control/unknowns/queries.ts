/** Calls with an unknown outcome, from the ledger. They are few, and have an index of their own. */
import { z } from 'zod'
import { DAY_MS, LOWEST_ID, lowestIdAt } from '#core/money/id-range.ts'
import type { Sql } from '#stores/postgres/database.ts'
import { UNKNOWN_POSTED_AFTER_MS } from '#ports/upkeep.ts'
import { time, usd } from '../shared/fields.ts'
import { answersOf } from '../shared/rows.ts'

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
    what: z.string().nullable().describe('What was asked for, such as `1 image, 1024×1024`.'),
    reason: z.string().describe('Why its outcome is unknown.'),
    node: z.string().describe('The node that made the call.'),
    reserved_usd: usd
      .nullable()
      .describe('Counts as spent until the call is resolved. null: the model has no price.'),
    requested_at: time,
    written_at: time,
    posted_at: time.describe('When Torana posts it with the reserved amount, unless it is resolved before.'),
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

export const unknownSummary = z.object({
  open: z.int(),
  reserved_usd: usd.describe('What is reserved for the open ones.'),
  resolved: z.int().describe('In the last 30 days.'),
})

/** How far back resolved calls are listed: as long as the request log is kept, which says more about them. */
const RESOLVED_DAYS = 30
/** The most calls that a summary counts, so that its query stays short. */
const MAX_COUNTED = 10_000

/** What a person or a late record said of the call. A `post` knows best. */
const RESOLUTION = `
  SELECT kind, written_at, remarks, amount_nano FROM usage_events AS later
  WHERE later.request_id = entry.request_id AND later.attempt = entry.attempt AND later.kind IN ('post', 'void')
  ORDER BY kind LIMIT 1`

/** The row that resolves a call adds the difference to what was reserved. $1: projects; $5: lowest id. */
const SELECTED = `
SELECT entry.request_id, entry.attempt, call_id, project, key_id, model, deployment, images,
  entry.remarks ->> 'what' AS what,
  coalesce(entry.remarks ->> 'reason', CASE
    WHEN coalesce(nodes.ended_at IS NOT NULL, true)
    THEN coalesce(nodes.host, entry.node_id::text) || ' stopped before the call ended'
    ELSE 'the call ended without a record' END) AS reason,
  coalesce(nodes.host, entry.node_id::text) AS node,
  entry.amount_nano AS reserved_nano, entry.written_at,
  entry.written_at + interval '${UNKNOWN_POSTED_AFTER_MS} ms' AS posted_at,
  resolution.kind AS "resolved.action",
  CASE WHEN resolution.kind IS NOT NULL THEN coalesce(resolution.remarks ->> 'by', 'system') END AS "resolved.by",
  resolution.written_at AS "resolved.at", resolution.remarks ->> 'reason' AS "resolved.note",
  CASE WHEN resolution.kind IS NOT NULL AND coalesce(entry.amount_nano, resolution.amount_nano) IS NOT NULL
    THEN coalesce(entry.amount_nano, 0) + coalesce(resolution.amount_nano, 0) END AS "resolved.cost_nano"
FROM usage_events AS entry LEFT JOIN nodes USING (node_id) LEFT JOIN LATERAL (${RESOLUTION}) AS resolution ON true
WHERE entry.kind = 'unknown' AND ($1::text[] IS NULL OR project = ANY($1)) AND request_id >= $5`

/** $2, $3: the last call of the page before; $4: page size and one more. */
const LISTS = {
  open: `${SELECTED}
  AND resolution.kind IS NULL AND ($2::uuid IS NULL OR (request_id, attempt) > ($2, $3::smallint))
ORDER BY request_id, attempt LIMIT $4`,
  resolved: `${SELECTED}
  AND resolution.kind IS NOT NULL AND ($2::uuid IS NULL OR (request_id, attempt) < ($2, $3::smallint))
ORDER BY request_id DESC, attempt DESC LIMIT $4`,
}

const SUMMARY = `
SELECT count(*) FILTER (WHERE is_open) AS open,
  coalesce(sum(amount_nano) FILTER (WHERE is_open), 0)::bigint AS reserved_nano,
  count(*) FILTER (WHERE NOT is_open AND request_id >= $2) AS resolved
FROM (
  SELECT request_id, amount_nano, NOT EXISTS (
    SELECT FROM usage_events AS later
    WHERE later.request_id = entry.request_id AND later.attempt = entry.attempt AND later.kind IN ('post', 'void')
  ) AS is_open
  FROM usage_events AS entry WHERE kind = 'unknown' AND ($1::text[] IS NULL OR project = ANY($1))
  ORDER BY request_id DESC LIMIT ${MAX_COUNTED}
) AS unknowns`

type Projects = readonly string[] | undefined

export interface UnknownQuestion {
  readonly state: keyof typeof LISTS
  /** Undefined: all. */
  readonly projects: Projects
  readonly limit: number
  /** The last call of the page before, as `<request id>/<attempt>`. */
  readonly after: string | undefined
}

/** Open calls oldest first, resolved ones newest first. */
export function listUnknowns(sql: Sql, { state, projects, limit, after }: UnknownQuestion, nowMs: number) {
  const since = state === 'open' ? LOWEST_ID : resolvedSince(nowMs)
  const [requestId = null, attempt = null] = after?.split('/') ?? []
  return answersOf<Omit<z.output<typeof unknown>, 'requested_at'>>(sql, LISTS[state], [
    projects ?? null,
    requestId,
    attempt,
    limit,
    since,
  ])
}

export async function summaryOfUnknowns(sql: Sql, projects: Projects, nowMs: number) {
  const [summary] = await answersOf<z.output<typeof unknownSummary>>(sql, SUMMARY, [
    projects ?? null,
    resolvedSince(nowMs),
  ])
  if (summary === undefined) throw new Error('a sum without a row')
  return summary
}

/** Undefined: there never was such a call. */
export async function projectOfUnknown(sql: Sql, requestId: string, attempt: number) {
  const [row] = await sql.query<{ project: string }>(
    `SELECT project FROM usage_events WHERE request_id = $1 AND attempt = $2 AND kind = 'unknown'`,
    [requestId, attempt],
  )
  return row?.project
}

function resolvedSince(nowMs: number): string {
  return lowestIdAt(nowMs - RESOLVED_DAYS * DAY_MS)
}
