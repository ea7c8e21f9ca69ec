/** Nodes of the installation, and what the doctor asks PostgreSQL. */
import { z } from 'zod'
import type { Actor } from '#ports/audit.ts'
import type { NodeSetup } from '#ports/node-setup.ts'
import { SILENT_AFTER_MS } from '#ports/upkeep.ts'
import { writeAudit } from '#stores/postgres/audit.ts'
import type { Database, Sql } from '#stores/postgres/database.ts'
import { BRING_HOME, LOCK_BUDGETS } from '#stores/postgres/ledger/ledger-sql.ts'
import { missingObjects } from '#stores/postgres/schema.ts'
import { lowestIdAt } from '#core/money/id-range.ts'
import { IS_OF_CALLERS } from '../shared/request-conditions.ts'
import { time, usd } from '../shared/fields.ts'
import { answersOf } from '../shared/rows.ts'

export const node = z
  .object({
    id: z.string(),
    host: z.string(),
    version: z.string(),
    role: z.string().describe('What the node does: `all`, `gateway`, `control` or `worker`.'),
    state: z.enum(['alive', 'silent', 'ended']).describe('`silent`: not seen for a minute, but not ended.'),
    started_at: time,
    seen_at: time,
    ended_at: time.nullable(),
    leased_usd: usd.describe('Part of the hard budgets that the node has leased.'),
    now: z
      .object({
        loop_busy: z.number().describe('0 to 1: the share of time in which its event loop was busy.'),
        spool_waiting: z.int().describe('Usage records that wait on its disk for PostgreSQL.'),
        calls_under_way: z.int(),
      })
      .nullable()
      .describe('What it reported in the last seconds. null: nothing.'),
  })
  .meta({ id: 'Node' })

export interface ListedNode extends Omit<z.output<typeof node>, 'now'> {
  /** Null when the node has not reported any, or is of an earlier version. */
  readonly setup: NodeSetup | null
  /** Lead of its machine's clock over the database's. Null: it has not reported any. */
  readonly clock_skew_ms: number | null
}

/** Length of the list. Live nodes come first, so that a week of restarts does not hide them. */
const MAX_LISTED = 500

const STATE = `CASE WHEN ended_at IS NOT NULL THEN 'ended'
  WHEN seen_at < now() - interval '${SILENT_AFTER_MS} milliseconds' THEN 'silent' ELSE 'alive' END`

const LIST = `
SELECT node_id AS id, host, version, role, ${STATE} AS state, started_at, seen_at, ended_at,
  coalesce(held.leased_nano, 0)::bigint AS leased_nano, setup, clock_skew_ms
FROM nodes LEFT JOIN (
  SELECT node_id, sum(amount_nano) AS leased_nano FROM leases GROUP BY node_id
) AS held USING (node_id)
ORDER BY ended_at IS NOT NULL, started_at DESC, node_id LIMIT ${MAX_LISTED}`

/** Nodes that have not ended, and those that ended in the last days; newest first. */
export function listNodes(sql: Sql): Promise<ListedNode[]> {
  return answersOf<ListedNode>(sql, LIST)
}

export type NodeEnding =
  | { readonly kind: 'ended'; readonly returnedNanoUsd: bigint }
  | { readonly kind: 'missing' | 'alive' | 'ended-before' }

/**
 * An operator declares that the machine of a node is gone: its leases are returned, and nothing more is accepted in its
 * name. What its journal held is lost with it. A node seen within `SILENT_AFTER_MS` is refused as `alive` unless forced,
 * because it would have to stop. The audit entry is written in the same transaction.
 */
export function endNode(
  database: Database,
  nodeId: string,
  { force, actor }: { readonly force: boolean; readonly actor: Actor },
): Promise<NodeEnding> {
  return database.transaction(async (sql) => {
    // Waits for a batch of that node that is being written; a later one finds the node ended.
    const [found] = await sql.query<{ state: ListedNode['state']; host: string; seen_at: Date }>(
      `SELECT ${STATE} AS state, host, seen_at FROM nodes WHERE node_id = $1 FOR UPDATE`,
      [nodeId],
    )
    if (found === undefined) return { kind: 'missing' }
    if (found.state === 'ended') return { kind: 'ended-before' }
    if (found.state === 'alive' && !force) return { kind: 'alive' }
    await sql.query(LOCK_BUDGETS, [nodeId, []])
    const [held] = await sql.query<{ nano: bigint }>(
      'SELECT coalesce(sum(amount_nano), 0)::bigint AS nano FROM leases WHERE node_id = $1',
      [nodeId],
    )
    const returnedNanoUsd = held?.nano ?? 0n
    await sql.query(BRING_HOME, [nodeId])
    await sql.query('UPDATE nodes SET ended_at = now() WHERE node_id = $1', [nodeId])
    const seenAt = found.seen_at.toISOString()
    await writeAudit(sql, database.auditChain, {
      actor,
      action: 'node.end',
      target: nodeId,
      detail: { host: found.host, seenAt, force, returnedNanoUsd: String(returnedNanoUsd) },
    })
    return { kind: 'ended', returnedNanoUsd }
  })
}

interface ServerSettings {
  /** Whether commits reach the disk at all. */
  readonly fsync: boolean
  /** Without it a crash in the middle of a page leaves a page that no recovery repairs. */
  readonly full_page_writes: boolean
  /** `off`: the server acknowledges commits of the ledger that a crash can still lose. */
  readonly synchronous_commit: string
  /** Open to ordinary users. */
  readonly max_connections: number
  /** Whether it vacuums tables that have no setting of their own. */
  readonly autovacuum: boolean
}

/** `current_setting` answers for this session: a database or a role may have a value of its own. */
const SETTINGS = `
SELECT current_setting('fsync') = 'on' AS fsync, current_setting('full_page_writes') = 'on' AS full_page_writes,
  current_setting('synchronous_commit') AS synchronous_commit,
  current_setting('autovacuum') = 'on' AND current_setting('track_counts') = 'on' AS autovacuum,
  current_setting('max_connections')::integer - current_setting('superuser_reserved_connections')::integer
    - coalesce(current_setting('reserved_connections', true), '0')::integer AS max_connections`

async function serverSettings(sql: Sql): Promise<ServerSettings> {
  const [settings] = await sql.query<ServerSettings>(SETTINGS)
  if (settings === undefined) throw new Error('PostgreSQL gave no settings')
  return settings
}

interface ServerFigures extends ServerSettings {
  /** Open for longer than `LONG_TRANSACTION_SECONDS`. */
  readonly open: OpenTransactions
  readonly slots: readonly IdleSlot[]
  /** Tables with autovacuum turned off. */
  readonly unvacuumed: readonly string[]
}

/** Age at which a transaction is reported: ours end within seconds, and vacuum and sealing bear a minute. */
const LONG_TRANSACTION_SECONDS = 60

async function serverFigures(sql: Sql): Promise<ServerFigures> {
  return {
    ...(await serverSettings(sql)),
    open: await openTransactions(sql, LONG_TRANSACTION_SECONDS),
    slots: await idleSlots(sql),
    unvacuumed: await tablesWithoutVacuum(sql),
  }
}

interface OpenTransaction {
  readonly pid: number
  /** What the session calls itself. Empty: nothing. */
  readonly application: string
  /** Whether it waits for its client, with the transaction open. */
  readonly is_idle: boolean
  readonly seconds: number
}

interface OpenTransactions {
  /** The oldest first, at most `MAX_FOUND`. */
  readonly transactions: readonly OpenTransaction[]
  /** Sessions of other roles, whose transactions PostgreSQL does not show to this one. */
  readonly hidden: number
}

/** Bound of the lists of the doctor: more of a kind need the same action. */
const MAX_FOUND = 20

/** Dumps keep a transaction open for as long as they read. */
const OPEN_TRANSACTIONS = `
SELECT pid, application_name AS application, state LIKE 'idle in transaction%' AS is_idle,
  extract(epoch FROM clock_timestamp() - xact_start)::float8 AS seconds
FROM pg_stat_activity
WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid()
  AND application_name NOT IN ('pg_dump', 'torana backup')
  AND xact_start < clock_timestamp() - make_interval(secs => $1)
ORDER BY xact_start LIMIT ${MAX_FOUND}`

const HIDDEN_SESSIONS = `
SELECT count(*)::integer AS hidden FROM pg_stat_activity
WHERE datname = current_database() AND query = '<insufficient privilege>'`

/** Transactions that have been open for longer than this. */
async function openTransactions(sql: Sql, forSeconds: number): Promise<OpenTransactions> {
  const transactions = await sql.query<OpenTransaction>(OPEN_TRANSACTIONS, [forSeconds])
  const [row] = await sql.query<{ hidden: number }>(HIDDEN_SESSIONS)
  return { transactions, hidden: row?.hidden ?? 0 }
}

interface IdleSlot {
  readonly name: string
  /** WAL that the server keeps for it. */
  readonly bytes: bigint
}

/** A slot without a position keeps no WAL. */
const IDLE_SLOTS = `
SELECT slot_name::text AS name, greatest(pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn), 0)::bigint AS bytes
FROM pg_replication_slots WHERE NOT active AND restart_lsn IS NOT NULL AND wal_status IS DISTINCT FROM 'lost'
ORDER BY bytes DESC LIMIT ${MAX_FOUND}`

function idleSlots(sql: Sql): Promise<readonly IdleSlot[]> {
  return sql.query<IdleSlot>(IDLE_SLOTS)
}

const TABLES_WITHOUT_VACUUM = `
SELECT relname::text AS name FROM pg_class, pg_options_to_table(reloptions)
WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r'
  AND option_name = 'autovacuum_enabled' AND NOT option_value::boolean
ORDER BY name LIMIT ${MAX_FOUND}`

/** Tables for which autovacuum is turned off. */
async function tablesWithoutVacuum(sql: Sql): Promise<readonly string[]> {
  const rows = await sql.query<{ name: string }>(TABLES_WITHOUT_VACUUM)
  return rows.map(({ name }) => name)
}

interface NewestRequests {
  readonly requests: number
  /** Requests that failed through no mistake of the caller (status 500 and above), by fault, the most frequent first. */
  readonly failures: readonly { readonly fault: string; readonly requests: number }[]
}

const NEWEST_MS = 15 * 60_000
/** Requests that are read: enough for a share, and read in milliseconds at any rate. */
const MAX_NEWEST = 1000

const NEWEST = `
SELECT CASE WHEN status >= 500 THEN coalesce(fault, 'status ' || status) END AS fault, count(*)::integer AS requests
FROM (
  SELECT status, fault FROM requests WHERE request_id >= $1 AND ${IS_OF_CALLERS} ORDER BY request_id DESC LIMIT ${MAX_NEWEST}
) AS newest GROUP BY 1 ORDER BY requests DESC, fault`

/** How the newest requests of the last 15 minutes ended. */
async function newestRequests(sql: Sql, nowMs: number): Promise<NewestRequests> {
  const since = lowestIdAt(nowMs - NEWEST_MS)
  const rows = await sql.query<{ fault: string | null; requests: number }>(NEWEST, [since])
  return {
    requests: rows.reduce((sum, { requests }) => sum + requests, 0),
    failures: rows.flatMap(({ fault, requests }) => (fault === null ? [] : [{ fault, requests }])),
  }
}

export interface InstallFigures {
  readonly nodes: readonly ListedNode[]
  /** Undefined: the database runs inside the process. */
  readonly server: ServerFigures | undefined
  /** Definitions of the objects that the schema lacks. Undefined: a newer version of Torana has changed it. */
  readonly missing: readonly string[] | undefined
  readonly newest: NewestRequests
}

/** The database inside the process has no server whose settings an operator could change. */
export async function installFigures(
  sql: Sql,
  { isServer, nowMs }: { readonly isServer: boolean; readonly nowMs: number },
): Promise<InstallFigures> {
  return {
    nodes: await listNodes(sql),
    server: isServer ? await serverFigures(sql) : undefined,
    missing: await missingObjects(sql),
    newest: await newestRequests(sql, nowMs),
  }
}

/** Days before today of which the request log must be whole: a week, in which its requests are still looked for. */
const LOG_DAYS = 7

const LOST_LOG_DAYS = `
SELECT day::text AS day FROM (
  SELECT (now() AT TIME ZONE 'UTC')::date - ago AS day FROM generate_series(0, ${LOG_DAYS}) AS ago
) AS days CROSS JOIN LATERAL (
  SELECT day::timestamp AT TIME ZONE 'UTC' AS starts_at, (day + 1)::timestamp AT TIME ZONE 'UTC' AS ends_at
) AS span CROSS JOIN LATERAL (
  SELECT lpad(to_hex((extract(epoch FROM starts_at) * 1000)::bigint), 12, '0') || repeat('0', 20) AS first_id,
    lpad(to_hex((extract(epoch FROM ends_at) * 1000)::bigint), 12, '0') || repeat('0', 20) AS end_id
) AS ids
WHERE to_regclass('requests_' || to_char(day, 'YYYY_MM_DD')) IS NULL
  AND EXISTS (SELECT FROM usage_hours WHERE hour >= starts_at AND hour < ends_at AND requests > 0)
  AND NOT EXISTS (SELECT FROM requests_rest WHERE request_id >= first_id::uuid AND request_id < end_id::uuid)
ORDER BY day`

/** Days of the last week with requests whose part of the request log is gone. */
export async function lostLogDays(sql: Sql): Promise<readonly string[]> {
  return (await sql.query<{ day: string }>(LOST_LOG_DAYS)).map(({ day }) => day)
}
