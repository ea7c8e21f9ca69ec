/** Whether a change of a key's terms lets it do more than before. Only admins may make such a change. */
import type { BudgetPeriod } from '../money/budget.ts'
import type { ConfiguredBudget, ConfiguredLimits } from '../catalog/catalog.ts'
import type { ConfiguredBounds } from '../catalog/key-bounds.ts'

/** The terms of a key. An absent field restricts nothing. */
export interface BindingTerms extends ConfiguredBounds {
  readonly models?: readonly string[] | undefined
  readonly limits?: ConfiguredLimits | undefined
  readonly budget?: ConfiguredBudget | undefined
  readonly expiresAtMs?: number | undefined
}

/** A change of the same: an absent field stays, null removes it. */
type Changed<Value> = Exclude<Value, undefined> | null | undefined
export interface BindingChange {
  readonly models?: Changed<BindingTerms['models']>
  readonly scopes?: Changed<BindingTerms['scopes']>
  readonly addresses?: Changed<BindingTerms['addresses']>
  readonly maxCallsAtOnce?: Changed<number>
  readonly expiresAtMs?: Changed<number>
  readonly budget?: Changed<ConfiguredBudget>
  readonly limits?: { readonly [Field in keyof ConfiguredLimits]?: number | null | undefined } | undefined
}

export type BindingTerm = Exclude<keyof BindingChange, 'limits'> | keyof ConfiguredLimits

const LIMITS = ['requestsPerMinute', 'tokensPerMinute', 'imagesPerMinute'] as const

/** The first term that the change would loosen. Undefined: the key may do no more than before. */
export function loosenedTerm(before: BindingTerms, change: BindingChange): BindingTerm | undefined {
  const checks: readonly (readonly [BindingTerm, boolean])[] = [
    ['models', hasMore(before.models, change.models)],
    ['scopes', hasMore(before.scopes, change.scopes)],
    ['addresses', hasMore(before.addresses, change.addresses)],
    ['maxCallsAtOnce', isLarger(before.maxCallsAtOnce, change.maxCallsAtOnce)],
    ['expiresAtMs', isLarger(before.expiresAtMs, change.expiresAtMs)],
    ['budget', isLooser(before.budget, change.budget)],
    ...LIMITS.map((unit) => [unit, isLarger(before.limits?.[unit], change.limits?.[unit])] as const),
  ]
  return checks.find(([, isLoosened]) => isLoosened)?.[0]
}

/** Entries are compared as written: a network inside a listed one counts as another. */
function hasMore(
  before: readonly string[] | undefined,
  after: readonly string[] | null | undefined,
): boolean {
  if (before === undefined || after === undefined) return false
  return after === null || after.some((one) => !before.includes(one))
}

function isLarger(before: number | undefined, after: number | null | undefined): boolean {
  if (before === undefined || after === undefined) return false
  return after === null || after > before
}

/** The longer periods of each period: the same amount for one of these is less. A week may fall in two months. */
const LONGER: Readonly<Record<BudgetPeriod, readonly BudgetPeriod[]>> = {
  day: ['week', 'month', 'total'],
  week: ['total'],
  month: ['total'],
  total: [],
}

function isLooser(before: ConfiguredBudget | undefined, after: Changed<ConfiguredBudget>): boolean {
  if (before === undefined || after === undefined) return false
  if (after === null || after.limitNanoUsd > before.limitNanoUsd) return true
  return (before.hard && !after.hard) || (after.per !== before.per && !LONGER[before.per].includes(after.per))
}
