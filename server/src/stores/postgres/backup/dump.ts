/** Writes all tables of a database as of one moment. */
import { createHash } from 'node:crypto'
import { LEDGER_TABLE, type TableReport, type WriteLine } from '#ports/backup.ts'
import { FORMAT, inFiles, type BackupHead, type BackupPartition } from '../../backup-format.ts'
import type { Database, Sql } from '../database.ts'
import { KEPT_FROM } from '../ledger/lake-sql.ts'
import { appliedIn, newerThanThis } from '../migrate.ts'
import { quoted, tablesIn, type Table } from './tables.ts'

/** Rows per read: some megabytes where they contain traces. */
const PAGE_ROWS = 1000
/** Limit for one page of a large table on a slow disk. */
const STATEMENT_MS = 5 * 60_000
/** Values as text, in the same form on every server: times in UTC, bytes as hex. */
const TEXT_FORMS = `SET LOCAL timezone = 'UTC'; SET LOCAL datestyle = 'ISO, YMD'; SET LOCAL intervalstyle = 'iso_8601'; SET LOCAL bytea_output = 'hex'; SET LOCAL extra_float_digits = 1`

/** With the built-in database, everything else waits until it is done: there is one connection. */
export function dumpDatabase(
  database: Database,
  version: string,
  nowMs: number,
  write: WriteLine,
): Promise<readonly TableReport[]> {
  return database.session(async (sql) => {
    await sql.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
    // The reader of the backup sets the pace between two pages.
    await sql.query(`SET LOCAL idle_in_transaction_session_timeout = ${STATEMENT_MS}`)
    // The doctor reports other transactions that stay open.
    await sql.query(`SET LOCAL application_name = 'torana backup'`)
    const migrations = await appliedIn(sql)
    const newer = newerThanThis(migrations)
    if (newer.length > 0)
      throw new Error(
        `the database is of a newer version of Torana (migration ${newer.join(', ')}): use that one`,
      )
    const head: BackupHead = {
      torana_backup: FORMAT,
      version,
      made_at: new Date(nowMs).toISOString(),
      migrations: [...migrations],
      partitions: await partitionsIn(sql),
    }
    await write(JSON.stringify(head))
    const reports: TableReport[] = []
    for (const table of await tablesIn(sql)) {
      await write(JSON.stringify({ table: table.name, columns: table.columns }))
      const { table: end, rows, sha256 } = await dumpTable(sql, table, write)
      const inFilesBefore = end === LEDGER_TABLE ? await daysInFiles(sql) : undefined
      await write(JSON.stringify({ end, rows, sha256, in_files_before: inFilesBefore }))
      reports.push({ table: end, rows, sha256, ...inFiles(inFilesBefore) })
    }
    return reports
  }, STATEMENT_MS)
}

/** The day before which the entries of the ledger are files only. A database of an earlier version has no such day. */
async function daysInFiles(sql: Sql): Promise<string | undefined> {
  const [known] = await sql.query<{ has: boolean }>(`SELECT to_regclass('ledger_seal') IS NOT NULL AS has`)
  if (known?.has !== true) return undefined
  const [row] = await sql.query<{ day: string | null }>(KEPT_FROM)
  return row?.day ?? undefined
}

/** Rows one by one, in order. Without `write` they are only counted and hashed. Must run in a transaction. */
export async function dumpTable(sql: Sql, table: Table, write?: WriteLine): Promise<TableReport> {
  await sql.query(TEXT_FORMS)
  const columns = table.columns.map((name) => `${quoted(name)}::text`).join(', ')
  const rows = `SELECT json_build_array(${columns})::text AS line FROM ${quoted(table.name)} ORDER BY ${table.order}`
  await sql.query(`DECLARE backup_rows NO SCROLL CURSOR FOR ${rows}`)
  const hash = createHash('sha256')
  let count = 0
  for (let isMore = true; isMore;) {
    const page = await sql.query<{ line: string }>(`FETCH ${PAGE_ROWS} FROM backup_rows`)
    for (const { line } of page) {
      hash.update(`${line}\n`)
      await write?.(line)
    }
    count += page.length
    isMore = page.length === PAGE_ROWS
  }
  await sql.query('CLOSE backup_rows')
  return { table: table.name, rows: count, sha256: hash.digest('hex') }
}

/** Partitions of months and days, a month before its days. Rows outside of them are in the default partition, which every database has. */
async function partitionsIn(sql: Sql): Promise<BackupPartition[]> {
  const rows = await sql.query<{ name: string; of: string; bounds: string; is_split: boolean }>(
    `SELECT child.relname::text AS name, parent.relname::text AS of, pg_get_expr(child.relpartbound, child.oid) AS bounds,
       child.relkind = 'p' AS is_split
     FROM pg_inherits JOIN pg_class AS child ON child.oid = inhrelid JOIN pg_class AS parent ON parent.oid = inhparent
     WHERE child.relispartition AND parent.relnamespace = current_schema()::regnamespace AND child.relkind IN ('r', 'p') ORDER BY 1`,
  )
  return rows.flatMap(({ name, of, bounds, is_split: isSplit }) => {
    const [, from, to] = /^FOR VALUES FROM \('([0-9a-f-]{36})'\) TO \('([0-9a-f-]{36})'\)$/.exec(bounds) ?? []
    return from === undefined || to === undefined
      ? []
      : [{ name, of, from, to, ...(isSplit && { by: 'day' as const }) }]
  })
}
