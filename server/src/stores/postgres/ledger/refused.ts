/** What PostgreSQL makes of entries that it refuses, and where they wait. */
import { DatabaseError } from 'pg'
import { isContentFault } from '#core/money/content-fault.ts'
import { entryFrom, entryText } from '#core/money/entry-text.ts'
import { hourOf, type LedgerEntry } from '#core/money/ledger.ts'
import { EntriesRefused, NodeEnded, RETRIED_ENTRIES, type RetriedEntries } from '#ports/ledger.ts'
import { StoreUnreachable } from '#ports/store.ts'
import { plainArray, textArray } from '../arrays.ts'
import type { Database, Sql } from '../database.ts'
import { reachable } from '../unreachable.ts'
import { CHARGED } from './ledger-sql.ts'

/** Entries of a step. If one is refused, all are tried one by one. */
const PAGE_ENTRIES = 1000
/** Largest amount that the column holds. */
const MAX_BIGINT = 2n ** 63n - 1n

/** Converts failures of writing entries to the errors of the port. Only a fault of their content refuses them. */
export async function accepted<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await reachable(work)
  } catch (cause) {
    if (cause instanceof StoreUnreachable || cause instanceof NodeEnded) throw cause
    if (cause instanceof DatabaseError && isContentFault(cause.code ?? ''))
      throw new EntriesRefused(reasonIn(cause), { cause })
    throw new StoreUnreachable(`PostgreSQL can not write entries: ${(cause as Error).message}`, { cause })
  }
}

/** A refusal by the table says which id has no partition; a person looks for its day. */
function reasonIn({ message, detail = '' }: DatabaseError): string {
  const [, id] = /^Partition key .*\(request_id\) = \(([0-9a-f-]{36})\)/.exec(detail) ?? []
  if (id === undefined) return message
  const day = new Date(hourOf(id)).toISOString().slice(0, 10)
  return `the entries of ${day} were exported and dropped: entry ${id} comes too late`
}

/** An entry that is set aside has used up the lease, so it counts as spent. */
const SET_ASIDE = `
WITH counted AS (
  INSERT INTO ledger_refused (request_id, attempt, kind, node_id, hour, project, key_id, amount_nano, entry, reason)
  VALUES ($2, $3, $4, $1, to_timestamp($5), $6, $7, $8, $9, $10)
  ON CONFLICT DO NOTHING
  RETURNING project, key_id, amount_nano, extract(epoch FROM hour)::integer AS hour,
    $11::bigint AS project_lease, $12::bigint AS key_lease
), ${CHARGED}
SELECT FROM counted`

/** `added`: what the entry adds to those that stand for its call. */
export async function setAside(
  sql: Sql,
  nodeId: string,
  {
    entry,
    added,
    reason,
  }: { readonly entry: LedgerEntry; readonly added: LedgerEntry; readonly reason: string },
): Promise<void> {
  const { requestId, attempt, kind, project, keyId } = entry
  const { amountNanoUsd } = added
  await sql.query(SET_ASIDE, [
    nodeId,
    requestId,
    attempt,
    kind,
    hourOf(requestId) / 1000,
    project,
    keyId,
    amountNanoUsd !== undefined && amountNanoUsd <= MAX_BIGINT ? amountNanoUsd : null,
    entryText(entry),
    reason,
    added.projectLeaseNanoUsd,
    added.keyLeaseNanoUsd,
  ])
}

const GIVEN = '(SELECT * FROM unnest($1::uuid[], $2::integer[], $3::text[]))'

/** $1: at most this number. */
const REFUSED = `
SELECT node_id, entry FROM ledger_refused ORDER BY tried_at, request_id, attempt, kind LIMIT $1`

const TRIED = `
UPDATE ledger_refused SET tried_at = now(), reason = $4 WHERE (request_id, attempt, kind) IN ${GIVEN}`

/** `write` writes some of the entries of a node in one step, and returns how many were still set aside. */
export async function retryRefused(
  database: Database,
  write: (nodeId: string, entries: readonly LedgerEntry[]) => Promise<number>,
): Promise<RetriedEntries> {
  let [written, refused] = [0, 0]
  const retry = async (nodeId: string, entries: readonly LedgerEntry[]): Promise<void> => {
    try {
      written += await accepted(write(nodeId, entries))
    } catch (error) {
      if (!(error instanceof EntriesRefused)) throw error
      if (entries.length > 1) for (const entry of entries) await retry(nodeId, [entry])
      else {
        await reachable(database.query(TRIED, [...identitiesIn(entries), error.message]))
        refused += 1
      }
    }
  }
  const rows = await reachable(database.query<{ node_id: string; entry: string }>(REFUSED, [RETRIED_ENTRIES]))
  for (const [nodeId, some] of Map.groupBy(rows, (row) => row.node_id))
    for (let at = 0; at < some.length; at += PAGE_ENTRIES)
      await retry(
        nodeId,
        some.slice(at, at + PAGE_ENTRIES).map(({ entry }) => entryFrom(entry)),
      )
  return { written, refused }
}

const HOLD = `
SELECT entry FROM ledger_refused WHERE (request_id, attempt, kind) IN ${GIVEN}
ORDER BY request_id, attempt, kind FOR UPDATE`

/** Those of the entries that no one else has written meanwhile. Their leases are used up. */
export async function holdRefused(
  sql: Sql,
  entries: readonly LedgerEntry[],
): Promise<readonly LedgerEntry[]> {
  const rows = await sql.query<{ entry: string }>(HOLD, identitiesIn(entries))
  return rows.map(({ entry }) => ({ ...entryFrom(entry), projectLeaseNanoUsd: 0n, keyLeaseNanoUsd: 0n }))
}

/** Entries that are now in the ledger count there. $1: any node; no lease moves. */
const TAKE_BACK = `
WITH counted AS (
  DELETE FROM ledger_refused
  WHERE (request_id, attempt, kind) IN (SELECT * FROM unnest($2::uuid[], $3::integer[], $4::text[]))
  RETURNING project, key_id, -amount_nano AS amount_nano, extract(epoch FROM hour)::integer AS hour,
    0::bigint AS project_lease, 0::bigint AS key_lease
), ${CHARGED}
SELECT FROM counted`

export async function takeBack(sql: Sql, nodeId: string, entries: readonly LedgerEntry[]): Promise<void> {
  await sql.query(TAKE_BACK, [nodeId, ...identitiesIn(entries)])
}

function identitiesIn(entries: readonly LedgerEntry[]): readonly unknown[] {
  return [
    plainArray(entries.map(({ requestId }) => requestId)),
    plainArray(entries.map(({ attempt }) => attempt)),
    textArray(entries.map(({ kind }) => kind)),
  ]
}
