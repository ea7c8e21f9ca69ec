import type { StorageFigures, TableFigures } from '#ports/storage-figures.ts'
import { reachable } from '../away.ts'
import type { Database } from '../database.ts'

/** Counting rows would take minutes; the statistics know them well enough. A table that was never analysed has −1. */
const TABLES = `
  SELECT coalesce(parent.relname, part.relname)::text AS table,
    sum(greatest(part.reltuples::bigint, coalesce(stat.n_live_tup, 0), 0))::bigint AS rows,
    sum(pg_total_relation_size(part.oid))::bigint AS bytes
  FROM pg_class part
  LEFT JOIN pg_inherits link ON link.inhrelid = part.oid
  LEFT JOIN pg_class parent ON parent.oid = link.inhparent
  LEFT JOIN pg_stat_user_tables stat ON stat.relid = part.oid
  WHERE part.relkind = 'r' AND part.relnamespace = current_schema()::regnamespace
  GROUP BY 1 ORDER BY 1`

export class PostgresStorageFigures implements StorageFigures {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  async tables(): Promise<readonly TableFigures[]> {
    const rows = await reachable(this.#database.query<{ table: string; rows: bigint; bytes: bigint }>(TABLES))
    return rows.map((row) => ({ table: row.table, rows: Number(row.rows), bytes: Number(row.bytes) }))
  }
}
