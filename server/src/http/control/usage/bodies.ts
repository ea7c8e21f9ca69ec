/** Sums of usage as JSON. */
import type { z } from 'zod'
import { decimalOf } from '#core/price.ts'
import type { UsageCell, UsageSum } from '#ports/usage.ts'
import { isoOf } from '../wire/times.ts'
import type { usage } from './schemas.ts'

type Body = z.output<typeof usage>
type SumBody = Body['total']

export const NOTHING: UsageSum = {
  requests: 0,
  posts: 0,
  unknowns: 0,
  tokens: 0,
  images: 0,
  amountNanoUsd: 0n,
  unknownNanoUsd: 0n,
  unpriced: 0,
  hits: 0,
  savedNanoUsd: 0n,
}

export function added(sums: readonly UsageSum[]): UsageSum {
  return sums.reduce((left, right) => moved(left, right, 1), NOTHING)
}

/** What is left of the whole. */
export function without(whole: UsageSum, parts: readonly UsageSum[]): UsageSum {
  return moved(whole, added(parts), -1)
}

function moved(from: UsageSum, by: UsageSum, times: 1 | -1): UsageSum {
  const money = BigInt(times)
  return {
    requests: from.requests + times * by.requests,
    posts: from.posts + times * by.posts,
    unknowns: from.unknowns + times * by.unknowns,
    tokens: from.tokens + times * by.tokens,
    images: from.images + times * by.images,
    amountNanoUsd: from.amountNanoUsd + money * by.amountNanoUsd,
    unknownNanoUsd: from.unknownNanoUsd + money * by.unknownNanoUsd,
    unpriced: from.unpriced + times * by.unpriced,
    hits: from.hits + times * by.hits,
    savedNanoUsd: from.savedNanoUsd + money * by.savedNanoUsd,
  }
}

export function sumBody(sum: UsageSum): SumBody {
  return {
    requests: sum.requests,
    posts: sum.posts,
    unknowns: sum.unknowns,
    tokens: sum.tokens,
    images: sum.images,
    usd: decimalOf(sum.amountNanoUsd),
    unknown_usd: decimalOf(sum.unknownNanoUsd),
    unpriced: sum.unpriced,
    hits: sum.hits,
    saved_usd: decimalOf(sum.savedNanoUsd),
  }
}

export function isNothing(sum: UsageSum): boolean {
  return Object.values(sum).every((value) => Number(value) === 0)
}

/** Calls beside the values of a label. */
export function besideBody(
  all: readonly UsageCell[],
  before: UsageSum | undefined,
): Omit<Body['data'][number], 'group'> | null {
  const cells = all.filter(({ sum }) => !isNothing(sum))
  if (cells.length === 0 && (before === undefined || isNothing(before))) return null
  return groupBody({ group: undefined, total: added(cells.map(({ sum }) => sum)), cells }, before)
}

export interface GroupSums {
  readonly group: string | undefined
  readonly total: UsageSum
  readonly cells: readonly UsageCell[]
}

/** The dearest first, and at last all that are not told apart. */
export function groupsOf(cells: readonly UsageCell[]): readonly GroupSums[] {
  const groups = [...Map.groupBy(cells, ({ group }) => group)].map(([group, own]) => ({
    group,
    total: added(own.map(({ sum }) => sum)),
    cells: own,
  }))
  return groups.toSorted((left, right) => {
    if (left.group === undefined || right.group === undefined) return left.group === undefined ? 1 : -1
    const byAmount = right.total.amountNanoUsd - left.total.amountNanoUsd
    if (byAmount !== 0n) return byAmount > 0n ? 1 : -1
    return right.total.requests - left.total.requests || (left.group < right.group ? -1 : 1)
  })
}

export function groupBody(
  { total, cells }: GroupSums,
  before: UsageSum | undefined,
): Omit<Body['data'][number], 'group'> {
  return {
    total: sumBody(total),
    before: before ? sumBody(before) : null,
    slots: cells.map(({ atMs, sum }) => ({ at: isoOf(atMs), ...sumBody(sum) })),
  }
}
