import type { ServerSettings, StoreServer } from '#ports/store-server.ts'
import { reachable } from '../away.ts'
import type { Database } from '../database.ts'

/** `current_setting` answers for this session: a database or a role may have a value of its own. */
const SETTINGS = `
SELECT current_setting('fsync') AS fsync, current_setting('synchronous_commit') AS synchronous_commit,
  current_setting('max_connections')::integer - current_setting('superuser_reserved_connections')::integer
    - coalesce(current_setting('reserved_connections', true), '0')::integer AS max_connections`

interface Row {
  readonly fsync: string
  readonly synchronous_commit: string
  readonly max_connections: number
}

export class PostgresServer implements StoreServer {
  readonly #database: Database

  /** The connections that write the ledger: their settings are the ones that count. */
  constructor(database: Database) {
    this.#database = database
  }

  async settings(): Promise<ServerSettings> {
    const [row] = await reachable(this.#database.query<Row>(SETTINGS))
    if (row === undefined) throw new Error('PostgreSQL gave no settings')
    return {
      fsync: row.fsync === 'on',
      synchronousCommit: row.synchronous_commit,
      maxConnections: row.max_connections,
    }
  }
}
