import type { SavedView, SavedViewStore } from '#ports/saved-views.ts'
import { reachable } from '../away.ts'
import type { Database } from '../database.ts'

export class PostgresSavedViews implements SavedViewStore {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  async list(memberId: string): Promise<readonly SavedView[]> {
    return reachable(
      this.#database.query<SavedView>(
        'SELECT page, name, search FROM saved_views WHERE member_id = $1 ORDER BY position',
        [memberId],
      ),
    )
  }

  /** What a member keeps for itself is no change of the install, so the audit does not tell of it. */
  async replace(memberId: string, views: readonly SavedView[]): Promise<void> {
    await reachable(
      this.#database.transaction(async (sql) => {
        await sql.query('DELETE FROM saved_views WHERE member_id = $1', [memberId])
        for (const [position, { page, name, search }] of views.entries())
          await sql.query(
            'INSERT INTO saved_views (member_id, position, page, name, search) VALUES ($1, $2, $3, $4, $5)',
            [memberId, position, page, name, search],
          )
      }),
    )
  }
}
