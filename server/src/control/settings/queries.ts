/** Sizes of the tables, as PostgreSQL estimates them. */
import type { Sql } from '#stores/postgres/database.ts'
import { answersOf } from '../shared/rows.ts'

export interface TableSize {
  /** Partitions count toward their table. */
  readonly table: string
  readonly rows: number
  /** Includes indexes. */
  readonly bytes: number
}

/** Counting rows would take minutes; the statistics are accurate enough. A table that was never analysed has −1. */
const TABLES = `
  SELECT whole.relname::text AS table,
    sum(greatest(part.reltuples::bigint, coalesce(stat.n_live_tup, 0), 0))::bigint AS rows,
    sum(pg_total_relation_size(part.oid))::bigint AS bytes
  FROM pg_class part
  JOIN pg_class whole ON whole.oid = coalesce(pg_partition_root(part.oid), part.oid)
  LEFT JOIN pg_stat_user_tables stat ON stat.relid = part.oid
  WHERE part.relkind = 'r' AND part.relnamespace = current_schema()::regnamespace
  GROUP BY 1 ORDER BY 1`

export function tableSizes(sql: Sql): Promise<TableSize[]> {
  return answersOf<TableSize>(sql, TABLES)
}
