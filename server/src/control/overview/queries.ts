/** What needs attention, as a schema, and what PostgreSQL knows about it. */
import { z } from 'zod'
import { ATTENTION_KINDS, ATTENTION_SEVERITIES, ATTENTION_SUBJECTS } from '#core/alerts/attention.ts'
import { SILENT_AFTER_MS } from '#ports/upkeep.ts'
import type { Sql } from '#stores/postgres/database.ts'
import { DAY_MS, lowestIdAt } from '#core/money/id-range.ts'
import { time } from '../shared/fields.ts'
import { answersOf } from '../shared/rows.ts'

export const attention = z
  .object({
    id: z.string(),
    kind: z.enum(ATTENTION_KINDS),
    severity: z.enum(ATTENTION_SEVERITIES),
    since: time,
    subject: z.object({
      type: z.enum(ATTENTION_SUBJECTS),
      id: z.string(),
    }),
    figures: z.record(z.string(), z.union([z.string(), z.number()])),
  })
  .describe('What a person should look at. The words are made of `kind` and `figures`.')
  .meta({ id: 'Attention' })

/** Days without use or before the end, as in the list of keys. */
const IDLE_DAYS = 90
const ENDS_DAYS = 14
/** Items of each kind: more than a person reads in a list of what needs attention. */
const MAX_ITEMS = 20
/** Refused requests that are read: a larger number needs the same action. */
const MAX_REFUSALS = 20_000
/** Silent nodes that are read: a larger number needs the same action. */
const MAX_NODES = 500

/** Requests of the last day that were refused for a reason that only an operator can fix. */
const REFUSALS = `
SELECT CASE fault WHEN 'model_unpriced' THEN 'unpriced_refused' ELSE 'model_retired_used' END AS kind,
  coalesce(model, '') AS model, count(*) AS requests, min(request_id::text) AS first_request_id,
  coalesce(string_agg(DISTINCT project, ', '), '') AS projects
FROM (
  SELECT request_id, fault, model, project FROM requests
  WHERE status >= 400 AND request_id >= $1 AND fault IN ('model_unpriced', 'model_retired')
  ORDER BY request_id DESC LIMIT ${MAX_REFUSALS}
) AS late GROUP BY fault, late.model ORDER BY requests DESC LIMIT ${MAX_ITEMS}`

/** Keys that end soon and keys unused for long: the most pressing first. */
const KEYS = `
SELECT key_id AS key, CASE WHEN expires_at < $2 THEN 'key_ends' ELSE 'key_idle' END AS kind,
  CASE WHEN expires_at < $2 THEN expires_at ELSE last_used_at END AS since, expires_at AS ends_at
FROM keys JOIN projects ON projects.project = keys.project AND projects.deleted_at IS NULL
WHERE revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $3) AND (expires_at < $2 OR last_used_at < $1)
ORDER BY expires_at < $2 DESC NULLS LAST, since LIMIT ${MAX_ITEMS}`

/** Webhook events of the last week that no receiver took. */
const GIVEN_UP = `
SELECT project, count(*) AS events, max(ended_at) AS since FROM webhook_events
WHERE outcome = 'given-up' AND ended_at > $1 GROUP BY project ORDER BY project`

const SILENT = `
SELECT node_id AS id, host, seen_at AS since,
  (SELECT coalesce(sum(amount_nano), 0)::bigint FROM leases WHERE leases.node_id = nodes.node_id) AS leased_nano
FROM nodes WHERE ended_at IS NULL AND seen_at < now() - interval '${SILENT_AFTER_MS} milliseconds'
ORDER BY started_at DESC, node_id LIMIT ${MAX_NODES}`

const SPENT = `
SELECT coalesce(sum(amount_nano), 0)::bigint AS spent, coalesce(sum(saved_nano), 0)::bigint AS saved FROM usage_hours
WHERE hour >= $1 AND ($2::text[] IS NULL OR project = ANY($2))`

export interface AttentionFigures {
  readonly refusals: readonly {
    readonly kind: 'unpriced_refused' | 'model_retired_used'
    /** Empty: the model is not in the catalog. */
    readonly model: string
    readonly requests: number
    readonly first_request_id: string
    readonly projects: string
  }[]
  readonly keys: readonly {
    readonly key: string
    readonly kind: 'key_idle' | 'key_ends'
    /** When it was last used, or when it ends. */
    readonly since: string
    readonly ends_at: string | null
  }[]
  readonly webhooks: readonly { readonly project: string; readonly events: number; readonly since: string }[]
  readonly silentNodes: readonly {
    readonly id: string
    readonly host: string
    readonly since: string
    readonly leased_usd: string
  }[]
}

/** One query after another, so that other pages get a connection in between. */
export async function readAttention(sql: Sql, nowMs: number): Promise<AttentionFigures> {
  const [used, ends, now, week] = [-IDLE_DAYS, ENDS_DAYS, 0, -7].map(
    (days) => new Date(nowMs + days * DAY_MS),
  )
  return {
    refusals: await answersOf(sql, REFUSALS, [lowestIdAt(nowMs - DAY_MS)]),
    keys: await answersOf(sql, KEYS, [used, ends, now]),
    webhooks: await answersOf(sql, GIVEN_UP, [week]),
    silentNodes: await answersOf(sql, SILENT),
  }
}

/** `projects` undefined: all. */
export async function spentSince(
  sql: Sql,
  fromMs: number,
  projects: readonly string[] | undefined,
): Promise<{ readonly spentNanoUsd: bigint; readonly savedNanoUsd: bigint }> {
  const values = [new Date(fromMs), projects ?? null]
  const [row] = await sql.query<{ spent: bigint; saved: bigint }>(SPENT, values)
  return { spentNanoUsd: row?.spent ?? 0n, savedNanoUsd: row?.saved ?? 0n }
}
