/** Partitions of the ledger (one per month) and of the request log (one per day), created ahead of time. */
import { DatabaseError } from 'pg'
import { windowOf } from '#core/money/budget.ts'
import type { PartitionsMade } from '#ports/upkeep.ts'
import type { Database, Sql } from '../database.ts'
import { DAY_MS, lowestIdAt } from './upkeep-ids.ts'

/** Current rows need one partition; the others give time to notice that they could not be created. */
const PARTITIONED = [
  { table: 'usage_events', per: 'month', ahead: 2 },
  { table: 'requests', per: 'day', ahead: 3 },
] as const

/** While we wait for a table, all its writers wait behind us; they would go to the spool after two seconds. */
const LOCK_TIMEOUT_MS = 1000
/** Nodes that start together create them one after another. An arbitrary number that no other lock of the database uses. */
const PARTITION_LOCK = 0x70_61_72_74

const CHECK_VIOLATION = '23514'
const LOCK_NOT_AVAILABLE = '55P03'

export async function makePartitions(database: Database, nowMs: number): Promise<PartitionsMade> {
  const present = new Set(await partitionsOf(database, ['usage_events', 'requests']))
  const made: string[] = []
  const missing: PartitionsMade['missing'][number][] = []
  for (const { name, table, startMs, endMs } of partitionsDue(nowMs)) {
    if (present.has(name)) continue
    const range = `FROM ('${lowestIdAt(startMs)}') TO ('${lowestIdAt(endMs)}')`
    const statement = `CREATE TABLE IF NOT EXISTS ${name} PARTITION OF ${table} FOR VALUES ${range}`
    const reason = await changePartition(database, statement)
    if (reason === undefined) made.push(name)
    else missing.push({ partition: name, reason })
  }
  return { made, missing }
}

/** Drops days of the request log that ended before a moment. Days in use are left for the next time. */
export async function dropRequestDays(database: Database, beforeMs: number): Promise<string[]> {
  const dropped: string[] = []
  for (const name of await partitionsOf(database, ['requests'])) {
    const [, year, month, day] = /^requests_(\d{4})_(\d{2})_(\d{2})$/.exec(name) ?? []
    if (day === undefined || Date.UTC(Number(year), Number(month) - 1, Number(day)) + DAY_MS > beforeMs)
      continue
    if ((await changePartition(database, `DROP TABLE IF EXISTS ${name}`)) === undefined) dropped.push(name)
  }
  return dropped
}

function partitionsDue(nowMs: number) {
  return PARTITIONED.flatMap(({ table, per, ahead }) => {
    const windows = [windowOf(per, nowMs)]
    for (let more = 0; more < ahead; more += 1)
      windows.push(windowOf(per, (windows.at(-1) ?? { endMs: nowMs }).endMs))
    return windows.map((window) => {
      const day = new Date(window.startMs).toISOString().slice(0, per === 'month' ? 7 : 10)
      return { ...window, table, name: `${table}_${day.replaceAll('-', '_')}` }
    })
  })
}

async function partitionsOf(sql: Sql, tables: readonly string[]): Promise<string[]> {
  const rows = await sql.query<{ name: string }>(
    `SELECT child.relname::text AS name FROM pg_inherits JOIN pg_class AS child ON child.oid = inhrelid
     WHERE inhparent = ANY ($1::regclass[]) ORDER BY 1`,
    [tables],
  )
  return rows.map(({ name }) => name)
}

/** The reason why it could not be done now; undefined when it was done. */
async function changePartition(
  database: Database,
  statement: string,
): Promise<'rows in the way' | 'busy' | undefined> {
  try {
    await database.transaction(async (sql) => {
      await sql.query('SELECT pg_advisory_xact_lock($1)', [PARTITION_LOCK])
      await sql.query(`SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS}`)
      await sql.query(statement)
    })
    return undefined
  } catch (error) {
    const code = error instanceof DatabaseError ? error.code : undefined
    if (code === CHECK_VIOLATION) return 'rows in the way'
    if (code === LOCK_NOT_AVAILABLE) return 'busy'
    throw error
  }
}
