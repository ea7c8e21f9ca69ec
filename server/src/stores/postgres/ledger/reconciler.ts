import { SYSTEM } from '#ports/audit.ts'
import { HOUR_MS } from '#core/money/ledger.ts'
import type { Clock } from '#ports/clock.ts'
import {
  MAX_BUDGETS,
  MAX_OVERFLOWS,
  MAX_REST_ROWS,
  SILENT_AFTER_MS,
  type BooksFigures,
  type BudgetCorrection,
  type LedgerDifference,
  type LedgerSums,
  type Reconciler,
  type Reconciliation,
} from '#ports/upkeep.ts'
import { writeAudit } from '../audit.ts'
import { reachable } from '../unreachable.ts'
import { spentIn } from './budgets.ts'
import type { Database } from '../database.ts'
import { HIGHEST_ID, LOWEST_ID, lowestIdAt } from './upkeep-ids.ts'
import {
  COMPARE_BUDGETS,
  COMPARE_LABELS,
  COMPARE_LEDGER,
  FIGURES,
  LOST_LEASES,
  OPEN_BUDGETS,
  OVERFLOWS,
} from './reconciler-sql.ts'

/** Differences kept: enough to see the pattern of an error. */
const MAX_DIFFERENCES = 100

/**
 * Limit for a sum. A million entries take two to four seconds on a small, busy machine: an hour of four thousand requests per second
 * fits.
 */
const SUM_MS = 60_000
/** Long enough for a person to see in the morning what happened in the evening. */
const OVERFLOW_MS = 24 * HOUR_MS
/** Hours per connection; where there is only one, others get their turn in between. */
const PAGE_HOURS = 24

interface FiguresRow {
  readonly unknowns: number
  readonly unknown_nano: bigint
  readonly oldest_unknown: Date | null
  readonly alive: number
  readonly silent: number
  readonly ledger_rest: number
  readonly requests_rest: number
  readonly deleted_projects: number
}

interface OverflowRow {
  readonly project: string
  readonly label: string
  readonly since: Date
  readonly nano: bigint
}

interface SumsRow {
  readonly project: string
  readonly label?: string
  readonly entries: bigint
  readonly posts: bigint
  readonly tokens: bigint
  readonly images: bigint
  readonly amount_nano: bigint
  readonly requests: bigint
  readonly hits: bigint
  readonly saved_nano: bigint
  readonly unknown_nano: bigint
  readonly rolled_posts: bigint
  readonly rolled_tokens: bigint
  readonly rolled_images: bigint
  readonly rolled_nano: bigint
  readonly rolled_requests: bigint
  readonly rolled_hits: bigint
  readonly rolled_saved_nano: bigint
  readonly rolled_unknown_nano: bigint
}

interface BudgetRow {
  readonly budget_id: string
  readonly window_start: Date
  readonly window_end: Date
  readonly limit_nano: bigint
  readonly spent_nano: bigint
  readonly leased_nano: bigint
}

/** From its first moment, included, to its end, excluded; without an end if undefined. */
interface Stretch {
  readonly fromMs: number | undefined
  readonly endMs: number | undefined
}

export class PostgresReconciler implements Reconciler {
  readonly #database: Database
  readonly #clock: Clock

  constructor(database: Database, clock: Clock) {
    this.#database = database
    this.#clock = clock
  }

  figures(): Promise<BooksFigures> {
    return reachable(this.#figures())
  }

  reconcile(hours: number | 'all'): Promise<Reconciliation> {
    return reachable(this.#reconcile(hours))
  }

  async #figures(): Promise<BooksFigures> {
    const silent = `${SILENT_AFTER_MS} milliseconds`
    const [figures] = await this.#database.query<FiguresRow>(FIGURES, [silent, MAX_REST_ROWS])
    const lost = await this.#database.query<{ node_id: string; nano: bigint }>(LOST_LEASES, [silent])
    const budgets = await this.#database.query<BudgetRow>(OPEN_BUDGETS, [MAX_BUDGETS])
    const overflows = await this.#database.query<OverflowRow>(OVERFLOWS, [
      new Date(this.#clock.nowMs() - OVERFLOW_MS),
      MAX_OVERFLOWS,
    ])
    const row = figures as FiguresRow
    return {
      unknowns: {
        open: row.unknowns,
        amountNanoUsd: row.unknown_nano,
        oldestAtMs: row.oldest_unknown?.getTime(),
      },
      nodes: { alive: row.alive, silent: row.silent },
      lostLeases: lost.map(({ node_id: nodeId, nano }) => ({ nodeId, amountNanoUsd: nano })),
      restRows: { ledger: row.ledger_rest, requests: row.requests_rest },
      budgets: budgets.map((budget) => ({
        budgetId: budget.budget_id,
        limitNanoUsd: budget.limit_nano,
        spentNanoUsd: budget.spent_nano,
        leasedNanoUsd: budget.leased_nano,
      })),
      deletedProjects: row.deleted_projects,
      overflows: overflows.map(({ project, label, since, nano }) => ({
        project,
        label,
        sinceMs: since.getTime(),
        amountNanoUsd: nano,
      })),
    }
  }

  async #reconcile(hours: number | 'all'): Promise<Reconciliation> {
    const stretches = hours === 'all' ? await this.#allHours() : lastHours(hours, this.#clock.nowMs())
    const differences: LedgerDifference[] = []
    let entries = 0
    for (let at = 0; at < stretches.length; at += PAGE_HOURS) {
      for (const { stretch, rows } of await this.#compareLedger(stretches.slice(at, at + PAGE_HOURS))) {
        entries += rows.reduce((sum, row) => sum + Number(row.entries), 0)
        differences.push(...differencesIn(rows, stretch).slice(0, MAX_DIFFERENCES - differences.length))
      }
    }
    const since = timeText(stretches[0]?.fromMs, '-infinity')
    const budgets = await this.#database.session(
      (sql) => sql.query<BudgetRow & { differs: boolean }>(COMPARE_BUDGETS, [since]),
      SUM_MS,
    )
    const corrected: BudgetCorrection[] = []
    for (const { differs, ...budget } of budgets) {
      const correction = differs ? await this.#correct(budget) : undefined
      if (correction !== undefined) corrected.push(correction)
    }
    return { entries, differences, budgetsCompared: budgets.length, budgetsCorrected: corrected }
  }

  /** Each hour that has a rollup, and each stretch that has none: nothing is left out. */
  async #allHours(): Promise<readonly Stretch[]> {
    const rows = await this.#database.query<{ hour: Date }>(
      'SELECT DISTINCT hour FROM usage_hours ORDER BY hour',
    )
    const stretches: Stretch[] = []
    let fromMs: number | undefined
    for (const { hour } of rows) {
      const hourMs = hour.getTime()
      if (hourMs !== fromMs) stretches.push({ fromMs, endMs: hourMs })
      fromMs = hourMs + HOUR_MS
      stretches.push({ fromMs: hourMs, endMs: fromMs })
    }
    return [...stretches, { fromMs, endMs: undefined }]
  }

  /** Each in one statement, so at one moment: entries and rollups move together. */
  #compareLedger(stretches: readonly Stretch[]) {
    return this.#database.session(async (sql) => {
      const [labels] = await sql.query('SELECT 1 FROM usage_labels LIMIT 1')
      const compared: { readonly stretch: Stretch; readonly rows: readonly SumsRow[] }[] = []
      for (const stretch of stretches) {
        const { fromMs, endMs } = stretch
        const bounds = [
          fromMs === undefined ? LOWEST_ID : lowestIdAt(fromMs),
          endMs === undefined ? HIGHEST_ID : lowestIdAt(endMs),
          timeText(fromMs, '-infinity'),
          timeText(endMs, 'infinity'),
        ]
        const rows = await sql.query<SumsRow>(COMPARE_LEDGER, bounds)
        const ofLabels = labels === undefined ? [] : await sql.query<SumsRow>(COMPARE_LABELS, bounds)
        compared.push({ stretch, rows: [...rows, ...ofLabels] })
      }
      return compared
    }, SUM_MS)
  }

  /**
   * A writer that moves a budget holds its row until it commits. So once the row is ours, a new statement sees every movement, and
   * nothing else can move it.
   */
  #correct({ budget_id: budgetId, window_start: start }: BudgetRow): Promise<BudgetCorrection | undefined> {
    return this.#database.transaction(async (sql) => {
      const [row] = await sql.query<BudgetRow>(
        'SELECT * FROM budgets WHERE budget_id = $1 AND window_start = $2 FOR UPDATE',
        [budgetId, start],
      )
      if (row === undefined) return undefined
      const window = { startMs: start.getTime(), endMs: row.window_end.getTime() }
      const spent = await spentIn(sql, budgetId, window)
      const [held] = await sql.query<{ nano: bigint }>(
        'SELECT coalesce(sum(amount_nano), 0)::bigint AS nano FROM leases WHERE budget_id = $1 AND window_start = $2',
        [budgetId, start],
      )
      const leased = held?.nano ?? 0n
      if (spent === row.spent_nano && leased === row.leased_nano) return undefined
      await sql.query(
        'UPDATE budgets SET spent_nano = $3, leased_nano = $4 WHERE budget_id = $1 AND window_start = $2',
        [budgetId, start, spent, leased],
      )
      await writeAudit(sql, this.#database.auditChain, {
        actor: SYSTEM,
        action: 'budget.correct',
        target: budgetId,
        detail: {
          window: start.toISOString(),
          spentNanoUsd: { before: String(row.spent_nano), after: String(spent) },
          leasedNanoUsd: { before: String(row.leased_nano), after: String(leased) },
        },
      })
      return {
        budgetId,
        windowStartMs: window.startMs,
        spentNanoUsd: { before: row.spent_nano, after: spent },
        leasedNanoUsd: { before: row.leased_nano, after: leased },
      }
    })
  }
}

/** The last one has no end: it includes entries of a clock that is ahead. */
function lastHours(hours: number, nowMs: number): readonly Stretch[] {
  const currentMs = Math.floor(nowMs / HOUR_MS) * HOUR_MS
  return Array.from({ length: hours }, (_, index) => {
    const fromMs = currentMs - (hours - 1 - index) * HOUR_MS
    return { fromMs, endMs: index === hours - 1 ? undefined : fromMs + HOUR_MS }
  })
}

function differencesIn(rows: readonly SumsRow[], { fromMs }: Stretch): LedgerDifference[] {
  return rows.flatMap((row) => {
    const ledger: LedgerSums = {
      posts: Number(row.posts),
      tokens: Number(row.tokens),
      images: Number(row.images),
      amountNanoUsd: row.amount_nano,
      requests: Number(row.requests),
      hits: Number(row.hits),
      savedNanoUsd: row.saved_nano,
      unknownNanoUsd: row.unknown_nano,
    }
    const rollup: LedgerSums = {
      posts: Number(row.rolled_posts),
      tokens: Number(row.rolled_tokens),
      images: Number(row.rolled_images),
      amountNanoUsd: row.rolled_nano,
      requests: Number(row.rolled_requests),
      hits: Number(row.rolled_hits),
      savedNanoUsd: row.rolled_saved_nano,
      unknownNanoUsd: row.rolled_unknown_nano,
    }
    const isEqual = (Object.keys(ledger) as (keyof LedgerSums)[]).every((sum) => ledger[sum] === rollup[sum])
    return isEqual ? [] : [{ project: row.project, label: row.label, fromMs, ledger, rollup }]
  })
}

function timeText(unixMs: number | undefined, without: 'infinity' | '-infinity'): string {
  return unixMs === undefined ? without : new Date(unixMs).toISOString()
}
