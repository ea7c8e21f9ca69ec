/** The fault of a request when a hard budget has no money for it, or can't be asked. */
import type { Budget, BudgetWindow } from '#core/money/budget.ts'
import { Fault, type FaultOptions } from '#core/fault/fault.ts'
import { dollars } from '#core/money/price.ts'
import type { LeaseAnswer } from '#ports/budgets.ts'
import { STORE_RETRY_MS } from '#ports/store.ts'
import { ownerOf } from './hard-budget.ts'

/** Retry time when other nodes hold the rest: their idle leases have been returned by then. */
const RETRY_AFTER_MS = 1500

interface LeasedWindow {
  readonly budget: Budget
  readonly window: BudgetWindow
}

/** A hard budget does not have what a request can cost. */
export class BudgetRefusal extends Fault {
  /** Left in the whole period, whether or not running requests have reserved it. */
  readonly leftNanoUsd: bigint
  /** Largest cost of the request. */
  readonly askedNanoUsd: bigint

  constructor(code: 'budget_exhausted' | 'budget_reserved', message: string, options: RefusalOptions) {
    super(code, message, options)
    this.leftNanoUsd = options.leftNanoUsd
    this.askedNanoUsd = options.askedNanoUsd
  }
}

interface RefusalOptions extends Pick<FaultOptions, 'retryAfterMs'> {
  readonly leftNanoUsd: bigint
  readonly askedNanoUsd: bigint
}

export function refused(
  { budget, window }: LeasedWindow,
  amountNanoUsd: bigint,
  { limitNanoUsd, spentNanoUsd }: LeaseAnswer,
): BudgetRefusal {
  const which = `hard budget of ${ownerOf(budget)} (${dollars(limitNanoUsd)} ${periodOf(budget)})`
  const leftNanoUsd = spentNanoUsd < limitNanoUsd ? limitNanoUsd - spentNanoUsd : 0n
  if (amountNanoUsd > leftNanoUsd) {
    const until =
      budget.per === 'total' ? '' : ` The next period begins at ${new Date(window.endMs).toISOString()}.`
    return new BudgetRefusal(
      'budget_exhausted',
      `The ${which} has ${dollars(leftNanoUsd)} left; this request can cost up to ${dollars(amountNanoUsd)}.${until}`,
      { leftNanoUsd, askedNanoUsd: amountNanoUsd },
    )
  }
  return new BudgetRefusal(
    'budget_reserved',
    `The rest of the ${which} is reserved for running requests; this one can cost up to ${dollars(amountNanoUsd)}. Retry in ${RETRY_AFTER_MS} ms.`,
    { leftNanoUsd, askedNanoUsd: amountNanoUsd, retryAfterMs: RETRY_AFTER_MS },
  )
}

export function changed({ budget }: LeasedWindow): Fault {
  return new Fault(
    'budget_reserved',
    `The period of the hard budget of ${ownerOf(budget)} has just been changed. Retry in ${RETRY_AFTER_MS} ms.`,
    { retryAfterMs: RETRY_AFTER_MS },
  )
}

export function unreachable({ budget }: LeasedWindow, cause: unknown): Fault {
  return new Fault(
    'budget_store_unreachable',
    `The hard budget of ${ownerOf(budget)} cannot be checked at the moment. Retry.`,
    { cause, retryAfterMs: STORE_RETRY_MS },
  )
}

function periodOf({ per }: Budget): string {
  return per === 'total' ? 'in total' : `a ${per}`
}
