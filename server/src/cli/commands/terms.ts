/** Limits and budgets on the command line, the same for projects and keys. */
import { Misuse, type Call, type Options } from '../command/command.ts'
import { shownUsd } from './columns.ts'

export interface LimitsBody {
  readonly requests_per_minute?: number
  readonly tokens_per_minute?: number
  readonly images_per_minute?: number
}

export interface BudgetBody {
  readonly usd: string
  readonly per: string
  readonly hard: boolean
}

const RATES = ['requests', 'tokens', 'images'] as const

export const TERMS_OPTIONS = {
  'requests-per-minute': { takes: '<n|none>', says: 'requests a minute' },
  'tokens-per-minute': { takes: '<n|none>', says: 'tokens a minute' },
  'images-per-minute': { takes: '<n|none>', says: 'images a minute' },
  budget: { takes: '<dollars|none>', says: 'what may be spent in a window of time' },
  per: {
    takes: '<day|week|month|total>',
    says: 'the window of the budget (month)',
    oneOf: ['day', 'week', 'month', 'total'],
  },
  hard: { says: 'refuse what would go over the budget, before it is spent' },
} as const satisfies Options

type Terms = Pick<Call<keyof typeof TERMS_OPTIONS>, 'text' | 'flag'>

/** Only the terms that were given; `none` removes one. */
export function termsIn(call: Terms): Record<string, unknown> {
  const limits = RATES.flatMap((unit) => {
    const value = call.text(`${unit}-per-minute`)
    return value === undefined ? [] : [[`${unit}_per_minute`, numberOrNull(value, `--${unit}-per-minute`)]]
  })
  const budget = call.text('budget')
  const per = call.text('per')
  if (budget === undefined && (per !== undefined || call.flag('hard')))
    throw new Misuse('--per and --hard need a --budget.')
  const usd = budget === undefined ? undefined : numberOrNull(budget, '--budget')
  return {
    ...(limits.length > 0 && { limits: Object.fromEntries(limits) as unknown }),
    ...(usd === null && { budget: null }),
    ...(typeof usd === 'number' && { budget: { usd, ...(per && { per }), hard: call.flag('hard') } }),
  }
}

export function limitsText(limits: LimitsBody): string {
  const parts = RATES.flatMap((unit) => {
    const rate = limits[`${unit}_per_minute`]
    return rate === undefined ? [] : [`${rate} ${unit}`]
  })
  return parts.length === 0 ? '-' : `${parts.join(', ')} a minute`
}

export function budgetText(budget: BudgetBody | null): string {
  if (budget === null) return '-'
  const window = budget.per === 'total' ? 'in total' : `a ${budget.per}`
  return `${shownUsd(budget.usd)} ${window}${budget.hard ? ', hard' : ''}`
}

export function numberOrNull(text: string, option: string): number | null {
  return text === 'none' ? null : numberOf(text, option, 'a number or none')
}

export function numberOf(text: string, option: string, expected = 'a number'): number {
  const value = Number(text)
  if (text.trim() === '' || Number.isNaN(value))
    throw new Misuse(`${option}: expected ${expected}, got "${text}".`)
  return value
}
