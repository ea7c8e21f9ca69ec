import { SYSTEM } from '#ports/audit.ts'
import { HOUR_MS } from '#core/money/ledger.ts'
import type { StoreClock } from '#ports/clock.ts'
import { LATENESS_MS } from '#ports/sealed-hours.ts'
import {
  SILENT_AFTER_MS,
  type LedgerFigures,
  type BudgetCorrection,
  type LedgerDifference,
  type Reconciliation,
  type SealFigures,
} from '#ports/upkeep.ts'
import { writeAudit } from '../audit.ts'
import { reachable } from '../unreachable.ts'
import { spentIn } from './budgets.ts'
import type { Database, Sql } from '../database.ts'
import {
  atOneMoment,
  sealedDifferences,
  SUM_MS,
  sumsIn,
  timeText,
  type Stretch,
  type StretchSums,
} from './hour-sums.ts'
import {
  COMPARE_BUDGETS,
  FIGURES,
  HOURS,
  LOST_LEASES,
  OPEN_BUDGETS,
  OVERFLOWS,
  SEAL_FIGURES,
} from './reconciler-sql.ts'
import { firstHourSince, noteDifferences } from './seal.ts'
import { SEAL, type SealRow } from './seal-sql.ts'

/** Differences kept: enough to see the pattern of an error. */
const MAX_DIFFERENCES = 100
/** Time after which no further hour that is due is begun: the other chores of the round have their turn. */
const ROUND_MS = 20_000
/** Long enough for a person to see in the morning what happened in the evening. */
const OVERFLOW_MS = 24 * HOUR_MS
/** Hours per connection; where there is only one, others get their turn in between. */
const PAGE_HOURS = 24

interface FiguresRow {
  readonly unknowns: number
  readonly unknown_nano: bigint
  readonly oldest_unknown: Date | null
  readonly refused: number
  readonly refused_nano: bigint
  readonly alive: number
  readonly silent: number
  readonly ledger_rest: number
  readonly requests_rest: number
  readonly deleted_projects: number
  readonly differences: number
}

interface OverflowRow {
  readonly project: string
  readonly label: string
  readonly since: Date
  readonly nano: bigint
}

interface SealFiguresRow {
  readonly sealed_ms: number
  readonly compared_ms: number
  readonly latest_ms: number
  readonly sealed_at_ms: number
  readonly compared_at_ms: number
  readonly earlier_nodes: number
}

interface BudgetRow {
  readonly budget_id: string
  readonly window_start: Date
  readonly window_end: Date
  readonly limit_nano: bigint
  readonly spent_nano: bigint
  readonly leased_nano: bigint
}

/** Bound of the count: more rows need the same action. */
const MAX_REST_ROWS = 10_000
/** Bound of the list: each budget is a series in the metrics. */
const MAX_BUDGETS = 200
/** Bound of the list: more overflows need the same action. */
const MAX_OVERFLOWS = 200

/** Checks that the sums of the ledger agree with one another. Every method rejects with `StoreUnreachable`. */
export class PostgresReconciler {
  readonly #database: Database
  readonly #clock: StoreClock

  constructor(database: Database, clock: StoreClock) {
    this.#database = database
    this.#clock = clock
  }

  /** Current figures of the ledger: cheap enough to read every minute. */
  figures(): Promise<LedgerFigures> {
    // The clock has a connection of its own, which the built-in database does not have during a transaction.
    return reachable(
      this.#clock.storeMs().then((nowMs) => this.#database.transaction((sql) => this.#figures(sql, nowMs))),
    )
  }

  /**
   * Adds up the ledger again and compares it with the sums kept beside it. It reads the last hours of the ledger, the
   * current one included, or all of it. Rollups that differ are reported and never changed. What a budget of that time says
   * it has spent or leased is corrected, in one step with an audit entry, and reported.
   */
  reconcile(hours: number | 'all'): Promise<Reconciliation> {
    return reachable(this.#reconcile(hours))
  }

  /**
   * The same for the hours that ended and were not compared yet, the oldest first, for a bounded time, and for all open budgets.
   * Each hour is compared once here, and once more when it is sealed.
   */
  reconcileDue(): Promise<Reconciliation> {
    return reachable(this.#reconcileDue())
  }

  async #figures(sql: Sql, nowMs: number): Promise<LedgerFigures> {
    const silent = `${SILENT_AFTER_MS} milliseconds`
    const [figures] = await sql.query<FiguresRow>(FIGURES, [silent, MAX_REST_ROWS])
    const lost = await sql.query<{ node_id: string; nano: bigint }>(LOST_LEASES, [silent])
    const budgets = await sql.query<BudgetRow>(OPEN_BUDGETS, [MAX_BUDGETS])
    const overflows = await sql.query<OverflowRow>(OVERFLOWS, [new Date(nowMs - OVERFLOW_MS), MAX_OVERFLOWS])
    const row = figures as FiguresRow
    return {
      unknowns: {
        open: row.unknowns,
        amountNanoUsd: row.unknown_nano,
        oldestAtMs: row.oldest_unknown?.getTime(),
      },
      refused: { entries: row.refused, amountNanoUsd: row.refused_nano },
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
      differences: row.differences,
      seal: await this.#sealFigures(sql, nowMs),
      overflows: overflows.map(({ project, label, since, nano }) => ({
        project,
        label,
        sinceMs: since.getTime(),
        amountNanoUsd: nano,
      })),
    }
  }

  async #sealFigures(sql: Sql, nowMs: number): Promise<SealFigures> {
    const [row] = await sql.query<SealFiguresRow>(SEAL_FIGURES)
    const {
      sealed_ms: sealedMs,
      compared_ms: comparedMs,
      latest_ms: latestMs,
      ...figures
    } = row as SealFiguresRow
    /** How long the hour that ends `afterMs` after `throughMs` waits, at most since the last progress. */
    const waitsMs = (throughMs: number, afterMs: number, movedAtMs: number): number =>
      Math.max(0, nowMs - Math.max(throughMs + HOUR_MS + afterMs, movedAtMs))
    return {
      sealedThroughMs: Number.isFinite(sealedMs) ? sealedMs : undefined,
      comparedThroughMs: comparedMs,
      sealWaitsMs: waitsMs(sealedMs, LATENESS_MS, figures.sealed_at_ms),
      compareWaitsMs: waitsMs(comparedMs, 0, figures.compared_at_ms),
      aheadUntilMs: latestMs > nowMs ? latestMs : undefined,
      earlierNodes: figures.earlier_nodes,
    }
  }

  async #reconcile(hours: number | 'all'): Promise<Reconciliation> {
    const stretches = hours === 'all' ? await this.#allHours() : lastHours(hours, await this.#clock.storeMs())
    const found = new Findings()
    for (let at = 0; at < stretches.length; at += PAGE_HOURS)
      found.add(await this.#compareLedger(stretches.slice(at, at + PAGE_HOURS)))
    return { ...found.sums, ...(await this.#compareBudgets(stretches[0]?.fromMs)) }
  }

  async #reconcileDue(): Promise<Reconciliation> {
    const startMs = this.#clock.monotonicMs()
    const dueMs = Math.floor((await this.#clock.storeMs()) / HOUR_MS) * HOUR_MS
    const [seal] = await this.#database.query<SealRow>(SEAL)
    const found = new Findings()
    let throughMs = seal?.compared_through_ms ?? dueMs
    while (throughMs < dueMs && this.#clock.monotonicMs() - startMs < ROUND_MS) {
      const fromMs = (await firstHourSince(this.#database, throughMs)) ?? dueMs
      throughMs = Math.min(fromMs + HOUR_MS, dueMs)
      if (fromMs < dueMs) found.add(await this.#compareLedger([{ fromMs, endMs: throughMs }]))
      await this.#database.query(
        'UPDATE ledger_seal SET compared_through = greatest(compared_through, $1), compared_at = clock_timestamp()',
        [new Date(throughMs)],
      )
    }
    return { ...found.sums, ...(await this.#compareBudgets(dueMs - HOUR_MS)) }
  }

  async #compareBudgets(
    sinceMs: number | undefined,
  ): Promise<Pick<Reconciliation, 'budgetsCompared' | 'budgetsCorrected'>> {
    const budgets = await this.#database.session(
      (sql) => sql.query<BudgetRow & { differs: boolean }>(COMPARE_BUDGETS, [timeText(sinceMs, '-infinity')]),
      SUM_MS,
    )
    const corrected: BudgetCorrection[] = []
    for (const { differs, ...budget } of budgets) {
      const correction = differs ? await this.#correct(budget) : undefined
      if (correction !== undefined) corrected.push(correction)
    }
    return { budgetsCompared: budgets.length, budgetsCorrected: corrected }
  }

  /** Each hour that has anything in the store, and each stretch that has nothing: nothing is left out. */
  async #allHours(): Promise<readonly Stretch[]> {
    const rows = await this.#database.query<{ hour: Date }>(HOURS)
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

  #compareLedger(stretches: readonly Stretch[]): Promise<readonly Compared[]> {
    return this.#database.session(async (sql) => {
      const all: Compared[] = []
      for (const stretch of stretches) {
        const compared = await atOneMoment(sql, () => compare(sql, stretch))
        all.push(compared)
        const { fromMs, endMs } = stretch
        // The hour of now is compared again after its end.
        if (fromMs !== undefined && endMs !== undefined)
          await noteDifferences(sql, fromMs, compared.differences.length)
      }
      return all
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

/** Entries with sums, where both are in the store, and a sealed hour with what was sealed. */
async function compare(sql: Sql, stretch: Stretch): Promise<Compared> {
  const [seal] = await sql.query<SealRow>(SEAL)
  const { fromMs, endMs } = stretch
  const sealedMs = seal?.sealing_ms ?? seal?.through_ms ?? -Infinity
  if (seal === undefined || fromMs === undefined || endMs !== fromMs + HOUR_MS || endMs > sealedMs)
    return sumsIn(sql, stretch, 'all')
  const hasEntries = fromMs >= seal.entries_kept_from_ms
  const hasHours = fromMs >= seal.hours_kept_from_ms
  if (!hasEntries && !hasHours) return { entries: 0, differences: [] }
  const sealed = await sealedDifferences(sql, fromMs, hasEntries)
  if (!hasEntries) return { entries: 0, differences: sealed }
  const { entries, differences } = await sumsIn(sql, stretch, 'all')
  return { entries, differences: [...(hasHours ? differences : []), ...sealed] }
}

type Compared = Pick<StretchSums, 'entries' | 'differences'>

/** What comparisons have found so far. */
class Findings {
  #entries = 0
  readonly #differences: LedgerDifference[] = []

  add(compared: readonly Compared[]): void {
    for (const { entries, differences } of compared) {
      this.#entries += entries
      this.#differences.push(...differences.slice(0, MAX_DIFFERENCES - this.#differences.length))
    }
  }

  get sums(): Pick<Reconciliation, 'entries' | 'differences'> {
    return { entries: this.#entries, differences: this.#differences }
  }
}
