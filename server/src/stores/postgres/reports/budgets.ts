/** How full budgets are, from the rollups. */
import { windowOf, type Budget, type BudgetPeriod, type BudgetWindow } from '#core/budget.ts'
import {
  HOURLY_DAYS,
  type BudgetFilter,
  type BudgetReader,
  type BudgetSpender,
  type BudgetSpent,
  type SpentSlot,
  type ToldMark,
} from '#ports/budget-report.ts'
import type { Clock } from '#ports/clock.ts'
import { reachable } from '../away.ts'
import { DAY_MS, HIGHEST_ID, lowestIdAt } from '../books/upkeep-ids.ts'
import type { Database } from '../database.ts'
import { LAST_DAYS, REFUSED, seriesOf, spendersOf, STANDINGS, TOLD } from './budgets-sql.ts'

/** A request log is kept for a month; a window of years has no older refusals. */
const LOG_DAYS = 31

interface StandingRow {
  readonly budget_id: string
  readonly limit_nano: bigint
  readonly per: BudgetPeriod
  readonly hard: boolean
  readonly is_stored: boolean
  readonly spent_nano: bigint
  readonly unknown_nano: bigint
  readonly leased_nano: bigint
  readonly fullness: string
}

export class PostgresBudgetReports implements BudgetReader {
  readonly #database: Database
  readonly #clock: Clock

  constructor(database: Database, clock: Clock) {
    this.#database = database
    this.#clock = clock
  }

  async standings(
    declared: readonly Budget[],
    { projects, scope, id }: BudgetFilter,
    { limit, after }: { readonly limit: number; readonly after: string | undefined },
  ): Promise<readonly BudgetSpent[]> {
    const nowMs = this.#clock.nowMs()
    const [fullness, last] = after?.split('~') ?? []
    const rows = await this.#read<StandingRow>(STANDINGS, [
      declared.map((budget) => budget.id),
      declared.map(({ limitNanoUsd }) => String(limitNanoUsd)),
      declared.map(({ per }) => per),
      declared.map(({ hard }) => hard),
      ...(['day', 'week', 'month'] as const).map((per) => new Date(windowOf(per, nowMs).startMs)),
      new Date(freshFromMs(nowMs)),
      projects ?? null,
      scope ?? null,
      id ?? null,
      fullness ?? null,
      last ?? null,
      limit,
    ])
    return rows.map((row) => ({
      budget: { id: row.budget_id, limitNanoUsd: row.limit_nano, per: row.per, hard: row.hard },
      isStored: row.is_stored,
      spentNanoUsd: row.spent_nano,
      unknownNanoUsd: row.unknown_nano,
      leasedNanoUsd: row.leased_nano,
      cursor: `${row.fullness}~${row.budget_id}`,
    }))
  }

  async lastDays(
    budgetIds: readonly string[],
    days: number,
  ): Promise<ReadonlyMap<string, readonly bigint[]>> {
    const nowMs = this.#clock.nowMs()
    const todayMs = windowOf('day', nowMs).startMs
    const fromMs = todayMs - days * DAY_MS
    const rows = await this.#read<{ budget_id: string; day: Date; nano: bigint }>(LAST_DAYS, [
      budgetIds,
      new Date(fromMs),
      new Date(freshFromMs(nowMs)),
      new Date(todayMs),
    ])
    const spent = new Map(budgetIds.map((id) => [id, Array.from({ length: days }, () => 0n)]))
    for (const { budget_id: id, day, nano } of rows) {
      const own = spent.get(id)
      if (own) own[Math.round((day.getTime() - fromMs) / DAY_MS)] = nano
    }
    return spent
  }

  async series(budgetId: string, window: BudgetWindow): Promise<readonly SpentSlot[]> {
    const isHourly = window.endMs - window.startMs <= HOURLY_DAYS * DAY_MS
    const rows = await this.#read<{ at: Date; nano: bigint }>(
      seriesOf(columnOf(budgetId), isHourly),
      this.#windowValues(budgetId, window),
    )
    return rows.map(({ at, nano }) => ({ atMs: at.getTime(), nanoUsd: nano }))
  }

  async spenders(budgetId: string, window: BudgetWindow, limit: number): Promise<readonly BudgetSpender[]> {
    const rows = await this.#read<{ key_id: string; nano: bigint; models: string[] }>(
      spendersOf(columnOf(budgetId)),
      [...this.#windowValues(budgetId, window), limit],
    )
    return rows.map(({ key_id: keyId, nano, models }) => ({ keyId, nanoUsd: nano, models }))
  }

  async told(budgetId: string, { startMs, endMs }: BudgetWindow): Promise<readonly ToldMark[]> {
    const rows = await this.#read<{ payload: string; url: string; created_at: Date }>(TOLD, [
      projectOf(budgetId),
      new Date(startMs),
      new Date(endMs),
    ])
    return rows.flatMap(({ payload, url, created_at: at }) => {
      const { data } = JSON.parse(payload) as { data?: { budget?: unknown; percent?: unknown } }
      if (data?.budget !== budgetId || typeof data.percent !== 'number') return []
      return [{ percent: data.percent, atMs: at.getTime(), host: URL.parse(url)?.host ?? '' }]
    })
  }

  async refused(budgetId: string, { startMs }: BudgetWindow): Promise<ReadonlyMap<string, number>> {
    const fromMs = Math.max(startMs, this.#clock.nowMs() - LOG_DAYS * DAY_MS)
    const key = columnOf(budgetId) === 'key_id' ? nameOf(budgetId) : null
    const rows = await this.#read<{ fault: string; count: number }>(REFUSED, [
      lowestIdAt(fromMs),
      HIGHEST_ID,
      projectOf(budgetId),
      key,
    ])
    return new Map(rows.map(({ fault, count }) => [fault, count]))
  }

  #windowValues(budgetId: string, { startMs, endMs }: BudgetWindow): unknown[] {
    const freshMs = freshFromMs(this.#clock.nowMs())
    return [nameOf(budgetId), new Date(startMs), new Date(Math.max(freshMs, startMs)), new Date(endMs)]
  }

  #read<Row>(text: string, values: readonly unknown[]): Promise<readonly Row[]> {
    return reachable(this.#database.query<Row>(text, values))
  }
}

/** Days are made of hours every ten minutes: those of yesterday and today are read as they are now. */
function freshFromMs(nowMs: number): number {
  return windowOf('day', nowMs).startMs - DAY_MS
}

function columnOf(budgetId: string): 'project' | 'key_id' {
  return budgetId.startsWith('project:') ? 'project' : 'key_id'
}

function nameOf(budgetId: string): string {
  return budgetId.slice(budgetId.indexOf(':') + 1)
}

function projectOf(budgetId: string): string {
  return nameOf(budgetId).split('/')[0] ?? ''
}
