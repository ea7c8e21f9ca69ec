/**
 * Partitions, created ahead of time: one per day of the request log, one per month of hourly sums, and one per month of the ledger that
 * has one per day below it.
 */
import { DatabaseError } from 'pg'
import { windowOf } from '#core/money/budget.ts'
import type { PartitionsMade } from '#ports/upkeep.ts'
import type { Database, Sql } from '../database.ts'
import { fold, lockDays, rollUpDays } from './roll-up.ts'
import { DAY_MS, lowestIdAt } from '#core/money/id-range.ts'

/**
 * Current rows need one partition; the others give time to notice that they could not be created. A month of the ledger has a
 * partition for each of its days: more of them than one ahead take most of the time of a first start.
 */
const PARTITIONED = [
  { table: 'usage_events', per: 'month', ahead: 1 },
  { table: 'usage_hours', per: 'month', ahead: 2 },
  { table: 'usage_label_hours', per: 'month', ahead: 2 },
  { table: 'requests', per: 'day', ahead: 3 },
] as const

interface Partition {
  readonly table: (typeof PARTITIONED)[number]['table']
  readonly name: string
  readonly startMs: number
  readonly endMs: number
}

/** While we wait for a table, all its writers wait behind us; they would go to the spool after two seconds. */
const LOCK_TIMEOUT_MS = 1000
/** Nodes that start together create them one after another. An arbitrary number that no other lock of the database uses. */
const PARTITION_LOCK = 0x70_61_72_74

const CHECK_VIOLATION = '23514'
const LOCK_NOT_AVAILABLE = '55P03'

export async function makePartitions(database: Database, nowMs: number): Promise<PartitionsMade> {
  const present = await partitionsOf(
    database,
    PARTITIONED.map(({ table }) => table),
  )
  const names = new Set(present.map(({ name }) => name))
  const made: string[] = []
  const missing: PartitionsMade['missing'][number][] = []
  for (const partition of partitionsDue(nowMs)) {
    const { name } = partition
    if (names.has(name)) continue
    const reason = await changePartition(database, (sql) => create(sql, partition))
    if (reason === undefined) made.push(name)
    else missing.push({ partition: name, reason })
  }
  return { made, missing }
}

async function create(sql: Sql, partition: Partition): Promise<void> {
  const { name, table, startMs, endMs } = partition
  if (table === 'requests')
    return run(sql, `CREATE TABLE IF NOT EXISTS ${name} PARTITION OF ${table} ${idRange(startMs, endMs)}`)
  const [found] = await sql.query<{ has: boolean }>('SELECT to_regclass($1) IS NOT NULL AS has', [name])
  if (found?.has === true) return
  // Complete before it is attached: the table is not locked meanwhile.
  if (table === 'usage_events') await createDays(sql, partition)
  else await createHours(sql, partition)
}

async function createDays(sql: Sql, { name, table, startMs, endMs }: Partition): Promise<void> {
  const like = `LIKE ${table} INCLUDING DEFAULTS INCLUDING CONSTRAINTS`
  await run(sql, `CREATE TABLE ${name} (${like}) PARTITION BY RANGE (request_id)`)
  for (let dayMs = startMs; dayMs < endMs; dayMs += DAY_MS) {
    const day = `${name}_${new Date(dayMs).toISOString().slice(8, 10)}`
    await run(sql, `CREATE TABLE ${day} PARTITION OF ${name} ${idRange(dayMs, dayMs + DAY_MS)}`)
  }
  await run(sql, `ALTER TABLE ${table} ATTACH PARTITION ${name} ${idRange(startMs, endMs)}`)
}

/** With the hours that arrived before it: unlike entries, sums may be moved. */
async function createHours(sql: Sql, { name, table, startMs, endMs }: Partition): Promise<void> {
  const [from, to] = [new Date(startMs).toISOString(), new Date(endMs).toISOString()]
  await run(sql, `CREATE TABLE ${name} (LIKE ${table} INCLUDING DEFAULTS) WITH (fillfactor = 50)`)
  await run(sql, `LOCK TABLE ${table}_rest IN ACCESS EXCLUSIVE MODE`)
  await run(
    sql,
    `WITH moved AS (DELETE FROM ${table}_rest WHERE hour >= '${from}' AND hour < '${to}' RETURNING *)
     INSERT INTO ${name} SELECT * FROM moved`,
  )
  await run(sql, `ALTER TABLE ${table} ATTACH PARTITION ${name} FOR VALUES FROM ('${from}') TO ('${to}')`)
}

function idRange(startMs: number, endMs: number): string {
  return `FOR VALUES FROM ('${lowestIdAt(startMs)}') TO ('${lowestIdAt(endMs)}')`
}

async function run(sql: Sql, statement: string): Promise<void> {
  await sql.query(statement)
}

/**
 * Drops days of the request log that ended before a moment, the oldest first and at most some of them. Days in use are left for the
 * next time.
 */
export async function dropRequestDays(
  database: Database,
  beforeMs: number,
  limit: number,
): Promise<string[]> {
  const dropped: string[] = []
  for (const { name } of await partitionsOf(database, ['requests'])) {
    if (dropped.length === limit) break
    const [, year, month, day] = /^requests_(\d{4})_(\d{2})_(\d{2})$/.exec(name) ?? []
    if (day === undefined || Date.UTC(Number(year), Number(month) - 1, Number(day)) + DAY_MS > beforeMs)
      continue
    const reason = await changePartition(database, (sql) => run(sql, `DROP TABLE IF EXISTS ${name}`))
    if (reason === undefined) dropped.push(name)
  }
  return dropped
}

/**
 * Drops the oldest month of hourly sums, if it ended before a moment and its days are final. Corrections that the days do not contain
 * yet are added to them first, while no one can write others.
 */
export async function dropHours(database: Database, beforeMs: number): Promise<string[]> {
  const [seal] = await database.query<{ days_ms: number; kept_ms: number; earlier: boolean }>(
    `SELECT (extract(epoch FROM days_through) * 1000)::float8 AS days_ms,
       (extract(epoch FROM hours_kept_from) * 1000)::float8 AS kept_ms,
       EXISTS (SELECT FROM nodes WHERE NOT seals) AS earlier FROM ledger_seal`,
  )
  if (seal === undefined || seal.earlier) return []
  for (const { name, end_ms: endMs } of await partitionsOf(database, ['usage_hours'])) {
    if (endMs === null || endMs > Math.min(beforeMs, seal.days_ms)) continue
    const labels = name.replace('usage_hours', 'usage_label_hours')
    const reason = await changePartition(database, async (sql) => {
      await lockDays(sql)
      await sql.query('LOCK TABLE usage_label_hours, usage_hours IN ACCESS EXCLUSIVE MODE')
      await fold(sql, seal.kept_ms)
      const late = await sql.query<{ day: Date }>(LATE_DAYS, [new Date(endMs)])
      for (const { day } of late) await rollUpDays(sql, day, new Date(day.getTime() + DAY_MS))
      await sql.query(`DROP TABLE ${name}, ${labels}`)
      // Hours of before the first partition.
      await sql.query('DELETE FROM usage_hours_rest WHERE hour < $1', [new Date(endMs)])
      await sql.query('DELETE FROM usage_label_hours_rest WHERE hour < $1', [new Date(endMs)])
      await sql.query('UPDATE ledger_seal SET hours_kept_from = $1', [new Date(endMs)])
    })
    return reason === undefined ? [name, labels] : []
  }
  return []
}

/** Days before $1 that still have hours, and corrections that are not among their sums. */
const LATE_DAYS = `
SELECT DISTINCT date_trunc('day', hour, 'UTC') AS day FROM ledger_corrections
WHERE NOT in_day AND hour < $1 AND hour >= (SELECT hours_kept_from FROM ledger_seal)`

function partitionsDue(nowMs: number): readonly Partition[] {
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

interface PartitionRow {
  readonly name: string
  /** Where it ends, if it ends by time. */
  readonly end_ms: number | null
}

async function partitionsOf(sql: Sql, tables: readonly string[]): Promise<readonly PartitionRow[]> {
  return sql.query<PartitionRow>(
    `SELECT child.relname::text AS name, CASE WHEN parent.relname ~ '_hours$' THEN
       (extract(epoch FROM substring(pg_get_expr(child.relpartbound, child.oid) FROM $to$ TO \\('([^']+)'$to$)::timestamptz)
         * 1000)::float8 END AS end_ms
     FROM pg_inherits JOIN pg_class AS child ON child.oid = inhrelid JOIN pg_class AS parent ON parent.oid = inhparent
     WHERE inhparent = ANY ($1::regclass[]) ORDER BY array_position($2::text[], parent.relname::text), 2, 1`,
    [tables, tables],
  )
}

/** The reason why it could not be done now; undefined when it was done. */
export async function changePartition(
  database: Database,
  work: (sql: Sql) => Promise<void>,
): Promise<'rows in the way' | 'busy' | undefined> {
  try {
    await database.transaction(async (sql) => {
      await sql.query('SELECT pg_advisory_xact_lock($1)', [PARTITION_LOCK])
      await sql.query(`SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS}`)
      await work(sql)
    })
    return undefined
  } catch (error) {
    const code = error instanceof DatabaseError ? error.code : undefined
    if (code === CHECK_VIOLATION) return 'rows in the way'
    if (code === LOCK_NOT_AVAILABLE) return 'busy'
    throw error
  }
}
