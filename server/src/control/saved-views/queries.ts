/** Filters that members keep under a name. They are no change of the installation, so the audit leaves them out. */
import { z } from 'zod'
import type { Database } from '#stores/postgres/database.ts'
import { storable } from '../shared/fields.ts'

export const savedView = z
  .strictObject({
    page: storable(60).min(1),
    name: storable(60).trim().min(1),
    search: storable(2000).describe('The address behind the `?`.'),
  })
  .meta({ id: 'SavedView' })

export type SavedView = z.output<typeof savedView>

export async function listSavedViews(database: Database, memberId: string): Promise<SavedView[]> {
  const text = 'SELECT page, name, search FROM saved_views WHERE member_id = $1 ORDER BY position'
  return [...(await database.query<SavedView>(text, [memberId]))]
}

export async function replaceSavedViews(
  database: Database,
  memberId: string,
  views: readonly SavedView[],
): Promise<void> {
  await database.transaction(async (sql) => {
    await sql.query('DELETE FROM saved_views WHERE member_id = $1', [memberId])
    for (const [position, { page, name, search }] of views.entries())
      await sql.query(
        'INSERT INTO saved_views (member_id, position, page, name, search) VALUES ($1, $2, $3, $4, $5)',
        [memberId, position, page, name, search],
      )
  })
}
