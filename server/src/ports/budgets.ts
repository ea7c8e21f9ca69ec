import type { Budget, BudgetState, BudgetWindow } from '#core/budget.ts'

export interface LeaseQuestion {
  readonly budget: Budget
  readonly window: BudgetWindow
  readonly nodeId: string
  /** The same id asks the same question again: it is granted once. */
  readonly operation: string
  readonly neededNanoUsd: bigint
  readonly liveNodes: number
}

export interface LeaseAnswer extends BudgetState {
  /** 0 when what was needed does not fit. The state is the one after the grant. */
  readonly grantedNanoUsd: bigint
}

export interface LeaseReturn {
  readonly budgetId: string
  readonly window: BudgetWindow
  readonly nodeId: string
  readonly operation: string
  readonly amountNanoUsd: bigint
}

/**
 * Hard budgets. `spent + leased ≤ limit` holds at every moment, whatever nodes ask at once; while a limit that was lowered is
 * below that sum, nothing is granted. A budget that nobody asked about before starts with what the ledger already holds for
 * its window. After a change of the period, what is leased from other windows that share a moment with this one counts too,
 * and a node that holds such a lease is granted nothing until it has come home or is spent. Where the windows of both periods begin at
 * the same moment, nobody is: such a window gets its new end only then, or an entry would be paid out of two leases. Every method rejects with `StoreAway` when the
 * store can't be reached, and may then be repeated with the same operation id: it is done once.
 */
export interface BudgetStore {
  lease(question: LeaseQuestion): Promise<LeaseAnswer>
  giveBack(lease: LeaseReturn): Promise<void>
}

export interface SpendingQuestion {
  readonly budgetId: string
  readonly window: BudgetWindow
}

/** What has been spent under budgets, for soft budgets and for people. */
export interface SpendingReader {
  /** The sums of all that are asked about, in their order, by one question to the store. */
  spentNanoUsd(asked: readonly SpendingQuestion[]): Promise<readonly bigint[]>
}
