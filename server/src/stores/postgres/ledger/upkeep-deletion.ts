/** The deletion of projects. */
import { SYSTEM } from '#ports/audit.ts'
import { HOUR_MS } from '#core/money/ledger.ts'
import type { Database } from '../database.ts'
import { changeDirectory } from '../directory/directory.ts'
import { HIGHEST_ID, LOWEST_ID, lowestIdAt } from '#core/money/id-range.ts'

/** Twice the hour for which a node without its store trusts keys: then nothing is written in the project's name any more. */
const DELAY_MS = 2 * HOUR_MS
/** Hours of the request log that are read one by one; older rows, if any, are read at once. */
const LOG_HOURS = 31 * 24

/**
 * A node that was offline since the deletion still trusts the keys when it returns, and could not learn that they were revoked once
 * their rows are gone: it has to return, or to be ended, first.
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

/** Rows that one statement deletes: a fraction of a second. Jobs take the rows of their calls with them. */
const PAGE_ROWS = 1000
const DELETE_JOBS = deletePage('image_jobs', 'job_id')
const DELETE_EVENTS = deletePage('webhook_events', 'event_id, url')
const DELETE_SUSPECTS = deletePage('suspect_vectors', 'window_id, request_id')

function deletePage(table: string, identity: string): string {
  return `
WITH gone AS (
  DELETE FROM ${table} WHERE (${identity}) IN (
    SELECT ${identity} FROM ${table} WHERE project = ANY ($1) LIMIT ${PAGE_ROWS}
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
  const imageJobs = await deletePages(database, DELETE_JOBS, projects)
  await deletePages(database, DELETE_EVENTS, projects)
  await deletePages(database, DELETE_SUSPECTS, projects)
  return changeDirectory(database, async (sql) => {
    // Their secrets are deleted with them.
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

/** The request log has no index by project: it is read once for all of them. */
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

async function deletePages(
  database: Database,
  statement: string,
  projects: readonly string[],
): Promise<readonly RemovedRows[]> {
  const removed: RemovedRows[] = []
  for (;;) {
    const page = await database.query<RemovedRows>(statement, [projects])
    if (page.length === 0) return removed
    removed.push(...page)
  }
}

function rowsOf(removed: readonly RemovedRows[], project: string): number {
  return removed.filter((one) => one.project === project).reduce((sum, { rows }) => sum + rows, 0)
}
