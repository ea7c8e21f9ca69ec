/** The history of changes, of the store and of torana.yaml, and the share of calls of each deployment. */
import type { ChangedObject } from '#ports/stored-configuration.ts'
import type { Sql } from '#stores/postgres/database.ts'
import { IS_NO_CHECK } from '../shared/request-conditions.ts'
import { answersOf } from '../shared/rows.ts'
import { DAY_MS } from '../shared/times.ts'

/** Changes of the store, and loads of torana.yaml, which have no id. The newest first. */
const HISTORY = `
SELECT rows.id, rows.at, to_char(rows.at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS cursor, rows.by, members.name AS by_name, rows.summary, rows.objects, rows.loaded,
  rows.reverts
FROM (
  (
    SELECT change_id::text AS id, at, changed_by AS by, summary, objects, NULL::jsonb AS loaded, reverts::text AS reverts
    FROM configuration_changes WHERE $1::timestamptz IS NULL OR at < $1 ORDER BY change_id DESC LIMIT $2
  ) UNION ALL (
    SELECT NULL, at, target, NULL, '[]', detail->'changed', NULL
    FROM audit WHERE action = 'config.load' AND detail ? 'changed' AND ($1::timestamptz IS NULL OR at < $1)
    ORDER BY sequence DESC LIMIT $2
  )
) AS rows LEFT JOIN members ON members.email = rows.by
ORDER BY rows.at DESC, rows.id DESC LIMIT $2`

const CHANGE = `
SELECT change_id::text AS id, at, changed_by AS by, summary, objects FROM configuration_changes WHERE change_id = $1`

/** $2: a day ago. */
const CALLS = `
SELECT deployment, coalesce(sum(posts), 0)::bigint AS calls FROM usage_hours
WHERE model = $1 AND hour > $2 AND ${IS_NO_CHECK} GROUP BY deployment`

/** Names that a load of torana.yaml added, removed and changed. */
type LoadedNames = Readonly<
  Record<
    string,
    {
      readonly added: readonly string[]
      readonly removed: readonly string[]
      readonly changed: readonly string[]
    }
  >
>

export interface HistoryRow {
  readonly id: string | null
  readonly at: string
  readonly cursor: string
  readonly by: string
  readonly by_name: string | null
  readonly summary: string | null
  readonly objects: readonly ChangedObject[]
  readonly loaded: LoadedNames | null
  readonly reverts: string | null
}

export function listHistory(sql: Sql, after: string | undefined, limit: number): Promise<HistoryRow[]> {
  return answersOf<HistoryRow>(sql, HISTORY, [after ?? null, limit])
}

export async function changeWithId(
  sql: Sql,
  id: bigint,
): Promise<Pick<HistoryRow, 'at' | 'by' | 'summary' | 'objects'> | undefined> {
  const [row] = await answersOf<HistoryRow>(sql, CHANGE, [id])
  return row
}

/** Calls of the last day, by deployment. */
export async function callsOf(sql: Sql, model: string, nowMs: number): Promise<ReadonlyMap<string, number>> {
  const rows = await answersOf<{ deployment: string; calls: number }>(sql, CALLS, [
    model,
    new Date(nowMs - DAY_MS),
  ])
  return new Map(rows.map(({ deployment, calls }) => [deployment, calls]))
}
