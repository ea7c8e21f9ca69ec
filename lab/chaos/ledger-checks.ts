/** What must be true of the ledger itself, at rest and at every moment. */
import { closeSync, existsSync, openSync, readdirSync, statSync, writeSync } from 'node:fs'
import { basename, join } from 'node:path'
import { Client } from 'pg'
import type { Database } from '../../server/src/stores/postgres/database.ts'
import { readOpenCalls } from '../../server/src/stores/spool/journal.ts'
import type { House } from './cluster.ts'
import type { Violation } from './invariants.ts'

/** Bound of a query: the sums of millions of entries take a busy machine a minute. */
const QUERY_MS = 300_000
/** Rows in memory while the ledger is written out: it may have millions. */
const KEPT_PAGE_ROWS = 10_000

export async function withDatabase<Result>(
  url: string,
  work: (client: Client) => Promise<Result>,
): Promise<Result> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 5000, query_timeout: QUERY_MS })
  // A killed server fails the query in progress; the error of the connection itself adds nothing.
  client.on('error', () => {})
  try {
    await client.connect()
    return await work(client)
  } finally {
    await client.end().catch(() => {})
  }
}

export function withLedger<Result>(
  { postgres }: Pick<House, 'postgres'>,
  work: (client: Client) => Promise<Result>,
): Promise<Result> {
  return withDatabase(postgres.url, work)
}

/** Calls of which the ledger knows that they were made. */
export async function callsIn(database: Database): Promise<number> {
  const [row] = await database.query<{ calls: bigint }>(
    `SELECT count(DISTINCT (request_id, attempt)) AS calls FROM usage_events WHERE kind IN ('post', 'unknown')`,
  )
  return Number(row?.calls ?? 0)
}

/** Σ ledger = Σ rollups, hour by hour; budgets hold exactly what was spent in their window. */
export async function checkSums(client: Client): Promise<Violation[]> {
  const rollups = await client.query<object>(`
    WITH ledger AS (
      SELECT to_timestamp(floor(('x' || left(replace(request_id::text, '-', ''), 12))::bit(48)::bigint / 3600000.0) * 3600) AS hour,
        project, key_id, model, deployment,
        count(*) FILTER (WHERE kind = 'post') AS posts,
        count(*) FILTER (WHERE kind = 'unknown' AND NOT EXISTS (
          SELECT FROM usage_events AS resolution
          WHERE resolution.request_id = entry.request_id AND resolution.attempt = entry.attempt
            AND resolution.kind IN ('post', 'void'))) AS unknowns,
        coalesce(sum(tokens), 0) AS tokens, coalesce(sum(amount_nano), 0) AS amount_nano
      FROM usage_events AS entry GROUP BY 1, 2, 3, 4, 5
    ), rollup AS (
      SELECT hour, project, key_id, model, deployment,
        sum(posts) AS posts, sum(unknowns) AS unknowns, sum(tokens) AS tokens, sum(amount_nano) AS amount_nano
      FROM usage_hours GROUP BY 1, 2, 3, 4, 5
    )
    SELECT to_jsonb(ledger) AS ledger, to_jsonb(rollup) AS rollup
    FROM ledger FULL JOIN rollup USING (hour, project, key_id, model, deployment)
    WHERE (ledger.posts, ledger.unknowns, ledger.tokens, ledger.amount_nano)
      IS DISTINCT FROM (rollup.posts, rollup.unknowns, rollup.tokens, rollup.amount_nano)`)
  const budgets = await client.query<object>(`
    WITH spent AS (
      SELECT budget_id, window_start, (
        SELECT coalesce(sum(amount_nano), 0) FROM usage_hours
        WHERE (budget_id = 'project:' || project OR budget_id = 'key:' || key_id)
          AND hour >= window_start AND hour < window_end) AS ledger_nano
      FROM budgets
    )
    SELECT * FROM budgets JOIN spent USING (budget_id, window_start) WHERE spent_nano <> ledger_nano`)
  return [
    ...rollups.rows.map((ids) => other('the ledger and its rollup differ', ids)),
    ...budgets.rows.map((ids) => other('a budget and the ledger differ', ids)),
  ]
}

/** True at every moment, not only at rest. */
export async function checkBudgets(client: Client): Promise<Violation[]> {
  const { rows } = await client.query<object>(`
    SELECT budgets.*, (SELECT coalesce(sum(amount_nano), 0) FROM leases
      WHERE leases.budget_id = budgets.budget_id AND leases.window_start = budgets.window_start) AS held_nano,
      EXISTS (SELECT FROM leases WHERE leases.budget_id = budgets.budget_id AND amount_nano < 0) AS has_debt,
      (SELECT json_agg(leases) FROM leases WHERE leases.budget_id = budgets.budget_id) AS leases, now() AS at
    FROM budgets`)
  return rows.flatMap((ids) => {
    const row = ids as Record<'limit_nano' | 'spent_nano' | 'leased_nano' | 'held_nano', string> & {
      readonly has_debt: boolean
    }
    const [limit, spent, leased, held] = [row.limit_nano, row.spent_nano, row.leased_nano, row.held_nano].map(
      BigInt,
    ) as [bigint, bigint, bigint, bigint]
    return [
      ...(spent > limit ? [other('a hard budget is exceeded', ids)] : []),
      ...(spent + leased > limit ? [other('more is leased than a hard budget has left', ids)] : []),
      ...(leased !== held ? [other('a budget and its leases differ', ids)] : []),
      ...(row.has_debt ? [other('a lease is below nothing', ids)] : []),
    ]
  })
}

/** What still moves or waits; empty when the cluster is at rest. */
export async function unrest(client: Client, house: House): Promise<Violation[]> {
  const { rows } = await client.query<object>('SELECT * FROM leases WHERE amount_nano <> 0')
  const refused = await client.query<object>('SELECT request_id, attempt, kind, reason FROM ledger_refused')
  const folders = house.nodeFolders()
  return [
    ...rows.map((ids) => other('a lease did not come home', ids)),
    ...(folders.length === house.gateways.length
      ? []
      : [other('a dead node was not recovered', { folders: folders.map((folder) => basename(folder)) })]),
    ...refused.rows.map((entry) => other('the store refused an entry', entry)),
    ...folders.flatMap(unrestIn),
  ]
}

/** Writes the ledger as JSON lines, one per row, for a search for the cause. */
export async function keepLedger(client: Client, folder: string): Promise<void> {
  for (const table of ['usage_events', 'ledger_refused', 'usage_hours', 'budgets', 'leases', 'nodes']) {
    const file = openSync(join(folder, `${table}.jsonl`), 'w')
    await client.query(`BEGIN; DECLARE kept CURSOR FOR SELECT * FROM ${table}`)
    for (let isWhole = false; !isWhole;) {
      const { rows } = await client.query<object>(`FETCH ${KEPT_PAGE_ROWS} FROM kept`)
      writeSync(file, rows.map((row) => `${JSON.stringify(row)}\n`).join(''))
      isWhole = rows.length < KEPT_PAGE_ROWS
    }
    await client.query('ROLLBACK')
    closeSync(file)
  }
}

function unrestIn(folder: string): Violation[] {
  if (!existsSync(folder)) return []
  const { calls, damagedLines } = readOpenCalls(folder)
  // The next one is open before it is needed.
  const spools = readdirSync(folder).filter(
    (file) => file.startsWith('spool-') && statSync(join(folder, file)).size > 0,
  )
  return [
    ...(calls.length > 0 ? [other('the journal holds open calls', { folder, calls: calls.length })] : []),
    ...(damagedLines > 0 ? [other('the journal has damaged lines', { folder, damagedLines })] : []),
    ...(spools.length > 0 ? [other('the spool is not drained', { folder, spools })] : []),
  ]
}

function other(what: string, ids: object): Violation {
  return { kind: 'other', what, ids: ids as Readonly<Record<string, unknown>> }
}
