/** Fields of models, deployments and upstreams that several features show. */
import { z } from 'zod'
import { time } from './fields.ts'

const deploymentState = z
  .enum(['healthy', 'limited', 'ejected', 'probing', 'held-back', 'quarantined', 'drained'])
  .meta({ id: 'State' })

export const deploymentBrief = z
  .object({
    id: z.string(),
    model: z.string(),
    kind: z.enum(['embedding', 'image']),
    upstream: z.string(),
    state: deploymentState.describe('The worst of all nodes.'),
    until: time.nullable().describe('When it is probed or called again.'),
    since: time.describe('Since when it is in this state.'),
    ends_on: z
      .string()
      .nullable()
      .describe('The day on which its provider shuts the model down. null: no day is known.'),
  })
  .meta({ id: 'DeploymentBrief' })

export const managed = {
  managed_by: z
    .enum(['configuration', 'store', 'built-in'])
    .describe('`configuration`: declared in torana.yaml. Only what the store manages can be changed here.'),
  managed_at: z.string().nullable().describe('`torana.yaml:88`. null: it has no line in the file.'),
}

/** Names of upstreams travel in headers, URLs and metric labels. */
export const upstreamName = z
  .string()
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/,
    'a name is letters, digits, dots, dashes or underscores, at most 63',
  )

/** From `torana.yaml:14`, `built-in` or `store`, as the catalog writes it. */
export function managedBody(managedBy: string): {
  [Field in keyof typeof managed]: z.output<(typeof managed)[Field]>
} {
  if (managedBy === 'store' || managedBy === 'built-in') return { managed_by: managedBy, managed_at: null }
  return { managed_by: 'configuration', managed_at: managedBy }
}
