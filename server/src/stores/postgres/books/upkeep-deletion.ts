/** The end of projects that were deleted. */
import { SYSTEM } from '#ports/audit.ts'
import { HOUR_MS } from '#core/ledger.ts'
import type { Database } from '../database.ts'
import { changeDirectory } from '../directory/directory.ts'
import { HIGHEST_ID, LOWEST_ID, lowestIdAt } from './upkeep-ids.ts'

/** Twice the hour for which a node without its store believes keys: nothing is written in the project's name any more. */
const DELAY_MS = 2 * HOUR_MS
/** So far back the request log is read in steps of an hour; what is older, if anything, in one. */
const LOG_HOURS = 31 * 24

/**
 * A node that has not been seen since the deletion still believes the keys when it comes back, and would never hear that they
 * were revoked once their rows are gone: it has to come back, or to be ended, first.
 */
const DUE = `
SELECT project FROM projects
WHERE deleted_at < $1 AND NOT EXISTS (
  SELECT FROM nodes WHERE ended_at IS NULL AND seen_at < projects.deleted_at + interval '1 minute'
) ORDER BY project`

const DELETE_REQUESTS = `
WITH gone AS (
  DELETE FROM requests WHERE project = ANY ($1) AND request_id >= $2 AND request_id < $3 RETURNING project
)
SELECT project, count(*)::integer AS rows FROM gone GROUP BY project`

/** Jobs take what is known of their calls with them. A portion is gone in a fraction of a second. */
const PORTION = 1000
const DELETE_JOBS = deletePortion('image_jobs', 'job_id')
const DELETE_EVENTS = deletePortion('webhook_events', 'event_id, url')

function deletePortion(table: string, identity: string): string {
  return `
WITH gone AS (
  DELETE FROM ${table} WHERE (${identity}) IN (
    SELECT ${identity} FROM ${table} WHERE project = ANY ($1) LIMIT ${PORTION}
  ) RETURNING project
)
SELECT project, count(*)::integer AS rows FROM gone GROUP BY project`
}

interface RemovedRows {
  readonly project: string
  readonly rows: number
}

export async function deleteProjects(database: Database, nowMs: number): Promise<readonly string[]> {
  const due = await database.query<{ project: string }>(DUE, [new Date(nowMs - DELAY_MS)])
  const projects = due.map(({ project }) => project)
  if (projects.length === 0) return []
  const requests = await deleteRequests(database, projects, nowMs)
  const imageJobs = await deletePortions(database, DELETE_JOBS, projects)
  await deletePortions(database, DELETE_EVENTS, projects)
  return changeDirectory(database, async (sql) => {
    // Their secrets go with them.
    const keys = await sql.query<RemovedRows>(
      `WITH gone AS (DELETE FROM keys WHERE project = ANY ($1) RETURNING project)
       SELECT project, count(*)::integer AS rows FROM gone GROUP BY project`,
      [projects],
    )
    await sql.query('DELETE FROM projects WHERE project = ANY ($1)', [projects])
    const audit = projects.map((project) => ({
      actor: SYSTEM,
      action: 'project.removed',
      target: project,
      detail: {
        keys: rowsOf(keys, project),
        requests: rowsOf(requests, project),
        imageJobs: rowsOf(imageJobs, project),
      },
    }))
    return { result: projects, audit }
  })
}

/** The request log has no index by project: it is gone through once for all of them. */
async function deleteRequests(
  database: Database,
  projects: readonly string[],
  nowMs: number,
): Promise<readonly RemovedRows[]> {
  const removed: RemovedRows[] = []
  let from = LOWEST_ID
  for (let hoursAgo = LOG_HOURS; hoursAgo >= 0; hoursAgo -= 1) {
    const to = hoursAgo === 0 ? HIGHEST_ID : lowestIdAt(nowMs - hoursAgo * HOUR_MS)
    removed.push(...(await database.query<RemovedRows>(DELETE_REQUESTS, [projects, from, to])))
    from = to
  }
  return removed
}

async function deletePortions(
  database: Database,
  statement: string,
  projects: readonly string[],
): Promise<readonly RemovedRows[]> {
  const removed: RemovedRows[] = []
  for (;;) {
    const portion = await database.query<RemovedRows>(statement, [projects])
    if (portion.length === 0) return removed
    removed.push(...portion)
  }
}

function rowsOf(removed: readonly RemovedRows[], project: string): number {
  return removed.filter((one) => one.project === project).reduce((sum, { rows }) => sum + rows, 0)
}
