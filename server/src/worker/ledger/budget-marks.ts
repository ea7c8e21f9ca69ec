/** Reports when half, most or all of a budget is spent. */
import { windowOf, type Budget, type BudgetWindow } from '#core/money/budget.ts'
import type { SpendingReader } from '#ports/budgets.ts'
import type { Clock } from '#ports/clock.ts'

const MARKS_PERCENT = [50, 80, 100] as const

export interface BudgetMark {
  readonly budget: Budget
  readonly windowStartMs: number
  readonly percent: (typeof MARKS_PERCENT)[number]
  readonly spentNanoUsd: bigint
}

/** Time without use after which a budget is no longer checked; its next request brings it back. */
const IDLE_MS = 10 * 60_000
/** Budgets per query. Each is an index look-up, so that the store is not held up for long. */
const PAGE_SIZE = 500

export class BudgetMarks {
  readonly #reader: SpendingReader
  readonly #clock: Clock
  readonly #onMark: (mark: BudgetMark) => void
  readonly #used = new Map<string, { budget: Budget; usedAtMs: number }>()
  /** Reported marks, by budget and window. */
  readonly #reported = new Map<string, number>()

  constructor(reader: SpendingReader, clock: Clock, onMark: (mark: BudgetMark) => void) {
    this.#reader = reader
    this.#clock = clock
    this.#onMark = onMark
  }

  /** Notes that a request is made under this budget. */
  use(budget: Budget): void {
    const usedAtMs = this.#clock.nowMs()
    const used = this.#used.get(budget.id)
    if (used?.budget === budget) used.usedAtMs = usedAtMs
    else this.#used.set(budget.id, { budget, usedAtMs })
  }

  /** Reads what was spent under the budgets in use. Rejects when the store is unreachable. */
  async check(): Promise<void> {
    const nowMs = this.#clock.nowMs()
    for (const [id, { usedAtMs }] of this.#used) if (nowMs - usedAtMs > IDLE_MS) this.#used.delete(id)
    const budgets = Array.from(this.#used.values(), ({ budget }) => budget)
    for (let at = 0; at < budgets.length; at += PAGE_SIZE) {
      const portion = budgets.slice(at, at + PAGE_SIZE)
      const windows = portion.map(({ per }) => windowOf(per, nowMs))
      const sums = await this.#reader.spentNanoUsd(
        portion.map(({ id }, index) => ({ budgetId: id, window: windows[index] as BudgetWindow })),
      )
      for (const [index, budget] of portion.entries())
        this.#tell(budget, (windows[index] as BudgetWindow).startMs, sums[index] ?? 0n)
    }
  }

  #tell(budget: Budget, windowStartMs: number, spentNanoUsd: bigint): void {
    const key = `${budget.id}@${windowStartMs}`
    const reported = this.#reported.get(key) ?? 0
    const percent = MARKS_PERCENT.findLast(
      (mark) => spentNanoUsd * 100n >= budget.limitNanoUsd * BigInt(mark),
    )
    if (percent === undefined || percent <= reported) return
    // Windows of the past are over: their marks are not needed again.
    for (const past of this.#reported.keys())
      if (past.startsWith(`${budget.id}@`) && past !== key) this.#reported.delete(past)
    this.#reported.set(key, percent)
    this.#onMark({ budget, windowStartMs, percent, spentNanoUsd })
  }
}
