/** Reads the ledger, and checks what must hold of it whatever happened before. */
import assert from 'node:assert/strict'
import { momentOf, type EntryKind } from '#core/money/ledger.ts'
import type { Database } from '#stores/postgres/database.ts'
import { eventually } from '#test/support/process.ts'
import type { FakeProvider } from '../../../../lab/fake-provider/server.ts'

/** One dollar for a million tokens. */
export const PRICE = { usdPerMillionTokens: 1 }
export const NANO_USD_PER_TOKEN = 1000

/** A token array: its possible cost is its actual cost. */
export function tokens(count: number): number[] {
  return Array.from({ length: count }, (_, index) => 100 + index)
}

export interface Row {
  readonly requestId: string
  readonly attempt: number
  readonly kind: EntryKind
  readonly callId: string
  readonly project: string
  readonly deployment: string
  readonly usage: string
  readonly tokens: number | undefined
  readonly nanoUsd: number
  /** When its request was accepted. */
  readonly atMs: number
}

interface StoredRow {
  readonly request_id: string
  readonly attempt: number
  readonly kind: EntryKind
  readonly call_id: string
  readonly project: string
  readonly deployment: string
  readonly usage: string
  readonly tokens: bigint | null
  readonly amount_nano: bigint | null
}

export async function rowsIn(database: Database, project?: string): Promise<Row[]> {
  const rows = await database.query<StoredRow>(
    'SELECT * FROM usage_events ORDER BY request_id, attempt, written_at',
  )
  return rows
    .filter((row) => project === undefined || row.project === project)
    .map((row) => ({
      requestId: row.request_id,
      attempt: row.attempt,
      kind: row.kind,
      callId: row.call_id,
      project: row.project,
      deployment: row.deployment,
      usage: row.usage,
      tokens: row.tokens === null ? undefined : Number(row.tokens),
      nanoUsd: Number(row.amount_nano ?? 0n),
      atMs: momentOf(row.request_id),
    }))
}

interface BudgetRow {
  readonly windowStartMs: number
  readonly limit: number
  readonly spent: number
  readonly leased: number
  /** The sum over the nodes, which `leased` must be. */
  readonly leases: number
}

async function budgetsOf(database: Database, budgetId: string): Promise<BudgetRow[]> {
  const rows = await database.query<
    Record<'limit_nano' | 'spent_nano' | 'leased_nano' | 'leases', bigint> & { window_start: Date }
  >(
    `SELECT budgets.*, (
       SELECT coalesce(sum(amount_nano), 0)::bigint FROM leases
       WHERE leases.budget_id = budgets.budget_id AND leases.window_start = budgets.window_start
     ) AS leases
     FROM budgets WHERE budget_id = $1 ORDER BY window_start`,
    [budgetId],
  )
  return rows.map((row) => ({
    windowStartMs: row.window_start.getTime(),
    limit: Number(row.limit_nano),
    spent: Number(row.spent_nano),
    leased: Number(row.leased_nano),
    leases: Number(row.leases),
  }))
}

export function sumOf(rows: readonly Pick<Row, 'nanoUsd'>[]): number {
  return rows.reduce((sum, { nanoUsd }) => sum + nanoUsd, 0)
}

/** Idle leases go home after one second, and are looked for four times a second; the rest is for returning them. */
const AT_REST_MS = 3000

/** Time in which this process ran: it does not advance while the machine runs another process. */
const TICK_MS = 5
let livedMs = 0
setInterval(() => (livedMs += TICK_MS), TICK_MS).unref()

/** Tries until it succeeds, which must not take longer. */
export async function within<Value>(longestMs: number, attempt: () => Promise<Value>): Promise<Value> {
  const startMs = livedMs
  const value = await eventually(attempt, 10 * longestMs)
  assert.ok(livedMs - startMs < longestMs, `it took ${livedMs - startMs} ms`)
  return value
}

/** Nothing is in progress: nothing is reserved, and all that was spent is in the ledger. */
export async function assertAtRest(database: Database, budgetId: string): Promise<BudgetRow[]> {
  const project = budgetId.slice(budgetId.indexOf(':') + 1)
  return within(AT_REST_MS, async () => {
    const budgets = await budgetsOf(database, budgetId)
    for (const { leased, leases } of budgets) assert.deepEqual({ leased, leases }, { leased: 0, leases: 0 })
    const spent = budgets.reduce((sum, budget) => sum + budget.spent, 0)
    assert.equal(spent, sumOf(await rowsIn(database, project)))
    return budgets
  })
}

/**
 * Every call the provider served is in one row, with its own count of tokens or as unknown; the rollups agree. Tried until
 * it holds: what a client no longer waits for is written in the background.
 */
export function assertLedgerMatches(database: Database, provider: FakeProvider): Promise<readonly Row[]> {
  return eventually(async () => {
    const rows = await rowsIn(database)
    const byCall = new Map(rows.map((row) => [row.callId, row]))
    assert.equal(byCall.size, rows.length, 'a call is in two rows')
    for (const { callId, served, tokens } of provider.entries()) {
      const row = byCall.get(callId ?? '')
      if (served) assert.ok(row, `call ${callId} was served and is in no row`)
      if (row?.kind === 'post') assert.deepEqual([served, row.tokens], [true, tokens])
    }
    const [rollup] = await database.query<{ posts: bigint; unknowns: bigint; tokens: bigint; nano: bigint }>(
      `SELECT coalesce(sum(posts), 0)::bigint AS posts, coalesce(sum(unknowns), 0)::bigint AS unknowns,
         coalesce(sum(tokens), 0)::bigint AS tokens, coalesce(sum(amount_nano), 0)::bigint AS nano FROM usage_hours`,
    )
    const count = (kind: EntryKind): bigint => BigInt(rows.filter((row) => row.kind === kind).length)
    assert.deepEqual(rollup, {
      posts: count('post'),
      unknowns: count('unknown'),
      tokens: BigInt(rows.reduce((sum, row) => sum + (row.tokens ?? 0), 0)),
      nano: BigInt(sumOf(rows)),
    })
    return rows
  })
}

/** PostgreSQL counts the deadlocks it had to break. Its figures come half a second late. */
export async function assertNoDeadlocks(database: Database): Promise<void> {
  const [row] = await database.query<{ deadlocks: bigint }>(
    'SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()',
  )
  assert.equal(row?.deadlocks, 0n)
}
