/** Which models a list shows, and in which order. */
import type { z } from 'zod'
import type { modelRow, ModelSort, modelsQuery } from './schemas.ts'

type Row = z.output<typeof modelRow>
type Query = Omit<z.output<typeof modelsQuery>, 'sort' | 'project'>

export function isWanted(row: Row, { kind, q, can, upstream, health }: Query): boolean {
  if (kind !== undefined && row.kind !== kind) return false
  if (upstream !== undefined && !row.deployments.some((one) => one.upstream === upstream)) return false
  const isIll = row.deployments.some(({ state }) => state !== 'healthy')
  if (health !== undefined && isIll !== (health === 'ill')) return false
  const abilities = can === undefined ? [] : [can].flat()
  if (abilities.some((ability) => row.can[ability] === undefined)) return false
  if (q === undefined) return true
  const words = [row.id, ...row.aliases, ...row.deployments.map((one) => one.upstream)]
  return words.some((word) => word.toLowerCase().includes(q.toLowerCase()))
}

/** The busiest, the slowest or the dearest first; those without a figure last. */
export function sorted(rows: readonly Row[], sort: ModelSort): Row[] {
  const byName = rows.toSorted((a, b) => (a.id < b.id ? -1 : 1))
  const descending = (figureOf: (row: Row) => number | undefined) =>
    byName.toSorted((a, b) => numberOf(figureOf(b)) - numberOf(figureOf(a)))
  switch (sort) {
    case 'name':
      return byName
    case 'requests':
      return descending((row) => row.last_day.requests)
    case 'p95':
      return descending((row) => row.last_hour.p95_ms ?? undefined)
    case 'price':
      return descending((row) => Number.parseFloat(row.price[0]?.amount ?? ''))
  }
}

function numberOf(figure: number | undefined): number {
  return figure === undefined || Number.isNaN(figure) ? -1 : figure
}
