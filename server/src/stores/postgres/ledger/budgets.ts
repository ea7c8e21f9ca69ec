import { grantOf, type BudgetWindow } from '#core/money/budget.ts'
import type {
  BudgetStore,
  LeaseAnswer,
  LeaseQuestion,
  LeaseReturn,
  SpendingQuestion,
  SpendingReader,
} from '#ports/budgets.ts'
import { NodeEnded } from '#ports/ledger.ts'
import { plainArray, textArray } from '../arrays.ts'
import { reachable } from '../unreachable.ts'
import type { Database, Sql } from '../database.ts'

interface BudgetRow {
  readonly budget_id: string
  readonly window_start: Date
  readonly window_end: Date
  readonly seeded: boolean
  readonly limit_nano: bigint
  readonly spent_nano: bigint
  readonly leased_nano: bigint
}

interface LeaseRow {
  readonly amount_nano: bigint
  readonly operation: string
  readonly operation_nano: bigint
}

/**
 * The windows of a budget that overlap this one, in the order in which budgets are locked. There are others when its period was
 * changed: leases from them may be spent in this one. Requests of a window that ended an hour ago are over, so nothing new is leased
 * from it.
 */
const LOCK_WINDOWS = `
SELECT * FROM budgets
WHERE budget_id = $1 AND window_start < $3 AND window_end > $2
  AND (window_start = $2 OR leased_nano > 0 OR window_end > now() - interval '1 hour')
ORDER BY window_start FOR UPDATE`

/**
 * The day before which the sums of days count, and hours from then on: those of sealed days are final. After a node of an earlier
 * version, whose late entries may not be among them yet, all hours that exist count.
 */
export const COUNTED_DAYS = `
SELECT CASE WHEN EXISTS (SELECT FROM nodes WHERE NOT seals) THEN (hours_kept_from AT TIME ZONE 'UTC')::date ELSE days_through END
FROM ledger_seal`

/** Days by each column, without what it does not need. */
export const FINAL_DAYS = { project: 'usage_group_days', key_id: 'usage_days' }

/**
 * What a project or a key has spent from `start` to `end`, which are midnights in UTC: days, corrections of them that they do not
 * contain yet, hours, and entries that are set aside. All at one moment.
 */
const spentBy = (column: 'project' | 'key_id', name: string): string => `(
  SELECT coalesce(sum(nano), 0)::bigint FROM (
    SELECT sum(amount_nano) AS nano FROM ${FINAL_DAYS[column]}
    WHERE ${column} COLLATE "C" = ${name} AND day >= (window_start AT TIME ZONE 'UTC')::date
      AND day < least((window_end AT TIME ZONE 'UTC')::date, counted.day)
    UNION ALL
    SELECT sum(amount_nano) FROM ledger_corrections
    WHERE NOT in_day AND ${column} = ${name} AND hour >= window_start
      AND hour < least(window_end, counted.day::timestamp AT TIME ZONE 'UTC')
    UNION ALL
    SELECT sum(amount_nano) FROM usage_hours
    WHERE ${column} = ${name} AND hour >= greatest(window_start, counted.day::timestamp AT TIME ZONE 'UTC') AND hour < window_end
    UNION ALL
    SELECT sum(amount_nano) FROM ledger_refused WHERE ${column} = ${name} AND hour >= window_start AND hour < window_end
  ) AS parts
)`

/** A sum for each budget, by the index of its own column. */
const SPENT = `
SELECT CASE WHEN budget_id LIKE 'project:%' THEN ${spentBy('project', 'substr(budget_id, 9)')}
  ELSE ${spentBy('key_id', 'substr(budget_id, 5)')} END AS spent
FROM unnest($1::text[], $2::timestamptz[], $3::timestamptz[])
  WITH ORDINALITY AS asked (budget_id, window_start, window_end, place),
  (${COUNTED_DAYS}) AS counted (day)
ORDER BY place`

/** Every decision is made under the lock of the budget's row, by the same pure rule that the tests check. */
export class PostgresBudgets implements BudgetStore, SpendingReader {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  async lease(question: LeaseQuestion): Promise<LeaseAnswer> {
    const answer = await reachable(this.#lease(question))
    if (answer !== undefined) return answer
    await reachable(this.#seed(question))
    return this.lease(question)
  }

  /** Undefined before the first question about the budget in this window. */
  #lease(question: LeaseQuestion): Promise<LeaseAnswer | undefined> {
    const { budget, window, nodeId, operation } = question
    const key = [budget.id, new Date(window.startMs)]
    return this.#database.transaction(async (sql) => {
      const alive = await sql.query(
        'SELECT 1 FROM nodes WHERE node_id = $1 AND ended_at IS NULL FOR KEY SHARE',
        [nodeId],
      )
      if (alive.length === 0) throw new NodeEnded(`node ${nodeId} has been ended`)
      const rows = await sql.query<BudgetRow>(LOCK_WINDOWS, [...key, new Date(window.endMs)])
      const row = rows.find(({ window_start }) => window_start.getTime() === window.startMs)
      if (!row) return undefined
      const limitNanoUsd = budget.limitNanoUsd
      const state = { limitNanoUsd, spentNanoUsd: row.spent_nano, leasedNanoUsd: row.leased_nano }
      const [held] = await sql.query<LeaseRow>(
        'SELECT * FROM leases WHERE budget_id = $1 AND window_start = $2 AND node_id = $3',
        [...key, nodeId],
      )
      if (held?.operation === operation) return { ...state, grantedNanoUsd: held.operation_nano }
      if (row.window_end.getTime() !== window.endMs)
        return rows.some((other) => other !== row && other.leased_nano > 0n)
          ? { ...state, grantedNanoUsd: 0n }
          : undefined
      if (!row.seeded) return undefined
      if (row.limit_nano !== limitNanoUsd)
        await sql.query('UPDATE budgets SET limit_nano = $3 WHERE budget_id = $1 AND window_start = $2', [
          ...key,
          limitNanoUsd,
        ])
      const leasedNanoUsd = rows.reduce((sum, { leased_nano }) => sum + leased_nano, 0n)
      const isBeside = leasedNanoUsd > row.leased_nano && (await holdsBeside(sql, nodeId, row, rows))
      const grantedNanoUsd = isBeside
        ? 0n
        : grantOf({ ...state, leasedNanoUsd }, question.neededNanoUsd, question.liveNodes)
      if (grantedNanoUsd === 0n) return { ...state, grantedNanoUsd }
      await move(sql, { ...question, budgetId: budget.id, byNanoUsd: grantedNanoUsd })
      return { ...state, leasedNanoUsd: row.leased_nano + grantedNanoUsd, grantedNanoUsd }
    })
  }

  /**
   * A new budget begins with what its window already contains. So does one whose period was changed when both windows begin at the
   * same moment. Writers that begin after its row exists charge it; the lock waits for earlier writers; then the sum is taken while
   * no one can charge the row.
   */
  async #seed({ budget, window }: LeaseQuestion): Promise<void> {
    const key = [budget.id, new Date(window.startMs)]
    await this.#database.query(
      `INSERT INTO budgets (budget_id, window_start, window_end, limit_nano) VALUES ($1, $2, $3, $4)
       ON CONFLICT (budget_id, window_start)
       DO UPDATE SET window_end = excluded.window_end, seeded = false
       WHERE budgets.window_end <> excluded.window_end AND NOT EXISTS (
         SELECT 1 FROM budgets AS beside
         WHERE beside.budget_id = excluded.budget_id AND beside.window_start <> excluded.window_start
           AND beside.window_start < excluded.window_end AND beside.window_end > excluded.window_start
           AND beside.leased_nano > 0
       )`,
      [...key, new Date(window.endMs), budget.limitNanoUsd],
    )
    // Every append holds a conflicting lock on this small table; ours is released at once.
    await this.#database.transaction((sql) => sql.query('LOCK TABLE leases IN SHARE MODE'))
    await this.#database.transaction(async (sql) => {
      await sql.query('SELECT 1 FROM budgets WHERE budget_id = $1 AND window_start = $2 FOR UPDATE', key)
      const spent = await spentIn(sql, budget.id, window)
      await sql.query(
        'UPDATE budgets SET spent_nano = $3, seeded = true WHERE budget_id = $1 AND window_start = $2',
        [...key, spent],
      )
    })
  }

  giveBack({ budgetId, window, nodeId, operation, amountNanoUsd }: LeaseReturn): Promise<void> {
    const key = [budgetId, new Date(window.startMs)]
    return reachable(
      this.#database.transaction(async (sql) => {
        await sql.query('SELECT 1 FROM budgets WHERE budget_id = $1 AND window_start = $2 FOR UPDATE', key)
        const [held] = await sql.query<LeaseRow>(
          'SELECT * FROM leases WHERE budget_id = $1 AND window_start = $2 AND node_id = $3',
          [...key, nodeId],
        )
        // The leases of an ended node have already been returned.
        if (held === undefined || held.operation === operation) return
        const returned = amountNanoUsd < held.amount_nano ? amountNanoUsd : held.amount_nano
        await move(sql, { budgetId, window, nodeId, operation, byNanoUsd: -returned })
      }),
    )
  }

  async spentNanoUsd(asked: readonly SpendingQuestion[]): Promise<readonly bigint[]> {
    return asked.length === 0 ? [] : reachable(spentInAll(this.#database, asked))
  }
}

export async function spentIn(sql: Sql, budgetId: string, window: BudgetWindow): Promise<bigint> {
  const [spent = 0n] = await spentInAll(sql, [{ budgetId, window }])
  return spent
}

async function spentInAll(sql: Sql, asked: readonly SpendingQuestion[]): Promise<readonly bigint[]> {
  const rows = await sql.query<{ spent: bigint }>(SPENT, [
    textArray(asked.map(({ budgetId }) => budgetId)),
    plainArray(asked.map(({ window }) => new Date(window.startMs).toISOString())),
    plainArray(asked.map(({ window }) => new Date(window.endMs).toISOString())),
  ])
  return rows.map(({ spent }) => spent)
}

/** Whether the node holds money of another window: an entry does not say from which of two it spends its lease. */
async function holdsBeside(
  sql: Sql,
  nodeId: string,
  own: BudgetRow,
  rows: readonly BudgetRow[],
): Promise<boolean> {
  for (const { budget_id, window_start } of rows.filter((row) => row !== own)) {
    const held = await sql.query(
      'SELECT 1 FROM leases WHERE budget_id = $1 AND window_start = $2 AND node_id = $3 AND amount_nano > 0',
      [budget_id, window_start, nodeId],
    )
    if (held.length > 0) return true
  }
  return false
}

interface Move {
  readonly budgetId: string
  readonly window: BudgetWindow
  readonly nodeId: string
  readonly operation: string
  readonly byNanoUsd: bigint
}

async function move(sql: Sql, { budgetId, window, nodeId, operation, byNanoUsd }: Move): Promise<void> {
  const start = new Date(window.startMs)
  await sql.query(
    'UPDATE budgets SET leased_nano = leased_nano + $3 WHERE budget_id = $1 AND window_start = $2',
    [budgetId, start, byNanoUsd],
  )
  await sql.query(
    `INSERT INTO leases AS held (budget_id, window_start, node_id, amount_nano, operation, operation_nano)
     VALUES ($1, $2, $3, $4, $5, $4)
     ON CONFLICT (budget_id, window_start, node_id) DO UPDATE SET
       amount_nano = held.amount_nano + excluded.amount_nano,
       operation = excluded.operation, operation_nano = excluded.operation_nano`,
    [budgetId, start, nodeId, byNanoUsd, operation],
  )
}
