import type { Schema } from '../../api/client.ts'

type Limits = Schema<'Limits'>
type Budget = Schema<'Budget'>
export type Period = Budget['per']

/** null: no such limit. */
export interface LimitForm {
  readonly requests: number | null
  readonly tokens: number | null
  readonly images: number | null
}

export interface BudgetForm {
  /** As it was typed: money is never a number here. Empty: no budget. */
  readonly usd: string
  readonly per: Period
  readonly hard: boolean
}

export function limitFormOf(limits: Limits): LimitForm {
  return {
    requests: limits.requests_per_minute ?? null,
    tokens: limits.tokens_per_minute ?? null,
    images: limits.images_per_minute ?? null,
  }
}

export function limitsOf(form: LimitForm): Required<Schema<'LimitsChangeInput'>> {
  return {
    requests_per_minute: form.requests,
    tokens_per_minute: form.tokens,
    images_per_minute: form.images,
  }
}

export function budgetFormOf(budget: Budget | null): BudgetForm {
  return {
    usd: budget === null ? '' : budget.usd.replace(/\.?0+$/, ''),
    per: budget?.per ?? 'month',
    hard: budget?.hard ?? true,
  }
}

export function budgetOf(form: BudgetForm): Required<Schema<'BudgetChangeInput'>> | null {
  return form.usd === '' ? null : { usd: form.usd, per: form.per, hard: form.hard }
}
