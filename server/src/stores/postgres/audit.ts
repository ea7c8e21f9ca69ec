import type { AuditAction, AuditChainState, AuditEntry, AuditLog, AuditPage } from '#ports/audit.ts'
import type { Clock } from '#ports/clock.ts'
import { keptAction, type AuditChain, type ChainedEntry } from '../audit-chain.ts'
import { VerifiedChain } from '../verified-chain.ts'
import { reachable } from './unreachable.ts'
import type { Database, Sql, Transaction } from './database.ts'

/** An arbitrary number that no other lock of the database uses; held until the transaction ends. */
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
 * Writes an action into the audit, in the transaction that does it. Entries are written one at a time, so call it last: the next
 * entry waits until this transaction ends, and a lock taken after it could cause a deadlock.
 */
export async function writeAudit(sql: Transaction, chain: AuditChain, action: AuditAction): Promise<void> {
  await sql.query('SELECT pg_advisory_xact_lock($1)', [AUDIT_LOCK])
  // A separate statement: it must see what was committed during the wait for the lock.
  const [row] = await sql.query<LastRow>(
    `SELECT date_trunc('milliseconds', clock_timestamp()) AS at, last.sequence, last.hash
     FROM (SELECT 1) AS one LEFT JOIN (SELECT sequence, hash FROM audit ORDER BY sequence DESC LIMIT 1) AS last ON true`,
  )
  const last = row as LastRow
  const kept = keptAction(action)
  const entry = { ...kept, sequence: (last.sequence ?? 0n) + 1n, atMs: last.at.getTime() }
  const before = last.hash ?? undefined
  const hash = chain.hashOf(before, entry)
  await sql.query(
    'INSERT INTO audit (sequence, at, actor, action, target, detail, hash) VALUES ($1, $2, $3, $4, $5, $6, $7)',
    [entry.sequence, last.at, kept.actor, kept.action, kept.target, JSON.stringify(kept.detail), hash],
  )
  sql.onCommit(() => chain.committed({ ...entry, hash }, before))
}

/** A change with its audit entries, or not at all. */
export interface AuditedChange<Result> {
  readonly result: Result
  readonly audit: readonly AuditAction[]
}

/** Runs one change and writes its audit entries, in one transaction. */
export function changeAudited<Result>(
  database: Database,
  change: (sql: Sql) => Promise<AuditedChange<Result>>,
): Promise<Result> {
  return reachable(
    database.transaction(async (sql) => {
      const { result, audit } = await change(sql)
      for (const action of audit) await writeAudit(sql, database.auditChain, action)
      return result
    }),
  )
}

/** Each entry with the stored hash of the one before, by which it is checked. */
const LIST = `
  SELECT audit.*, before.hash AS before_hash
  FROM audit LEFT JOIN audit AS before ON before.sequence = audit.sequence - 1
  WHERE ($1::bigint IS NULL OR audit.sequence < $1) AND ($2::text IS NULL OR audit.actor = $2)
    AND ($3::text IS NULL OR audit.action = $3) AND ($4::text IS NULL OR audit.target = $4)
    AND ($5::timestamptz IS NULL OR audit.at >= $5) AND ($6::timestamptz IS NULL OR audit.at < $6)
  ORDER BY audit.sequence DESC LIMIT $7`

const FROM = 'SELECT * FROM audit WHERE sequence >= $1 ORDER BY sequence LIMIT $2'

const LAST_DIGEST = `
  SELECT detail ->> 'digest' AS digest FROM audit WHERE action = $1 AND target = $2 ORDER BY sequence DESC LIMIT 1`

export class PostgresAudit implements AuditLog {
  readonly #database: Database
  readonly #verified: VerifiedChain

  constructor(database: Database, clock: Clock) {
    this.#database = database
    this.#verified = new VerifiedChain(clock, async (from, limit) => {
      const rows = await reachable(this.#database.query<AuditRow>(FROM, [from, limit]))
      return rows.map(entryOf)
    })
  }

  async list({
    limit,
    before,
    actor,
    action,
    target,
    fromMs,
    toMs,
  }: AuditPage): Promise<readonly AuditEntry[]> {
    const rows = await reachable(
      this.#database.query<AuditRow & { readonly before_hash: Buffer | null }>(LIST, [
        before ?? null,
        actor ?? null,
        action ?? null,
        target ?? null,
        momentOf(fromMs),
        momentOf(toMs),
        limit,
      ]),
    )
    const { auditChain } = this.#database
    const entries = rows.map(({ before_hash: hash, ...row }) =>
      auditChain.checked(entryOf(row), hash ?? undefined),
    )
    for (const { sequence, intact } of entries) if (!intact) this.#verified.found(sequence)
    return entries
  }

  async chain(): Promise<AuditChainState> {
    const verified = await this.#verified.verify(this.#database.auditChain)
    const [row] = await reachable(
      this.#database.query<{ last: bigint | null }>('SELECT max(sequence) AS last FROM audit'),
    )
    return { entries: Number(row?.last ?? 0n), ...verified }
  }

  appendNews(action: Parameters<AuditLog['appendNews']>[0]): Promise<void> {
    return reachable(
      this.#database.transaction(async (sql) => {
        // The same lock as the entry's own: two nodes that report the same come one after another.
        await sql.query('SELECT pg_advisory_xact_lock($1)', [AUDIT_LOCK])
        const [last] = await sql.query<{ digest: string | null }>(LAST_DIGEST, [action.action, action.target])
        if (last?.digest !== action.detail.digest) await writeAudit(sql, this.#database.auditChain, action)
      }),
    )
  }
}

function momentOf(unixMs: number | undefined): Date | null {
  return unixMs === undefined ? null : new Date(unixMs)
}

function entryOf({ at, ...row }: AuditRow): ChainedEntry {
  return { ...row, atMs: at.getTime() }
}
