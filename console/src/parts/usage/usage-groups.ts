/** Groups of usage in the order and with the colours of the picture. Pure, tested. */
import { dollarsForPicture, nanoOf, usdOf } from '../../app/money.ts'
import type { Usage } from '../../api/queries/money.ts'
import type { UsageGroup } from '../../api/usage-groups.ts'
import { seriesColour, type Colour } from '../../charts/colours.ts'
import type { ColumnSeries } from '../../charts/columns.tsx'

export type Sum = Usage['total']
export const SHOWS = ['usd', 'tokens', 'images', 'requests'] as const
export type Show = (typeof SHOWS)[number]

export interface GroupRow {
  /** Undefined: all that the server does not tell apart. */
  readonly name: string | undefined
  /** Calls beside the values of a label: those beyond what is counted apart, and those without the label. */
  readonly beside?: 'overflow' | 'none' | undefined
  readonly groups: number
  readonly total: Sum
  readonly before: Sum | null
  readonly slots: readonly (Sum & { readonly at: string })[]
  readonly colour: Colour
}

/** The largest of what is shown first; the others at last. */
export function groupRows(usage: Usage, show: Show): readonly GroupRow[] {
  const ranked = usage.data.toSorted(
    (left, right) => amountOf(right.total, show) - amountOf(left.total, show),
  )
  const rows = ranked.map(({ group, total, before, slots }, rank): GroupRow => ({
    name: group,
    groups: 1,
    total,
    before,
    slots,
    colour: seriesColour(rank),
  }))
  const { others } = usage
  const besideOf = (beside: 'overflow' | 'none'): GroupRow[] => {
    const sums = usage[beside]
    return sums === null ? [] : [{ ...sums, name: undefined, beside, groups: 1, colour: 'rest' }]
  }
  return [
    ...rows,
    ...(others === null ? [] : [{ ...others, name: undefined, colour: 'rest' as const }]),
    ...besideOf('overflow'),
    ...besideOf('none'),
  ]
}

/** For the picture alone: a number, where rounding does no harm. */
export function amountOf(sum: Sum, show: Show): number {
  return show === 'usd' ? dollarsForPicture(sum.usd) : sum[show]
}

/** The six largest, and all others as one. */
export function seriesOf(
  rows: readonly GroupRow[],
  slots: readonly number[],
  show: Show,
  /** `only`: they are nothing but calls beside the values of a label. */
  othersText: (groups: number, only: GroupRow['beside']) => string,
): readonly ColumnSeries[] {
  const at = new Map(slots.map((ms, index) => [ms, index]))
  const valuesOf = (of: readonly GroupRow[]): number[] => {
    const values = slots.map(() => 0)
    for (const row of of)
      for (const slot of row.slots) {
        const index = at.get(Date.parse(slot.at))
        if (index !== undefined) values[index] = (values[index] ?? 0) + amountOf(slot, show)
      }
    return values
  }
  const shown = rows.filter(({ colour }) => colour !== 'rest')
  const rest = rows.filter(({ colour }) => colour === 'rest')
  const groups = rest.reduce((sum, row) => sum + row.groups, 0)
  const only = rest.length === 1 ? rest[0]?.beside : undefined
  return [
    ...shown.map((row) => ({ label: row.name ?? '', colour: row.colour, values: valuesOf([row]) })),
    ...(rest.length === 0
      ? []
      : [{ label: othersText(groups, only), colour: 'rest' as const, values: valuesOf(rest) }]),
  ]
}

/** Relative to the period before; undefined where there was nothing. */
export function changeOf(now: string, before: string | undefined): number | undefined {
  if (before === undefined) return undefined
  const [left, right] = [nanoOf(now), nanoOf(before)]
  return right === 0n ? undefined : Number(((left - right) * 10_000n) / right) / 10_000
}

export type Average =
  | { readonly kind: 'picture' | 'tokens'; readonly usd: string }
  | { readonly kind: 'free' | 'none' | 'unpriced' }

/** Groups of one kind. A project, key or user calls models of both: its cost divided by its images is no price. */
export function hasAverage(by: UsageGroup): boolean {
  return by === 'model' || by === 'deployment'
}

/** The price of one image or of a million tokens, in a group of one model or deployment. */
export function averageOf({ usd, images, tokens, unpriced }: Sum): Average {
  const nano = nanoOf(usd)
  if (nano === 0n) {
    if (unpriced > 0) return { kind: 'unpriced' }
    return { kind: tokens > 0 || images > 0 ? 'free' : 'none' }
  }
  if (images > 0) return { kind: 'picture', usd: usdOf(nano / BigInt(images)) }
  if (tokens > 0) return { kind: 'tokens', usd: usdOf((nano * 1_000_000n) / BigInt(tokens)) }
  return { kind: 'none' }
}

/** `0.13`, `0.1176`: four decimals at most, and two at least. */
export function averageText(usd: string): string {
  const nano = nanoOf(usd)
  const isSmall = nano < 100_000n
  const rounded = isSmall ? usd : usdOf(((nano + 50_000n) / 100_000n) * 100_000n)
  const [whole = '0', decimals = ''] = rounded.split('.')
  return `$${whole}.${decimals.replace(/0+$/, '').padEnd(2, '0')}`
}
