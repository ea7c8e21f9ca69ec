/** Migrates the tables of the database to what this program expects, by SQL files that run once and in order. */
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { MIGRATIONS_FOLDER } from '#package/files.ts'
import type { Database, Sql } from './database.ts'

export interface MigrationReport {
  /** The names of the files that ran now. */
  readonly applied: readonly string[]
  /** Versions that a newer program has applied. Migrations only add, so this program still works. */
  readonly unknown: readonly number[]
}

interface Migration {
  readonly version: number
  readonly name: string
  readonly text: string
  readonly sha256: string
}

const FILE_NAME = /^(\d{4})-.+\.sql$/
/** An arbitrary number that no other lock of the database uses, the same on all nodes. */
const LOCK_NUMBER = 7_061_711
/** Time that another node, started at the same moment, may need to finish. */
const WAIT_FOR_NODE_MS = 60_000
/** While a change waits for its table, all requests on the table wait behind it: it is better to give up and start again. */
const WAIT_FOR_TABLE_MS = 5000
/** An index over a large table takes minutes. */
const STATEMENT_MS = 15 * 60_000

interface MigrationOptions {
  readonly folder?: string
  /** Only these versions, as if there were no others. */
  readonly only?: ReadonlySet<number>
}

export async function migrate(
  database: Database,
  { folder = MIGRATIONS_FOLDER, only }: MigrationOptions = {},
): Promise<MigrationReport> {
  const known = readMigrations(folder).filter(({ version }) => only?.has(version) ?? true)
  // The lock belongs to the connection, and ends with it.
  return database.session(async (sql) => {
    await sql.query(`set lock_timeout = ${WAIT_FOR_NODE_MS}`)
    await sql.query(`select pg_advisory_lock(${LOCK_NUMBER})`)
    await sql.query(`set lock_timeout = ${WAIT_FOR_TABLE_MS}`)
    await sql.query(
      `create table if not exists torana_migrations (
        version int primary key, name text not null, sha256 text not null, applied_at timestamptz not null default now()
      )`,
    )
    const rows = await sql.query<{ version: number; name: string; sha256: string }>(
      'select version, name, sha256 from torana_migrations order by version',
    )
    const done = new Map(rows.map((row) => [row.version, row]))
    const pending = known.filter(({ version }) => !done.has(version))
    for (const { version, name, sha256 } of known) {
      const before = done.get(version)
      if (before && before.sha256 !== sha256) throw new Error(changed(name, before.name))
    }
    for (const migration of pending) await apply(sql, migration)
    const versions = new Set(known.map(({ version }) => version))
    return {
      applied: pending.map(({ name }) => name),
      unknown: [...done.keys()].filter((version) => !versions.has(version)),
    }
  }, STATEMENT_MS)
}

interface AppliedMigration {
  readonly version: number
  readonly name: string
  readonly sha256: string
}

/** The migrations applied to the database, in order. */
export async function appliedIn(sql: Sql): Promise<readonly AppliedMigration[]> {
  const [found] = await sql.query<{ has: boolean }>(
    `SELECT to_regclass('torana_migrations') IS NOT NULL AS has`,
  )
  if (found?.has !== true) return []
  return sql.query('SELECT version, name, sha256 FROM torana_migrations ORDER BY version')
}

/** Versions that a newer program has applied. */
export function newerThanThis(applied: readonly AppliedMigration[]): readonly number[] {
  const known = new Set(migrationsKnown().map(({ version }) => version))
  return applied.map(({ version }) => version).filter((version) => !known.has(version))
}

export function migrationsKnown(): readonly AppliedMigration[] {
  return readMigrations(MIGRATIONS_FOLDER)
}

/** The names of all tables that migrations ever created, without those that a crash empties. */
export function tablesMade(): readonly string[] {
  return readMigrations(MIGRATIONS_FOLDER).flatMap(({ text }) =>
    Array.from(text.matchAll(/^CREATE TABLE (\w+) \(/gm), ([, name = '']) => name),
  )
}

async function apply(sql: Sql, { version, name, text, sha256 }: Migration): Promise<void> {
  await sql.query('begin')
  try {
    await sql.query(text)
    await sql.query('insert into torana_migrations (version, name, sha256) values ($1, $2, $3)', [
      version,
      name,
      sha256,
    ])
    await sql.query('commit')
  } catch (cause) {
    // The connection closes next, and rolls the open transaction back.
    throw new Error(`migration ${name} failed: ${cause instanceof Error ? cause.message : String(cause)}`, {
      cause,
    })
  }
}

function readMigrations(folder: string): readonly Migration[] {
  const migrations = readdirSync(folder)
    .filter((name) => FILE_NAME.test(name))
    .sort()
    .map((name) => {
      const text = readFileSync(join(folder, name), 'utf8')
      const sha256 = createHash('sha256').update(text).digest('hex')
      return { version: Number(FILE_NAME.exec(name)?.[1]), name, text, sha256 }
    })
  for (const [index, { version, name }] of migrations.entries()) {
    const next = migrations[index + 1]
    if (next?.version === version) throw new Error(`migrations ${name} and ${next.name} have the same number`)
  }
  return migrations
}

function changed(name: string, nameBefore: string): string {
  const file = name === nameBefore ? name : `${name} (then ${nameBefore})`
  return `migration ${file} was changed after it had been applied: restore it, and put the change into a new file`
}
