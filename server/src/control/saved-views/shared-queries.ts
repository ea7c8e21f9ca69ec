/** Filters that members of a project share under a name. */
import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import type { Actor } from '#ports/audit.ts'
import { ChangeRefused } from '#ports/key-store.ts'
import { changeAudited } from '#stores/postgres/audit.ts'
import type { Database, Sql } from '#stores/postgres/database.ts'
import { name, time } from '../shared/fields.ts'
import { answersOf } from '../shared/rows.ts'
import { savedView } from './queries.ts'

export const sharedView = z
  .object({ id: z.uuid(), project: name, ...savedView.shape, created_by: z.string(), created_at: time })
  .meta({ id: 'SharedView' })

export type SharedView = z.output<typeof sharedView>
export type NewSharedView = Pick<SharedView, 'project' | 'page' | 'name' | 'search'>

/** Views of one project: more than a team finds again. */
const MAX_VIEWS = 50

const COLUMNS = 'view_id AS id, project, page, name, search, created_by, created_at'

/** Of these projects; undefined: of all. */
export function listSharedViews(
  sql: Sql,
  projects: readonly string[] | undefined,
  page: string | undefined,
): Promise<SharedView[]> {
  return answersOf<SharedView>(
    sql,
    `SELECT ${COLUMNS} FROM shared_views
     WHERE ($1::text[] IS NULL OR project = ANY ($1)) AND ($2::text IS NULL OR page = $2)
     ORDER BY project, page, created_at, view_id LIMIT 1000`,
    [projects ?? null, page ?? null],
  )
}

/** An arbitrary number that no other lock of the database uses: two who share at once must not pass the bound. */
const SHARING_LOCK = 0x70_72_61_76

export function shareView(database: Database, view: NewSharedView, actor: Actor): Promise<SharedView> {
  return changeAudited(database, async (sql) => {
    await sql.query('SELECT pg_advisory_xact_lock($1)', [SHARING_LOCK])
    const { project, page, name: viewName, search } = view
    const [{ count } = { count: 0 }] = await sql.query<{ readonly count: number }>(
      'SELECT count(*)::int AS count FROM shared_views WHERE project = $1',
      [project],
    )
    if (count >= MAX_VIEWS)
      throw new ChangeRefused('exists', `${project} has ${MAX_VIEWS} shared views. Delete one first.`)
    const [made] = await answersOf<SharedView>(
      sql,
      `INSERT INTO shared_views (view_id, project, page, name, search, created_by) VALUES ($1, $2, $3, $4, $5, $6)
       ON CONFLICT DO NOTHING RETURNING ${COLUMNS}`,
      [randomUUID(), project, page, viewName, search, actor.name],
    )
    if (made === undefined)
      throw new ChangeRefused(
        'exists',
        `${project} has a shared view “${viewName}” already. Choose another name.`,
      )
    const detail = { page, search }
    return {
      result: made,
      audit: [{ actor, action: 'view.share', target: `${project}/${viewName}`, detail }],
    }
  })
}

/** `mayDelete` is asked with the row that is deleted. */
export function unshareView(
  database: Database,
  id: string,
  mayDelete: (view: SharedView) => boolean,
  actor: Actor,
): Promise<void> {
  return changeAudited(database, async (sql) => {
    const [view] = await answersOf<SharedView>(
      sql,
      `SELECT ${COLUMNS} FROM shared_views WHERE view_id = $1 FOR UPDATE`,
      [id],
    )
    if (view === undefined || !mayDelete(view))
      throw new ChangeRefused('missing', 'There is no shared view with this id that you may delete.')
    await sql.query('DELETE FROM shared_views WHERE view_id = $1', [id])
    const target = `${view.project}/${view.name}`
    return {
      result: undefined,
      audit: [{ actor, action: 'view.unshare', target, detail: { page: view.page } }],
    }
  })
}
