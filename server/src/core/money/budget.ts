/** Budgets: the spending limit of a window, and the share of it that one node may hold. */

export type BudgetPeriod = 'day' | 'week' | 'month' | 'total'

export interface Budget {
  /** `project:<name>` or `key:<id>`. */
  readonly id: string
  readonly limitNanoUsd: bigint
  readonly per: BudgetPeriod
  /** A hard budget refuses what does not fit; a soft one only warns. */
  readonly hard: boolean
}

/** The project that a budget belongs to. The id of a key begins with its project: `key:<project>/<name>`. */
export function projectOf(budgetId: string): string {
  const [, owner = ''] = budgetId.split(':')
  const [project = ''] = owner.split('/')
  return project
}

/** Whether the terms are unchanged: a budget stays the same object while its terms are the same. */
export function isSameBudget(before: Budget | undefined, now: Budget): boolean {
  return (
    before !== undefined &&
    before.limitNanoUsd === now.limitNanoUsd &&
    before.per === now.per &&
    before.hard === now.hard
  )
}

export interface BudgetWindow {
  readonly startMs: number
  /** Exclusive. */
  readonly endMs: number
}

const DAY_MS = 86_400_000
/** 1970-01-01 was a Thursday: weeks begin on Mondays. */
const MONDAY_OFFSET_DAYS = 3
/** The last moment with a four-digit year: never, for all purposes, and every store can write it. */
const FAR_FUTURE_MS = 253_402_300_799_000

/** The window of a moment, in UTC: all nodes agree on it, in every time zone. */
export function windowOf(per: BudgetPeriod, atMs: number): BudgetWindow {
  const day = Math.floor(atMs / DAY_MS)
  switch (per) {
    case 'day':
      return { startMs: day * DAY_MS, endMs: (day + 1) * DAY_MS }
    case 'week': {
      const monday = day - ((day + MONDAY_OFFSET_DAYS) % 7)
      return { startMs: monday * DAY_MS, endMs: (monday + 7) * DAY_MS }
    }
    case 'month': {
      const { year, month } = monthOf(day)
      const next = month === 12 ? { year: year + 1, month: 1 } : { year, month: month + 1 }
      return { startMs: dayOf(year, month) * DAY_MS, endMs: dayOf(next.year, next.month) * DAY_MS }
    }
    case 'total':
      return { startMs: 0, endMs: FAR_FUTURE_MS }
  }
}

export function windowHolds(window: BudgetWindow, atMs: number): boolean {
  return atMs >= window.startMs && atMs < window.endMs
}

/** A budget row at one moment. */
export interface BudgetState {
  readonly limitNanoUsd: bigint
  readonly spentNanoUsd: bigint
  /** Held by nodes for future requests and requests in progress. */
  readonly leasedNanoUsd: bigint
}

/**
 * The grant to a node that asks for more: what it needs now, or its share of a quarter of the rest, so that it need not ask
 * for each request and still leaves something for the others. Nothing when what it needs does not fit.
 */
export function grantOf(state: BudgetState, neededNanoUsd: bigint, liveNodes: number): bigint {
  const left = state.limitNanoUsd - state.spentNanoUsd - state.leasedNanoUsd
  if (neededNanoUsd > left) return 0n
  const share = left / 4n / BigInt(Math.max(1, liveNodes))
  return share > neededNanoUsd ? share : neededNanoUsd
}

/** Days since 1970-01-01 of the first of a month, in the Gregorian calendar. Years are counted from March, so that leap days come last. */
function dayOf(year: number, month: number): number {
  const marchYear = month > 2 ? year : year - 1
  const marchMonth = (month + 9) % 12
  return (
    365 * marchYear +
    Math.floor(marchYear / 4) -
    Math.floor(marchYear / 100) +
    Math.floor(marchYear / 400) +
    Math.floor((153 * marchMonth + 2) / 5) -
    719_468
  )
}

function monthOf(day: number): { readonly year: number; readonly month: number } {
  // A guess that is at most one year late, then the month by counting.
  let year = 1970 + Math.floor(day / 366)
  while (dayOf(year + 1, 1) <= day) year += 1
  let month = 1
  while (month < 12 && dayOf(year, month + 1) <= day) month += 1
  return { year, month }
}
