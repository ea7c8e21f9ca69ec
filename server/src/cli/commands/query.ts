/** Options that become query parameters. */
import { Misuse, type Option, type Options } from '../command/command.ts'

/** The options that were given a value, except `limit`; `slower-ms` is the parameter `slower_ms`. */
export function queryOf<Name extends string>(
  options: Readonly<Record<Name, Option>> | undefined,
  text: (option: Name) => string | undefined,
): URLSearchParams {
  const query = new URLSearchParams()
  for (const [option, { takes }] of Object.entries(options ?? {}) as [Name, Option][]) {
    const value = takes === undefined || option === 'limit' ? undefined : text(option)
    if (value !== undefined)
      query.set(option.replaceAll('-', '_'), option in FROM_TO ? momentOf(value, option) : value)
  }
  return query
}

export const FROM_TO = {
  from: {
    takes: '<time>',
    says: 'the first moment: a day (2026-11-01), a moment, or how long ago (30m, 24h, 7d)',
  },
  to: {
    takes: '<time>',
    says: 'the first moment that is not included, in the same forms; a day is its 00:00 UTC (now)',
  },
} as const satisfies Options

export const LIMIT = { takes: '<n>', says: 'how many at most (50)' } as const satisfies Option

/** Largest `--limit`: exports are for more. */
const MAX_ROWS = 10_000
const DEFAULT_ROWS = 50

export function limitOf(text: string | undefined): number {
  if (text === undefined) return DEFAULT_ROWS
  if (!/^[1-9]\d{0,4}$/.test(text) || Number(text) > MAX_ROWS)
    throw new Misuse(`--limit: expected a whole number from 1 to ${MAX_ROWS}, got "${text}".`)
  return Number(text)
}

const UNIT_MS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 }

function momentOf(text: string, option: string): string {
  const [, amount, unit = ''] = /^(\d{1,6})([mhd])$/.exec(text) ?? []
  if (amount !== undefined) return new Date(Date.now() - Number(amount) * (UNIT_MS[unit] ?? 0)).toISOString()
  const ms = Date.parse(text)
  if (Number.isNaN(ms))
    throw new Misuse(`--${option}: expected a day, a moment or a time such as 24h, got "${text}".`)
  return new Date(ms).toISOString()
}
