/** Writes all tables of a database as they were at one moment. */
import { createHash } from 'node:crypto'
import type { BackupSource, TableReport, WriteLine } from '#ports/backup.ts'
import { FORMAT, type BackupHead, type BackupPartition } from '../../backup-format.ts'
import type { Database, Sql } from '../database.ts'
import { appliedIn, newerThanThis } from '../migrate.ts'
import { quoted, tablesIn, type Table } from './tables.ts'

/** Rows that are read at once: some megabytes where they hold traces. */
const PORTION = 1000
/** What one portion may take of a large table on a slow disk. */
const STATEMENT_MS = 5 * 60_000
/** Values as text, in the same form on every server: times in UTC, bytes as hex. */
const TEXT_FORMS = `SET LOCAL timezone = 'UTC'; SET LOCAL datestyle = 'ISO, YMD'; SET LOCAL intervalstyle = 'iso_8601'; SET LOCAL bytea_output = 'hex'; SET LOCAL extra_float_digits = 1`

export class PostgresBackup implements BackupSource {
  readonly #database: Database
  readonly #version: string
  readonly #nowMs: () => number

  constructor(database: Database, version: string, nowMs: () => number) {
    this.#database = database
    this.#version = version
    this.#nowMs = nowMs
  }

  /** With the database inside the process, all else waits until it is done: there is one connection. */
  write(write: WriteLine): Promise<readonly TableReport[]> {
    return this.#database.session(async (sql) => {
      await sql.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
      // Portions come at the pace of whoever takes them.
      await sql.query(`SET LOCAL idle_in_transaction_session_timeout = ${STATEMENT_MS}`)
      const migrations = await appliedIn(sql)
      const newer = newerThanThis(migrations)
      if (newer.length > 0)
        throw new Error(
          `the database is of a newer version of Torana (migration ${newer.join(', ')}): use that one`,
        )
      const head: BackupHead = {
        torana_backup: FORMAT,
        version: this.#version,
        made_at: new Date(this.#nowMs()).toISOString(),
        migrations: [...migrations],
        partitions: await partitionsIn(sql),
      }
      await write(JSON.stringify(head))
      const reports: TableReport[] = []
      for (const table of await tablesIn(sql)) {
        await write(JSON.stringify({ table: table.name, columns: table.columns }))
        const report = await dumpTable(sql, table, write)
        await write(JSON.stringify({ end: report.table, rows: report.rows, sha256: report.sha256 }))
        reports.push(report)
      }
      return reports
    }, STATEMENT_MS)
  }
}

/** Rows one by one, in order. Without `write` they are only counted and hashed. Within a transaction. */
export async function dumpTable(sql: Sql, table: Table, write?: WriteLine): Promise<TableReport> {
  await sql.query(TEXT_FORMS)
  const columns = table.columns.map((name) => `${quoted(name)}::text`).join(', ')
  const rows = `SELECT json_build_array(${columns})::text AS line FROM ${quoted(table.name)} ORDER BY ${table.order}`
  await sql.query(`DECLARE backup_rows NO SCROLL CURSOR FOR ${rows}`)
  const hash = createHash('sha256')
  let count = 0
  for (let isMore = true; isMore;) {
    const portion = await sql.query<{ line: string }>(`FETCH ${PORTION} FROM backup_rows`)
    for (const { line } of portion) {
      hash.update(`${line}\n`)
      await write?.(line)
    }
    count += portion.length
    isMore = portion.length === PORTION
  }
  await sql.query('CLOSE backup_rows')
  return { table: table.name, rows: count, sha256: hash.digest('hex') }
}

/** Of months and days. What lies outside of them is in the rest, which every database has. */
async function partitionsIn(sql: Sql): Promise<BackupPartition[]> {
  const rows = await sql.query<{ name: string; of: string; bounds: string }>(
    `SELECT child.relname::text AS name, parent.relname::text AS of, pg_get_expr(child.relpartbound, child.oid) AS bounds
     FROM pg_inherits JOIN pg_class AS child ON child.oid = inhrelid JOIN pg_class AS parent ON parent.oid = inhparent
     WHERE child.relispartition AND parent.relnamespace = current_schema()::regnamespace AND child.relkind = 'r' ORDER BY 1`,
  )
  return rows.flatMap(({ name, of, bounds }) => {
    const [, from, to] = /^FOR VALUES FROM \('([0-9a-f-]{36})'\) TO \('([0-9a-f-]{36})'\)$/.exec(bounds) ?? []
    return from === undefined || to === undefined ? [] : [{ name, of, from, to }]
  })
}
