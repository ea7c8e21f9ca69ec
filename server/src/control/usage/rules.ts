/** What a question about usage is about, and how sums are added up and grouped. */
import type { z } from 'zod'
import { HOUR_MS } from '#core/money/ledger.ts'
import { decimalOf } from '#core/money/price.ts'
import { HOURS_KEPT_DAYS } from '#ports/upkeep.ts'
import { invalidField } from '../shared/faults.ts'
import type { UsageCell, usageSum } from './queries.ts'
import {
  COUNTED,
  isUsageLabel,
  USAGE_GROUPS,
  type Sum,
  type UsageFilter,
  type UsageGroup,
  type UsageLabel,
  type UsageSpan,
} from './rollup-queries.ts'
import { DAY_MS } from '../shared/times.ts'

const DEFAULT_DAYS = 30
/** A year and its leap day. */
const MAX_DAYS = 366
/** Longest span shown by the hour unless asked: two days of hours are as many columns as a chart has room for. */
const MAX_HOURS = 48

interface AskedSpan {
  readonly from?: string | undefined
  readonly to?: string | undefined
}

/** Whole hours or days, so that rollups can answer. */
export function spanOf(
  { from, to }: AskedSpan,
  slot: 'hour' | 'day' | undefined,
  nowMs: number,
): { readonly slot: 'hour' | 'day'; readonly fromMs: number; readonly endMs: number } {
  const toMs = to === undefined ? nowMs : Date.parse(to)
  // Thirty days with today are today and the 29 before.
  const fromMs =
    from === undefined ? Math.floor(toMs / DAY_MS) * DAY_MS - (DEFAULT_DAYS - 1) * DAY_MS : Date.parse(from)
  if (fromMs >= toMs) throw invalidField('`from` must be before `to`.', 'from')
  if (toMs - fromMs > MAX_DAYS * DAY_MS)
    throw invalidField(`At most ${MAX_DAYS} days can be asked for at once.`, 'from')
  const hasHours = fromMs >= hoursKeptFrom(nowMs)
  const chosen = slot ?? (toMs - fromMs <= MAX_HOURS * HOUR_MS && hasHours ? 'hour' : 'day')
  if (chosen === 'hour' && !hasHours)
    throw invalidField(`Sums by the hour are kept for ${HOURS_KEPT_DAYS} days: ask for days.`, 'slot')
  if (chosen === 'hour' && toMs - fromMs > MAX_DAYS * HOUR_MS)
    throw invalidField(`At most ${MAX_DAYS} hours can be asked for at once.`, 'slot')
  const sizeMs = chosen === 'hour' ? HOUR_MS : DAY_MS
  return {
    slot: chosen,
    fromMs: Math.floor(fromMs / sizeMs) * sizeMs,
    endMs: Math.ceil(toMs / sizeMs) * sizeMs,
  }
}

/**
 * What a period is compared with: the same part of the period before. Of a period that is not over, only what has passed counts, to
 * the nearest hour, since rollups are of hours, or day where the hours are no longer kept. Undefined: nothing has passed yet, or the
 * hours before are no longer kept.
 */
export function spanBefore(
  { fromMs, endMs }: Pick<UsageSpan, 'fromMs' | 'endMs'>,
  nowMs: number,
): Pick<UsageSpan, 'fromMs' | 'endMs'> | undefined {
  const beganMs = fromMs - (endMs - fromMs)
  const hasHours = beganMs >= hoursKeptFrom(nowMs)
  const sizeMs = hasHours ? HOUR_MS : DAY_MS
  const passedMs = Math.round((Math.min(endMs, nowMs) - fromMs) / sizeMs) * sizeMs
  return passedMs <= 0 || (!hasHours && beganMs % DAY_MS !== 0)
    ? undefined
    : { fromMs: beganMs, endMs: beganMs + passedMs }
}

function hoursKeptFrom(nowMs: number): number {
  return nowMs - HOURS_KEPT_DAYS * DAY_MS
}

interface AskedNames {
  readonly only?: string | readonly string[] | undefined
  readonly by: UsageGroup | UsageLabel
}

/** A key has no colon; a value may have one. */
const LABEL = /^(user|tag:[^:]+):/

/** Names, and the values of at most one label, which is that of `by` if there is one. */
export function namesOf({ only, by }: AskedNames): Pick<UsageFilter, 'only' | 'labelled'> {
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

function sumOf(amountOf: (column: keyof Sum) => bigint): Sum {
  return Object.fromEntries(COUNTED.map((column) => [column, amountOf(column)])) as Sum
}

export const NOTHING = sumOf(() => 0n)

export function isNothing(sum: Sum): boolean {
  return COUNTED.every((column) => sum[column] === 0n)
}

export function added(sums: readonly Sum[]): Sum {
  return sumOf((column) => sums.reduce((total, sum) => total + sum[column], 0n))
}

/** What is left of the whole. */
export function without(whole: Sum, parts: readonly Sum[]): Sum {
  const taken = added(parts)
  return sumOf((column) => whole[column] - taken[column])
}

/** Field by field: an answer may have hundreds of thousands of sums, and a loop over the columns takes ten times as long. */
export function sumBody(sum: Sum): z.output<typeof usageSum> {
  return {
    requests: Number(sum.requests),
    posts: Number(sum.posts),
    unknowns: Number(sum.unknowns),
    tokens: Number(sum.tokens),
    images: Number(sum.images),
    usd: decimalOf(sum.nano),
    unknown_usd: decimalOf(sum.unknown_nano),
    unpriced: Number(sum.unpriced),
    hits: Number(sum.hits),
    saved_usd: decimalOf(sum.saved_nano),
  }
}

export interface GroupSums {
  /** null: all groups that are not listed separately. */
  readonly group: string | null
  readonly total: Sum
  readonly cells: readonly UsageCell[]
}

/** By spending, the most first. Groups that are not listed separately come last. */
export function groupsOf(cells: readonly UsageCell[]): readonly GroupSums[] {
  const groups = [...Map.groupBy(cells, ({ name }) => name)].map(([group, own]) => ({
    group,
    total: added(own),
    cells: own,
  }))
  return groups.toSorted((left, right) => {
    if (left.group === null || right.group === null) return left.group === null ? 1 : -1
    const byAmount = right.total.nano - left.total.nano
    if (byAmount !== 0n) return byAmount > 0n ? 1 : -1
    return Number(right.total.requests - left.total.requests) || (left.group < right.group ? -1 : 1)
  })
}

/** `before`: the sum of the period before, if it was asked for. */
export function groupBody({ total, cells }: Pick<GroupSums, 'total' | 'cells'>, before: Sum | undefined) {
  return {
    total: sumBody(total),
    before: before ? sumBody(before) : null,
    slots: cells.map((cell) => ({ at: cell.at.toISOString(), ...sumBody(cell) })),
  }
}

/** Calls beside the values of a label. null: there are none. */
export function besideBody(all: readonly UsageCell[], before: Sum | undefined) {
  const cells = all.filter((cell) => !isNothing(cell))
  if (cells.length === 0 && (before === undefined || isNothing(before))) return null
  return groupBody({ total: added(cells), cells }, before)
}
