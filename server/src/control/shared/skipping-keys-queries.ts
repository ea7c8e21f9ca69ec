/** Keys with a hard budget that skip a deployment without a price: its calls can't be counted against the budget. */
import { z } from 'zod'
import { listModels, type Model } from '#core/catalog/catalog.ts'
import type { Sql } from '#stores/postgres/database.ts'
import type { ControlNode } from './node.ts'
import { declaredKeys } from './project-terms.ts'
import { answersOf } from './rows.ts'

export const skippedFor = z
  .object({ keys: z.int().min(1), reason: z.enum(['unpriced']) })
  .nullable()
  .describe(
    'Keys with a hard budget, of their own or of their project, that never use it. null: there are none.',
  )

export type SkippedFor = z.output<typeof skippedFor>

/** The models that keys may use, and how many keys may use just these. Undefined: all models. */
interface KeyGroup {
  readonly models: readonly string[] | null | undefined
  readonly keys: number
}

/** Different lists of models: more than an installation gives its keys by hand. */
const MAX_LISTS = 10_000

/** $1: keys of torana.yaml; $2: its projects; $3: of them, those with a hard budget. */
const STORED = `
SELECT models, count(*) AS keys FROM keys JOIN projects USING (project)
WHERE revoked_at IS NULL AND deleted_at IS NULL AND (expires_at IS NULL OR expires_at > now())
  AND key_id <> ALL($1::text[])
  AND (coalesce((keys.budget->>'hard')::boolean, false) OR project = ANY($3::text[])
    OR project <> ALL($2::text[]) AND coalesce((projects.budget->>'hard')::boolean, false))
GROUP BY models ORDER BY keys DESC LIMIT ${MAX_LISTS}`

/** How many keys skip a deployment. Asks nothing where every deployment has a price. */
export async function openSkippedFor({
  catalog,
  declaredProjects,
  reports,
  clock,
}: Pick<ControlNode, 'catalog' | 'declaredProjects' | 'reports' | 'clock'>): Promise<
  (model: Model, deployment: Model['deployments'][number]) => SkippedFor
> {
  const hasUnpriced = listModels(catalog()).some(({ deployments }) =>
    deployments.some(({ price }: Model['deployments'][number]) => price.kind === 'unpriced'),
  )
  const groups = hasUnpriced ? await keyGroups(reports, declaredProjects(), clock.nowMs()) : []
  return (model, { price }) => {
    if (price.kind !== 'unpriced') return null
    const keys = groups.reduce((sum, group) => sum + (mayUse(group, model) ? group.keys : 0), 0)
    return keys === 0 ? null : { keys, reason: price.kind }
  }
}

async function keyGroups(
  sql: Sql,
  projects: ReturnType<ControlNode['declaredProjects']>,
  nowMs: number,
): Promise<readonly KeyGroup[]> {
  const hard = new Set(projects.filter(({ budget }) => budget?.hard).map(({ name }) => name))
  const declared = declaredKeys(projects)
  const own = declared
    .filter(({ key, project }) => key.budget?.hard || hard.has(project))
    .filter(({ key: { expiresAtMs = Infinity } }) => expiresAtMs > nowMs)
    .map(({ key: { models } }) => ({ models, keys: 1 }))
  const values = [declared.map(({ id }) => id), projects.map(({ name }) => name), [...hard]]
  return [...own, ...(await answersOf<KeyGroup>(sql, STORED, values))]
}

function mayUse({ models }: KeyGroup, { id, aliases }: Model): boolean {
  return models == null || [id, ...aliases].some((name) => models.includes(name))
}
