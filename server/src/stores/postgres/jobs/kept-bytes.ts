/** What one project keeps: the only sum for quotas and figures. */
import type { KeptByProject } from '#ports/files.ts'
import type { Sql } from '../database.ts'

/** Lets one transaction at a time take room of a project: the next one sees its bytes. */
const LOCK_PROJECT = `SELECT pg_advisory_xact_lock(hashtextextended('files of ' || $1, 0))`

/**
 * Files that are complete, are arriving (the announced or the received size, whichever is larger), or were deleted and are still held
 * by a batch; and the results of batches. `$2` is the time, or null for that of the database. File `$3` is left out.
 */
const KEPT = `
WITH moment AS (SELECT coalesce($2::timestamptz, now()) AS now),
sent AS (
  SELECT count(*) FILTER (WHERE ends_at > moment.now) AS files,
    coalesce(sum(greatest(bytes, announced_bytes, received_bytes)), 0)::bigint AS bytes
  FROM files, moment
  WHERE project = $1 AND batch_id IS NULL AND file_id IS DISTINCT FROM $3 AND (ends_at > moment.now
    OR EXISTS (SELECT FROM file_holds WHERE file_holds.file_id = files.file_id AND until > moment.now))
)
SELECT files, bytes + (SELECT coalesce(sum(kept_bytes), 0)::bigint FROM batches WHERE project = $1) AS bytes FROM sent`

export async function lockKept(sql: Sql, project: string): Promise<void> {
  await sql.query(LOCK_PROJECT, [project])
}

export async function keptBy(
  sql: Pick<Sql, 'query'>,
  project: string,
  { now, without }: { readonly now?: Date; readonly without?: string } = {},
): Promise<KeptByProject> {
  const [kept] = await sql.query<{ files: bigint; bytes: bigint }>(KEPT, [
    project,
    now ?? null,
    without ?? null,
  ])
  return { files: Number(kept?.files ?? 0), bytes: Number(kept?.bytes ?? 0) }
}
