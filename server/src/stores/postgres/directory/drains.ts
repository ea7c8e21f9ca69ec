import type { Actor } from '#ports/audit.ts'
import type { Drain, DrainStore } from '#ports/drains.ts'
import { reachable } from '../unreachable.ts'
import type { Database } from '../database.ts'
import { changeDirectory } from './directory.ts'

interface DrainRow {
  readonly deployment: string
  readonly reason: string
  readonly drained_by: string
  readonly drained_at: Date
}

export class PostgresDrains implements DrainStore {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  drain(deployment: string, reason: string, actor: Actor): Promise<Drain> {
    return changeDirectory(this.#database, async (sql) => {
      const [row] = await sql.query<DrainRow>(
        `INSERT INTO deployment_drains (deployment, reason, drained_by) VALUES ($1, $2, $3)
         ON CONFLICT (deployment) DO UPDATE SET reason = excluded.reason, drained_by = excluded.drained_by
         RETURNING *`,
        [deployment, reason, actor.name],
      )
      return {
        result: drainOf(row as DrainRow),
        audit: [{ actor, action: 'deployment.drain', target: deployment, detail: { reason } }],
      }
    })
  }

  takeBack(deployment: string, reason: string, actor: Actor): Promise<void> {
    return changeDirectory(this.#database, async (sql) => {
      const rows = await sql.query('DELETE FROM deployment_drains WHERE deployment = $1 RETURNING 1', [
        deployment,
      ])
      const entry = { actor, action: 'deployment.take_back', target: deployment, detail: { reason } }
      return { result: undefined, audit: rows.length === 0 ? [] : [entry] }
    })
  }

  async list(): Promise<readonly Drain[]> {
    const rows = await reachable(
      this.#database.query<DrainRow>('SELECT * FROM deployment_drains ORDER BY deployment'),
    )
    return rows.map(drainOf)
  }
}

function drainOf(row: DrainRow): Drain {
  return {
    deployment: row.deployment,
    reason: row.reason,
    by: row.drained_by,
    atMs: row.drained_at.getTime(),
  }
}
