/** Which models a list shows, and in which order. */
import { z } from 'zod'
import type { Model, Project } from '#core/catalog/catalog.ts'
import { storable } from '../shared/fields.ts'
import type { ModelRow } from './row-rules.ts'

/** Length of the name of a model, an upstream or a project. */
const MAX_NAME = 400

export const modelsQuery = z.object({
  kind: z.enum(['embedding', 'image']).optional(),
  q: storable(MAX_NAME).optional().describe('A part of an id, an alias or the name of an upstream.'),
  can: z
    .union([storable(40), z.array(storable(40)).max(20)])
    .optional()
    .describe('Repeatable: what it must be able to do.'),
  upstream: storable(MAX_NAME).optional(),
  health: z.enum(['well', 'ill']).optional().describe('`ill`: a deployment of it is not healthy.'),
  project: storable(MAX_NAME).optional().describe('Only models that its keys may use.'),
  sort: z.enum(['requests', 'name', 'p95', 'price']).default('requests'),
})

type Query = z.output<typeof modelsQuery>

/**
 * Whether keys with these lists may use a model. A list that is undefined or null allows all models, and so do no lists at all:
 * developers without a key need to see what their first key can ask for.
 */
export function usableBy(
  lists: readonly (readonly string[] | undefined | null)[],
): (model: Pick<Model, 'id' | 'aliases'>) => boolean {
  const isRestricted = lists.length > 0 && lists.every((models) => models != null)
  if (!isRestricted) return () => true
  const names = new Set(lists.flatMap((models) => models ?? []))
  return ({ id, aliases }) => names.has(id) || aliases.some((alias) => names.has(alias))
}

/** The models of each key that the configuration declares for these projects. */
export function declaredLists(declared: readonly Project[], projects: readonly string[]) {
  return declared
    .filter(({ name }) => projects.includes(name))
    .flatMap(({ keys }) => keys.map(({ models }) => models))
}

export function isWanted(row: ModelRow, { kind, q, can, upstream, health }: Query): boolean {
  if (kind !== undefined && row.kind !== kind) return false
  if (upstream !== undefined && !row.deployments.some((one) => one.upstream === upstream)) return false
  const isWell = row.deployments.every(({ state }) => state === 'healthy')
  if (health !== undefined && isWell !== (health === 'well')) return false
  const abilities = can === undefined ? [] : [can].flat()
  if (abilities.some((ability) => row.can[ability] === undefined)) return false
  if (q === undefined) return true
  const words = [row.id, ...row.aliases, ...row.deployments.map((one) => one.upstream)]
  return words.some((word) => word.toLowerCase().includes(q.toLowerCase()))
}

/** The busiest, the slowest or the most expensive first; those without a figure last. */
export function sorted(rows: readonly ModelRow[], sort: Query['sort']): ModelRow[] {
  const byName = rows.toSorted((a, b) => (a.id < b.id ? -1 : 1))
  const descending = (figureOf: (row: ModelRow) => number | null) =>
    byName.toSorted((a, b) => orderOf(figureOf(b)) - orderOf(figureOf(a)))
  switch (sort) {
    case 'name':
      return byName
    case 'requests':
      return descending((row) => row.last_day.requests)
    case 'p95':
      return descending((row) => row.last_hour.p95_ms)
    case 'price':
      return descending((row) => Number.parseFloat(row.price[0]?.amount ?? ''))
  }
}

function orderOf(figure: number | null): number {
  return figure === null || Number.isNaN(figure) ? -1 : figure
}
