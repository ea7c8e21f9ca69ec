/** What a key or a team may do: budget, rate limits, expiry. */
import { fieldsOf, isMapping, numberOf, saysNothing, textOf, type Fields } from './litellm-read.ts'
import type { Notes, Place } from './notes.ts'
import type { BudgetDraft, LimitsDraft } from './torana-file.ts'

/** LiteLLM resets `30d` at the start of a month, and `7d` at the start of a week, like Torana. */
const WINDOWS: Readonly<Record<string, BudgetDraft['per']>> = {
  '1d': 'day',
  '24h': 'day',
  daily: 'day',
  '7d': 'week',
  '1w': 'week',
  weekly: 'week',
  '30d': 'month',
  '1mo': 'month',
  monthly: 'month',
}

const OTHER_TABLE = 'its budget stands in another table: there is NO budget until you set one'

/** LiteLLM refuses what is over budget, so that the new budget is a hard one. */
export function budgetOf(
  fields: Fields,
  subject: string,
  place: Place,
  notes: Notes,
): BudgetDraft | undefined {
  // A budget that several keys share stands in a table of its own, which API answers bring along.
  const table = fields['litellm_budget_table']
  const shared = fieldsOf(table)
  const given = fields['max_budget'] ?? shared['max_budget']
  if (saysNothing(given)) {
    if (textOf(fields['budget_id']) !== undefined && !isMapping(table))
      notes.leave(place, `${subject}: budget_id`, OTHER_TABLE)
    return undefined
  }
  const usd = numberOf(given)
  const duration = textOf(fields['budget_duration'] ?? shared['budget_duration'])?.toLowerCase()
  const per =
    duration === undefined ? 'total' : Object.hasOwn(WINDOWS, duration) ? WINDOWS[duration] : undefined
  // Nano-dollars in 64 bits: the schema's own bound.
  if (usd === undefined || usd < 0 || usd > 9_000_000_000) {
    notes.leave(
      place,
      `${subject}: max_budget`,
      'is no amount of dollars: there is NO budget until you set one',
    )
    return undefined
  }
  if (per === undefined) {
    notes.leave(
      place,
      `${subject}: $${usd} per ${duration}`,
      'budgets run per day, week, month or in total: there is NO budget until you set one',
    )
    return undefined
  }
  return { usd: Number(usd.toFixed(9)), per, hard: true }
}

export function limitsOf(
  fields: Fields,
  subject: string,
  place: Place,
  notes: Notes,
): LimitsDraft | undefined {
  const rate = (field: string) => {
    const given = fields[field]
    if (saysNothing(given)) return undefined
    const value = numberOf(given)
    if (value !== undefined && value >= 1 && value <= 1_000_000_000) return Math.floor(value)
    notes.leave(
      place,
      `${subject}: ${field}`,
      'is no rate that Torana can keep: there is NO such limit until you set one',
    )
    return undefined
  }
  const requestsPerMinute = rate('rpm_limit')
  const tokensPerMinute = rate('tpm_limit')
  return requestsPerMinute === undefined && tokensPerMinute === undefined
    ? undefined
    : { requestsPerMinute, tokensPerMinute }
}

/** Database exports write `2027-01-31 12:00:00`, in UTC. */
export function expiryOf(given: unknown): string | undefined {
  const text = textOf(given)
  if (text === undefined) return undefined
  const moment = text.replace(
    /^(\d{4}-\d{2}-\d{2})[ T]([\d:.]+)(?:(Z|UTC)|([+-]\d{2}):?(\d{2})?)?$/,
    (...parts) => {
      const [, day, time, , hours, minutes = '00'] = parts as string[]
      return `${day}T${time}${hours === undefined ? 'Z' : `${hours}:${minutes}`}`
    },
  )
  const timeMs = Date.parse(moment)
  return Number.isNaN(timeMs) ? undefined : new Date(timeMs).toISOString().replace('.000Z', 'Z')
}

const TERMS: Readonly<Record<string, string>> = {
  soft_budget: 'soft budgets beside hard ones have no counterpart',
  max_parallel_requests: 'Torana limits requests a minute, not requests at a time',
  model_max_budget: 'Torana has no budgets per model',
  model_rpm_limit: 'Torana has no limits per model',
  model_tpm_limit: 'Torana has no limits per model',
  tpd_limit: 'Torana limits tokens a minute, not a day',
  aliases: "a key's own aliases: give the model itself an alias",
  guardrails: 'Torana has no guardrails',
}

/** Terms that bound a caller and have no counterpart. */
export function leaveTerms(subject: string, fields: Fields, place: Place, notes: Notes): void {
  const metadata = fieldsOf(parsed(fields['metadata']))
  for (const [field, reason] of Object.entries(TERMS)) {
    const value = parsed(fields[field] ?? metadata[field])
    if (!saysNothing(value)) notes.leave(place, `${subject}: ${field}`, reason)
  }
}

/** CSV holds mappings as JSON text. */
function parsed(value: unknown): unknown {
  if (typeof value !== 'string' || !/^\s*[[{]/.test(value)) return value
  try {
    return JSON.parse(value)
  } catch (error) {
    if (error instanceof SyntaxError) return value
    throw error
  }
}
