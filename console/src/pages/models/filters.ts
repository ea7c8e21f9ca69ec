/** Which models of the list are in sight, and in which order: the address says it. */
import type { SearchOf } from '../../app/place.ts'
import type { models } from './place.ts'
import type { ModelRow } from './row-words.ts'

export type ModelSearch = SearchOf<typeof models>

export function filtered(rows: readonly ModelRow[], search: ModelSearch): readonly ModelRow[] {
  const { kind, q = '', can = [], upstream, health } = search
  const wanted = q.toLowerCase()
  return rows.filter((row) => {
    if (kind !== undefined && row.kind !== kind) return false
    if (upstream !== undefined && !row.deployments.some((one) => one.upstream === upstream)) return false
    const isIll = row.deployments.some(({ state }) => state !== 'healthy')
    if ((health === 'well' && isIll) || (health === 'ill' && !isIll)) return false
    if (can.some((ability) => row.can[ability] === undefined)) return false
    const names = [row.id, ...row.aliases, ...row.deployments.map((one) => one.upstream)]
    return names.some((name) => name.toLowerCase().includes(wanted))
  })
}

const FIGURES: Record<string, (row: ModelRow) => number | string> = {
  day: (row) => row.last_day.requests,
  p95: (row) => row.last_hour.p95_ms ?? -1,
  name: (row) => row.id.toLowerCase(),
  price: (row) => {
    const amount = Number.parseFloat(row.price[0]?.amount ?? '')
    return Number.isNaN(amount) ? -1 : amount
  },
}

/** `-day` unless the address says otherwise: the busiest first. */
export function sortedRows(rows: readonly ModelRow[], sort = '-day'): readonly ModelRow[] {
  const [sign, by] = sort.startsWith('-') ? [-1, sort.slice(1)] : [1, sort]
  const figureOf = FIGURES[by]
  if (figureOf === undefined) return rows
  return rows.toSorted((a, b) => {
    const [one, two] = [figureOf(a), figureOf(b)]
    if (one === two) return a.id < b.id ? -1 : 1
    return (one < two ? -1 : 1) * sign
  })
}
