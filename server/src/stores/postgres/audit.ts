import type { AuditAction, AuditEntry, AuditLog } from '#ports/audit.ts'
import { keptAction, type AuditChain, type ChainedEntry } from '../audit-chain.ts'
import { reachable } from './away.ts'
import type { Database, Sql } from './database.ts'

/** Any number that nothing else in the database locks by; held until the transaction ends. */
const AUDIT_LOCK = 0x70_72_61_6e

interface AuditRow {
  readonly sequence: bigint
  readonly at: Date
  readonly actor: string
  readonly action: string
  readonly target: string
  readonly detail: Readonly<Record<string, unknown>>
  readonly hash: Buffer
}

interface LastRow {
  readonly at: Date
  readonly sequence: bigint | null
  readonly hash: Buffer | null
}

/**
 * Writes what was done into the audit, in the transaction that does it. Entries are written one at a time, so call it last:
 * the next one waits until this transaction ends, and a lock taken after it could be waited for in a circle.
 */
export async function writeAudit(sql: Sql, chain: AuditChain, action: AuditAction): Promise<void> {
  await sql.query('SELECT pg_advisory_xact_lock($1)', [AUDIT_LOCK])
  // A statement of its own: it must see what was committed while we waited.
  const [row] = await sql.query<LastRow>(
    `SELECT date_trunc('milliseconds', clock_timestamp()) AS at, last.sequence, last.hash
     FROM (SELECT 1) AS one LEFT JOIN (SELECT sequence, hash FROM audit ORDER BY sequence DESC LIMIT 1) AS last ON true`,
  )
  const last = row as LastRow
  const kept = keptAction(action)
  const entry = { ...kept, sequence: (last.sequence ?? 0n) + 1n, atMs: last.at.getTime() }
  const hash = chain.hashOf(last.hash ?? undefined, entry)
  await sql.query(
    'INSERT INTO audit (sequence, at, actor, action, target, detail, hash) VALUES ($1, $2, $3, $4, $5, $6, $7)',
    [entry.sequence, last.at, kept.actor, kept.action, kept.target, JSON.stringify(kept.detail), hash],
  )
}

export class PostgresAudit implements AuditLog {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  async list({ limit, before }: Parameters<AuditLog['list']>[0]): Promise<readonly AuditEntry[]> {
    const rows = await reachable(
      this.#database.query<AuditRow>(
        'SELECT * FROM audit WHERE $1::bigint IS NULL OR sequence < $1 ORDER BY sequence DESC LIMIT $2',
        [before ?? null, limit + 1],
      ),
    )
    return this.#database.auditChain.checkedPage(rows.map(entryOf), limit)
  }
}

function entryOf({ at, ...row }: AuditRow): ChainedEntry {
  return { ...row, atMs: at.getTime() }
}
