/** Restores a backup into an empty database: the tables of its version, its rows, then the later migrations. */
import type { TableReport } from '#ports/backup.ts'
import type { CheckedBackup } from '../../backup-file.ts'
import {
  BackupProblem,
  inFiles,
  type BackupHead,
  type BackupPartition,
  type Line,
  type Row,
} from '../../backup-format.ts'
import type { Database, Sql } from '../database.ts'
import { appliedIn, migrate, migrationsKnown } from '../migrate.ts'
import { dumpTable } from './dump.ts'
import { quoted, tablesIn, type Table } from './tables.ts'

const PAGE_ROWS = 500
const STATEMENT_MS = 5 * 60_000
/** Tables with rows from a migration. The rows of the backup replace them. */
const SEEDED: ReadonlySet<string> = new Set([
  'directory_marks',
  'directory_version',
  'ledger_lake',
  'ledger_seal',
])
/** Days, months, and days of a month, as Torana names them: nothing else of a file becomes a statement. */
const PARTITION = /^(usage_events|requests)_\d{4}_\d{2}(?:_\d{2})?$/
const OWNER = /^(usage_events(?:_\d{4}_\d{2})?|requests)$/

export interface Loading {
  readonly backup: CheckedBackup
  /** All lines of the file. */
  readonly lines: AsyncIterable<{ readonly line: Line }>
  /** Called with the number of rows restored so far. */
  readonly onRows?: (rows: number) => void
}

/** All or nothing. Throws a `BackupProblem`. */
export async function loadDatabase(database: Database, loading: Loading): Promise<readonly TableReport[]> {
  const { head } = loading.backup
  checkVersions(head)
  await checkEmpty(database, head)
  const versions = new Set(head.migrations.map(({ version }) => version))
  await migrate(database, { only: versions })
  const reports = await database.session(async (sql) => {
    await sql.query('BEGIN')
    await sql.query(`SET LOCAL idle_in_transaction_session_timeout = ${STATEMENT_MS}`)
    for (const partition of head.partitions) await makePartition(sql, partition)
    const tables = await tablesIn(sql)
    for (const { name } of tables) if (SEEDED.has(name)) await sql.query(`DELETE FROM ${quoted(name)}`)
    const loaded = await loadTables(sql, tables, loading)
    await sql.query('COMMIT')
    return loaded
  }, STATEMENT_MS)
  await migrate(database)
  return reports
}

function checkVersions({ migrations, version }: BackupHead): void {
  const known = new Map(migrationsKnown().map((one) => [one.version, one]))
  for (const { version: number, name, sha256 } of migrations)
    if (known.get(number)?.sha256 !== sha256)
      throw new BackupProblem(
        `it was made by Torana ${version}, whose migration ${name} this version does not have: use that version or a newer one`,
      )
}

async function checkEmpty(database: Database, { migrations }: BackupHead): Promise<void> {
  await database.session(async (sql) => {
    const of = new Set(migrations.map(({ version }) => version))
    const before = await appliedIn(sql)
    if (before.some(({ version }) => !of.has(version)))
      throw new BackupProblem(
        'the database has tables of a newer version than the backup: name an empty database',
      )
    for (const { name } of before.length === 0 ? [] : await tablesIn(sql)) {
      const [row] = await sql.query(`SELECT 1 FROM ${quoted(name)} LIMIT 1`)
      if (row !== undefined && !SEEDED.has(name))
        throw new BackupProblem(
          `the database is not empty: the table ${name} has rows. Name an empty database`,
        )
    }
  })
}

async function makePartition(sql: Sql, { name, of, from, to, by }: BackupPartition): Promise<void> {
  if (!PARTITION.test(name) || !OWNER.test(of) || !name.startsWith(`${of}_`))
    throw new BackupProblem(`${name} is no partition of Torana`)
  const split = by === 'day' ? 'PARTITION BY RANGE (request_id)' : ''
  await sql.query(
    `CREATE TABLE IF NOT EXISTS ${quoted(name)} PARTITION OF ${quoted(of)} FOR VALUES FROM ('${from}') TO ('${to}') ${split}`,
  )
}

async function loadTables(
  sql: Sql,
  tables: readonly Table[],
  { lines, onRows }: Loading,
): Promise<readonly TableReport[]> {
  const reports: TableReport[] = []
  let filling: Filling | undefined
  let rows = 0
  for await (const { line } of lines) {
    if (line.kind === 'table')
      filling = new Filling(sql, tableIn(tables, line.table.table), line.table.columns)
    else if (line.kind === 'row') {
      await filling?.add(line.row)
      rows += 1
      onRows?.(rows)
    } else if (line.kind === 'end' && filling !== undefined) {
      await filling.flush()
      const report = await dumpTable(sql, filling.table)
      if (report.sha256 !== line.end.sha256)
        throw new BackupProblem(`the rows of ${line.end.end} are not the same in this database`)
      reports.push({ ...report, ...inFiles(line.end.in_files_before) })
    }
  }
  return reports
}

function tableIn(tables: readonly Table[], name: string): Table {
  const found = tables.find((table) => table.name === name)
  if (found === undefined) throw new BackupProblem(`this version has no table ${name}`)
  return found
}

/** Fills one table, row by row. */
class Filling {
  readonly table: Table
  readonly #sql: Sql
  readonly #statement: string
  readonly #columns: readonly string[]
  #rows: Row[] = []

  constructor(sql: Sql, table: Table, columns: readonly string[]) {
    this.table = table
    this.#sql = sql
    this.#columns = columns
    const types = columns.map((column) => {
      const type = table.types[table.columns.indexOf(column)]
      if (type === undefined) throw new BackupProblem(`this version has no ${table.name}.${column}`)
      return type
    })
    const names = columns.map(quoted).join(', ')
    const values = types.map((type, index) => `value_${index}::${type}`).join(', ')
    const given = types.map((_, index) => `$${index + 1}::text[]`).join(', ')
    const aliases = types.map((_, index) => `value_${index}`).join(', ')
    this.#statement = `INSERT INTO ${quoted(table.name)} (${names}) SELECT ${values} FROM unnest(${given}) AS given (${aliases})`
  }

  async add(row: Row): Promise<void> {
    if (row.length !== this.#columns.length) throw new BackupProblem(`a row of ${this.table.name} is cut`)
    this.#rows.push(row)
    if (this.#rows.length >= PAGE_ROWS) await this.flush()
  }

  async flush(): Promise<void> {
    const rows = this.#rows
    if (rows.length === 0) return
    this.#rows = []
    await this.#sql.query(
      this.#statement,
      this.#columns.map((_, index) => rows.map((row) => row[index] ?? null)),
    )
  }
}
