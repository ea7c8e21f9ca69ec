/** How full budgets are, for people. Every method rejects with `StoreAway` when the store can't be reached. */
import type { Budget, BudgetWindow } from '#core/budget.ts'

export interface BudgetSpent {
  readonly budget: Budget
  readonly isStored: boolean
  readonly spentNanoUsd: bigint
  /** Of it, reserved for calls of which nobody knows how they ended. */
  readonly unknownNanoUsd: bigint
  /** What nodes may spend without asking, in a hard budget. */
  readonly leasedNanoUsd: bigint
  /** The place in the list. */
  readonly cursor: string
}

export interface BudgetFilter {
  /** Undefined: of all. */
  readonly projects: readonly string[] | undefined
  readonly scope: 'project' | 'key' | undefined
  /** Undefined: all. */
  readonly id: string | undefined
}

export interface BudgetSpender {
  readonly keyId: string
  readonly nanoUsd: bigint
  readonly models: readonly string[]
}

export interface BudgetReader {
  /** Those of torana.yaml, which are given, and those of the store. The fullest first. */
  standings(
    declared: readonly Budget[],
    filter: BudgetFilter,
    page: { readonly limit: number; readonly after: string | undefined },
  ): Promise<readonly BudgetSpent[]>
  /** What was spent on each of the days before today, the oldest first, of each budget. */
  lastDays(budgetIds: readonly string[], days: number): Promise<ReadonlyMap<string, readonly bigint[]>>
  /** What was spent in each hour of a window, or each day where it is longer than `HOURLY_DAYS`. */
  series(budgetId: string, window: BudgetWindow): Promise<readonly SpentSlot[]>
  /** Who spent most. */
  spenders(budgetId: string, window: BudgetWindow, limit: number): Promise<readonly BudgetSpender[]>
  /** When webhooks were told of a mark, and at which host. */
  told(budgetId: string, window: BudgetWindow): Promise<readonly ToldMark[]>
  /** How many requests were refused for the budget, as far as the request log goes back. */
  refused(budgetId: string, window: BudgetWindow): Promise<ReadonlyMap<string, number>>
}

export interface SpentSlot {
  readonly atMs: number
  readonly nanoUsd: bigint
}

export interface ToldMark {
  readonly percent: number
  readonly atMs: number
  readonly host: string
}

/** Two months of hours are more points than a picture has pixels. */
export const HOURLY_DAYS = 62
