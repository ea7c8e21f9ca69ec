/** Which stretch of time and which names a question is about. */
import type { z } from 'zod'
import { HOUR_MS } from '#core/ledger.ts'
import {
  isUsageLabel,
  USAGE_GROUPS,
  type UsageFilter,
  type UsageGroup,
  type UsageLabel,
} from '#ports/usage.ts'
import { invalidField } from '../wire/faults.ts'
import type { exportQuery } from './schemas.ts'

const DAY_MS = 24 * HOUR_MS
const DEFAULT_DAYS = 30
/** A year and its leap day. */
const MOST_DAYS = 366
/** Two days of hours are as many columns as a picture has room for. */
const MOST_HOURS = 48

type Asked = Pick<z.output<typeof exportQuery>, 'from' | 'to' | 'only' | 'by'>

export interface AskedSpan {
  readonly slot: 'hour' | 'day'
  readonly fromMs: number
  readonly endMs: number
}

/** Whole hours or days, so that rollups can answer. */
export function spanOf(
  { from, to }: Pick<Asked, 'from' | 'to'>,
  slot: 'hour' | 'day' | undefined,
  nowMs: number,
): AskedSpan {
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

/** Names, and the values of at most one label, which is that of `by` if there is one. */
export function namesOf({ only, by }: Pick<Asked, 'only' | 'by'>): Pick<UsageFilter, 'only' | 'labelled'> {
  const names: Partial<Record<UsageGroup, string[]>> = {}
  const labels = new Map<UsageLabel, string[]>()
  for (const one of [only ?? []].flat()) {
    const group = USAGE_GROUPS.find((name) => one.startsWith(`${name}:`))
    const label = LABEL.exec(one)?.[1] as UsageLabel | undefined
    if (group !== undefined) names[group] = [...(names[group] ?? []), one.slice(group.length + 1)]
    else if (label !== undefined)
      labels.set(label, [...(labels.get(label) ?? []), one.slice(label.length + 1)])
  }
  const [first] = labels
  if (isUsageLabel(by) && !labels.has(by)) labels.set(by, [])
  if (labels.size > 1)
    throw invalidField(
      `Users and tags are counted one by one: ${[...labels.keys()].join(' and ')} cannot be combined. Export the ledger, whose rows have all of them.`,
      'only',
    )
  return { only: names, labelled: first && { label: first[0], values: first[1] } }
}

/** A key has no colon; a value may have. */
const LABEL = /^(user|tag:[^:]+):/
