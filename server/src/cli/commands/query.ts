/** Options that become parameters of a question to the node. */
import { Misuse, type Option } from '../command/command.ts'

/** `names`: the option, and the parameter that it stands for if that is another word. */
export function queryOf<Name extends string>(
  text: (option: Name) => string | undefined,
  names: Readonly<Partial<Record<Name, string>>>,
): URLSearchParams {
  const query = new URLSearchParams()
  for (const [option, parameter] of Object.entries(names) as [Name, string][]) {
    const value = text(option)
    if (value !== undefined) query.set(parameter, momentNames.has(option) ? momentOf(value, option) : value)
  }
  return query
}

export const FROM_TO = {
  from: { takes: '<time>', says: 'a day (2026-11-01), a moment, or how long ago (30m, 24h, 7d)' },
  to: { takes: '<time>', says: 'likewise (now)' },
} as const satisfies Readonly<Record<string, Option>>

export const LIMIT = { takes: '<n>', says: 'how many at most (50)' } as const satisfies Option

/** More is for exports. */
const MOST_ROWS = 10_000
const ROWS = 50

export function limitOf(text: string | undefined): number {
  if (text === undefined) return ROWS
  if (!/^[1-9]\d{0,4}$/.test(text) || Number(text) > MOST_ROWS)
    throw new Misuse(`--limit: expected a whole number from 1 to ${MOST_ROWS}, got "${text}".`)
  return Number(text)
}

const momentNames: ReadonlySet<string> = new Set(['from', 'to'])
const UNIT_MS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 }

function momentOf(text: string, option: string): string {
  const [, amount, unit = ''] = /^(\d{1,6})([mhd])$/.exec(text) ?? []
  if (amount !== undefined) return new Date(Date.now() - Number(amount) * (UNIT_MS[unit] ?? 0)).toISOString()
  const ms = Date.parse(text)
  if (Number.isNaN(ms))
    throw new Misuse(`--${option}: expected a day, a moment or a time such as 24h, got "${text}".`)
  return new Date(ms).toISOString()
}
