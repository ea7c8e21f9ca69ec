/** Calls of which nobody knew how they ended, from the ledger. They are few, and have an index of their own. */
import type { EntryRemarks } from '#core/ledger.ts'
import type { Clock } from '#ports/clock.ts'
import {
  UNKNOWNS_COUNTED,
  type ResolvedUnknown,
  type UnknownCall,
  type UnknownReader,
  type UnknownSummary,
} from '#ports/unknown-report.ts'
import { reachable } from '../away.ts'
import { DAY_MS, LOWEST_ID, lowestIdAt } from '../books/upkeep-ids.ts'
import type { Database } from '../database.ts'

/** As long as the request log, which says more about them. */
const RESOLVED_DAYS = 30

/** What somebody said of the call, or what a record that came late says of it. A `post` knows best. */
const RESOLUTION = `
  SELECT kind, written_at, remarks, amount_nano FROM usage_events AS later
  WHERE later.request_id = entry.request_id AND later.attempt = entry.attempt AND later.kind IN ('post', 'void')
  ORDER BY kind LIMIT 1`

const SELECTED = `
SELECT entry.*, nodes.host, coalesce(nodes.ended_at IS NOT NULL, true) AS is_ended,
  resolution.kind AS resolved_kind, resolution.written_at AS resolved_at, resolution.remarks AS resolved_remarks,
  resolution.amount_nano AS resolved_nano
FROM usage_events AS entry LEFT JOIN nodes USING (node_id) LEFT JOIN LATERAL (${RESOLUTION}) AS resolution ON true
WHERE entry.kind = 'unknown' AND ($1::text[] IS NULL OR project = ANY($1)) AND request_id >= $5`

/** $2, $3: after which; $4: how many. */
const OPEN = `${SELECTED}
  AND resolution.kind IS NULL AND ($2::uuid IS NULL OR (request_id, attempt) > ($2, $3::smallint))
ORDER BY request_id, attempt LIMIT $4`

const RESOLVED = `${SELECTED}
  AND resolution.kind IS NOT NULL AND ($2::uuid IS NULL OR (request_id, attempt) < ($2, $3::smallint))
ORDER BY request_id DESC, attempt DESC LIMIT $4`

const SUMMARY = `
SELECT count(*) FILTER (WHERE is_open)::integer AS open,
  coalesce(sum(amount_nano) FILTER (WHERE is_open), 0)::bigint AS open_nano,
  count(*) FILTER (WHERE NOT is_open AND request_id >= $2)::integer AS resolved
FROM (
  SELECT request_id, amount_nano, NOT EXISTS (
    SELECT FROM usage_events AS later
    WHERE later.request_id = entry.request_id AND later.attempt = entry.attempt AND later.kind IN ('post', 'void')
  ) AS is_open
  FROM usage_events AS entry WHERE kind = 'unknown' AND ($1::text[] IS NULL OR project = ANY($1))
  ORDER BY request_id DESC LIMIT ${UNKNOWNS_COUNTED}
) AS unknowns`

interface UnknownRow {
  readonly request_id: string
  readonly attempt: number
  readonly call_id: string
  readonly node_id: string
  readonly project: string
  readonly key_id: string
  readonly model: string
  readonly deployment: string
  readonly images: number
  readonly amount_nano: bigint | null
  readonly written_at: Date
  readonly remarks: EntryRemarks | null
  readonly host: string | null
  readonly is_ended: boolean
  readonly resolved_kind: 'post' | 'void' | null
  readonly resolved_at: Date | null
  readonly resolved_remarks: EntryRemarks | null
  readonly resolved_nano: bigint | null
}

export class PostgresUnknowns implements UnknownReader {
  readonly #database: Database
  readonly #clock: Clock

  constructor(database: Database, clock: Clock) {
    this.#database = database
    this.#clock = clock
  }

  async list({ state, projects, limit, after }: Parameters<UnknownReader['list']>[0]) {
    const since = state === 'open' ? LOWEST_ID : this.#resolvedSince()
    const values = [projects ?? null, after?.requestId ?? null, after?.attempt ?? null, limit, since]
    const rows = await reachable(this.#database.query<UnknownRow>(state === 'open' ? OPEN : RESOLVED, values))
    return rows.map(callOf)
  }

  async summary(projects: readonly string[] | undefined): Promise<UnknownSummary> {
    const [row] = await reachable(
      this.#database.query<{ open: number; open_nano: bigint; resolved: number }>(SUMMARY, [
        projects ?? null,
        this.#resolvedSince(),
      ]),
    )
    return { open: row?.open ?? 0, openNanoUsd: row?.open_nano ?? 0n, resolved: row?.resolved ?? 0 }
  }

  async projectOf(requestId: string, attempt: number): Promise<string | undefined> {
    const [row] = await reachable(
      this.#database.query<{ project: string }>(
        `SELECT project FROM usage_events WHERE request_id = $1 AND attempt = $2 AND kind = 'unknown'`,
        [requestId, attempt],
      ),
    )
    return row?.project
  }

  #resolvedSince(): string {
    return lowestIdAt(this.#clock.nowMs() - RESOLVED_DAYS * DAY_MS)
  }
}

function callOf(row: UnknownRow): UnknownCall {
  const remarks = row.remarks ?? undefined
  return {
    requestId: row.request_id,
    attempt: row.attempt,
    callId: row.call_id,
    project: row.project,
    keyId: row.key_id,
    model: row.model,
    deployment: row.deployment,
    images: row.images,
    remarks,
    reservedNanoUsd: row.amount_nano ?? undefined,
    writtenAtMs: row.written_at.getTime(),
    node: row.host ?? row.node_id,
    isOrphan: row.is_ended && remarks?.reason === undefined,
    resolved: resolutionOf(row),
  }
}

/** The row that resolves adds the difference to what was reserved. */
function resolutionOf(row: UnknownRow): ResolvedUnknown | undefined {
  if (row.resolved_kind === null || row.resolved_at === null) return undefined
  const isUnpriced = row.amount_nano === null && row.resolved_nano === null
  return {
    kind: row.resolved_kind,
    by: row.resolved_remarks?.by ?? 'system',
    reason: row.resolved_remarks?.reason,
    atMs: row.resolved_at.getTime(),
    costNanoUsd: isUnpriced ? undefined : (row.amount_nano ?? 0n) + (row.resolved_nano ?? 0n),
  }
}
