/** Limits and budgets on the command line, the same for projects and keys. */
import type { ParseArgsOptionsConfig } from 'node:util'
import { dollars, nanoUsdOf } from '#core/price.ts'
import { CommandProblem } from './control-client.ts'
import type { Call } from './verbs.ts'

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
  'requests-per-minute': { type: 'string' },
  'tokens-per-minute': { type: 'string' },
  'images-per-minute': { type: 'string' },
  budget: { type: 'string' },
  per: { type: 'string' },
  hard: { type: 'boolean' },
} as const satisfies ParseArgsOptionsConfig

export const TERMS_TAKES =
  '[--requests-per-minute <n|none>] [--tokens-per-minute <n|none>] [--images-per-minute <n|none>] [--budget <dollars|none> [--per day|week|month|total] [--hard]]'

/** Only what was said; `none` takes away. */
export function termsIn(call: Call): Record<string, unknown> {
  const limits = RATES.flatMap((unit) => {
    const value = call.text(`${unit}-per-minute`)
    return value === undefined ? [] : [[`${unit}_per_minute`, numberOrNull(value, `--${unit}-per-minute`)]]
  })
  const budget = call.text('budget')
  const per = call.text('per')
  if (budget === undefined && (per !== undefined || call.flag('hard')))
    throw new CommandProblem('--per and --hard need a --budget.')
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

/** Money of an answer as people write it: `$12.50`. */
export function shownUsd(usd: string): string {
  return dollars(nanoUsdOf(usd))
}

export function dayText(time: string | null): string {
  return time === null ? '-' : time.slice(0, 16).replace('T', ' ')
}

export function numberOrNull(text: string, option: string): number | null {
  if (text === 'none') return null
  const value = Number(text)
  if (text.trim() === '' || Number.isNaN(value))
    throw new CommandProblem(`${option}: expected a number or none, got "${text}".`)
  return value
}
