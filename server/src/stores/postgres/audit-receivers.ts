import type {
  AfterHold,
  AuditReceivers,
  HeldReceiver,
  ReceiverState,
  SentEntry,
} from '#ports/audit-receivers.ts'
import { HASH_BYTES } from '../audit-chain.ts'
import { entryOf, type AuditRow } from './audit.ts'
import type { Database } from './database.ts'
import { reachable } from './unreachable.ts'

const LAST = `
(SELECT 0) AS one LEFT JOIN (
  SELECT sequence, substring(hash FOR ${HASH_BYTES}) AS hash FROM audit ORDER BY sequence DESC LIMIT 1
) AS last ON true`

/** A receiver that is added here is taken the next time. Those that other nodes are taking at this moment are skipped. */
const TAKE_DUE = `
WITH asked AS (
  SELECT * FROM unnest($1::text[], $2::bigint[]) AS asked (receiver_id, hold_ms)
), added AS (
  INSERT INTO audit_receivers (receiver_id) SELECT receiver_id FROM asked ON CONFLICT DO NOTHING
), due AS MATERIALIZED (
  SELECT receiver_id, hold_ms, sent_through = 0 OR EXISTS (
    SELECT 1 FROM audit WHERE sequence = sent_through AND substring(hash FOR ${HASH_BYTES}) = sent_hash
  ) AS is_kept
  FROM audit_receivers JOIN asked USING (receiver_id)
  WHERE held_until <= now() AND next_at <= now() AND (sent_through, sent_hash) IS DISTINCT FROM
    (SELECT (coalesce(last.sequence, 0), last.hash) FROM ${LAST})
  ORDER BY receiver_id LIMIT $3 FOR UPDATE OF audit_receivers SKIP LOCKED
)
UPDATE audit_receivers AS receivers
SET holds = holds + 1, held_until = now() + hold_ms * interval '1 ms',
  sent_through = CASE WHEN is_kept THEN sent_through ELSE 0 END,
  sent_hash = CASE WHEN is_kept THEN sent_hash END
FROM due WHERE receivers.receiver_id = due.receiver_id
RETURNING receivers.receiver_id, sent_through, failures, holds, is_kept`

/** Each entry with the stored hash of the one before, by which it is checked. */
const UNSENT = `
SELECT audit.*, before.hash AS before_hash
FROM audit LEFT JOIN audit AS before ON before.sequence = audit.sequence - 1
WHERE audit.sequence > $1 ORDER BY audit.sequence LIMIT $2`

const TRIED = `
UPDATE audit_receivers
SET held_until = now(), next_at = now() + $6 * interval '1 ms', problem = $5,
  sent_through = coalesce($3, sent_through), sent_hash = coalesce($4, sent_hash),
  failures = CASE WHEN $5::text IS NULL THEN 0 WHEN $3::bigint IS NULL THEN failures + 1 ELSE 1 END
WHERE receiver_id = $1 AND holds = $2`

const STATES = `
SELECT asked.receiver_id, greatest(coalesce(last.sequence, 0) - coalesce(sent_through, 0), 0) AS unsent, problem,
  (SELECT at FROM audit WHERE sequence > coalesce(sent_through, 0) ORDER BY sequence LIMIT 1) AS since
FROM unnest($1::text[]) WITH ORDINALITY AS asked (receiver_id, place)
LEFT JOIN audit_receivers USING (receiver_id) CROSS JOIN ${LAST}
ORDER BY place`

interface HeldRow {
  readonly receiver_id: string
  readonly sent_through: bigint
  readonly failures: number
  readonly holds: bigint
  readonly is_kept: boolean
}

interface StateRow {
  readonly receiver_id: string
  readonly unsent: bigint
  readonly problem: string | null
  readonly since: Date | null
}

export class PostgresAuditReceivers implements AuditReceivers {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  async due(
    receivers: readonly { readonly id: string; readonly holdMs: number }[],
    limit: number,
  ): Promise<readonly HeldReceiver[]> {
    if (receivers.length === 0) return []
    const values = [receivers.map(({ id }) => id), receivers.map(({ holdMs }) => holdMs), limit]
    const rows = await reachable(this.#database.query<HeldRow>(TAKE_DUE, values, 'audit-due'))
    return rows.map(({ receiver_id, sent_through, failures, holds, is_kept }) => ({
      id: receiver_id,
      sentThrough: sent_through,
      failures,
      hold: holds,
      isStartedOver: !is_kept,
    }))
  }

  async unsent({ sentThrough }: HeldReceiver, limit: number): Promise<readonly SentEntry[]> {
    const rows = await reachable(
      this.#database.query<AuditRow & { readonly before_hash: Buffer | null }>(UNSENT, [sentThrough, limit]),
    )
    const { auditChain } = this.#database
    return rows.map(({ before_hash: before, ...row }) => ({
      ...auditChain.checked(entryOf(row), before ?? undefined),
      previousHash: before?.subarray(0, HASH_BYTES).toString('hex'),
    }))
  }

  async tried({ id, hold }: HeldReceiver, { sent, failure }: AfterHold): Promise<void> {
    const hash = sent === undefined ? null : Buffer.from(sent.hash, 'hex')
    const failed = [failure?.problem ?? null, failure?.retryInMs ?? 0]
    await reachable(
      this.#database.query(TRIED, [id, hold, sent?.sequence ?? null, hash, ...failed], 'audit-tried'),
    )
  }

  async states(receivers: readonly string[]): Promise<readonly ReceiverState[]> {
    if (receivers.length === 0) return []
    const rows = await reachable(this.#database.query<StateRow>(STATES, [receivers]))
    return rows.map(({ receiver_id, unsent, problem, since }) => ({
      id: receiver_id,
      unsent: Number(unsent),
      unsentSinceMs: since?.getTime(),
      problem: problem ?? undefined,
    }))
  }
}
