import type { Budget, BudgetState, BudgetWindow } from '#core/money/budget.ts'

export interface LeaseQuestion {
  readonly budget: Budget
  readonly window: BudgetWindow
  readonly nodeId: string
  /** Identifies the question: asked again with the same id, it is granted once. */
  readonly operation: string
  readonly neededNanoUsd: bigint
  readonly liveNodes: number
}

export interface LeaseAnswer extends BudgetState {
  /** 0 when the needed amount does not fit. The state is the one after the grant. */
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
 * Hard budgets. `spent + leased ≤ limit` holds at every moment, whatever nodes ask at once; while a lowered limit is below
 * that sum, nothing is granted. A budget that is asked about for the first time starts with what the ledger already holds
 * for its window. After a change of the period, leases from other windows that overlap this one count too, and a node that
 * holds such a lease is granted nothing until the lease is returned or spent. Where the windows of both periods begin at
 * the same moment, no node is granted anything until then: the window gets its new end only afterwards, or one entry would
 * be paid out of two leases. Every method rejects with `StoreUnreachable` when the store can't be reached, and may then be
 * repeated with the same operation id: it is done once.
 */
export interface BudgetStore {
  lease(question: LeaseQuestion): Promise<LeaseAnswer>
  giveBack(lease: LeaseReturn): Promise<void>
}

export interface SpendingQuestion {
  readonly budgetId: string
  readonly window: BudgetWindow
}

/** Spending under budgets, for soft budgets and for people. */
export interface SpendingReader {
  /** One sum per question, in their order, from one query. */
  spentNanoUsd(asked: readonly SpendingQuestion[]): Promise<readonly bigint[]>
}
