/** Which stretch of time and which names a question is about. */
import type { z } from 'zod'
import { HOUR_MS } from '#core/ledger.ts'
import { USAGE_GROUPS, type UsageFilter, type UsageGroup } from '#ports/usage.ts'
import { invalidField } from '../wire/faults.ts'
import type { exportQuery } from './schemas.ts'

const DAY_MS = 24 * HOUR_MS
const DEFAULT_DAYS = 30
/** A year and its leap day. */
const MOST_DAYS = 366
/** Two days of hours are as many columns as a picture has room for. */
const MOST_HOURS = 48

type Asked = Pick<z.output<typeof exportQuery>, 'from' | 'to' | 'only'>

export interface AskedSpan {
  readonly slot: 'hour' | 'day'
  readonly fromMs: number
  readonly endMs: number
}

/** Whole hours or days, so that rollups can answer. */
export function spanOf({ from, to }: Asked, slot: 'hour' | 'day' | undefined, nowMs: number): AskedSpan {
  const toMs = to === undefined ? nowMs : Date.parse(to)
  // Thirty days with today are today and the 29 before.
  const fromMs =
    from === undefined ? Math.floor(toMs / DAY_MS) * DAY_MS - (DEFAULT_DAYS - 1) * DAY_MS : Date.parse(from)
  if (fromMs >= toMs) throw invalidField('`from` must be before `to`.', 'from')
  if (toMs - fromMs > MOST_DAYS * DAY_MS)
    throw invalidField(`At most ${MOST_DAYS} days can be asked for at once.`, 'from')
  const chosen = slot ?? (toMs - fromMs <= MOST_HOURS * HOUR_MS ? 'hour' : 'day')
  if (chosen === 'hour' && toMs - fromMs > MOST_DAYS * HOUR_MS)
    throw invalidField(`At most ${MOST_DAYS} hours can be asked for at once.`, 'slot')
  const sizeMs = chosen === 'hour' ? HOUR_MS : DAY_MS
  return {
    slot: chosen,
    fromMs: Math.floor(fromMs / sizeMs) * sizeMs,
    endMs: Math.ceil(toMs / sizeMs) * sizeMs,
  }
}

export function onlyOf(only: Asked['only']): UsageFilter['only'] {
  const names: Partial<Record<UsageGroup, string[]>> = {}
  for (const one of [only ?? []].flat()) {
    const group = USAGE_GROUPS.find((name) => one.startsWith(`${name}:`)) as UsageGroup
    names[group] = [...(names[group] ?? []), one.slice(group.length + 1)]
  }
  return names
}
