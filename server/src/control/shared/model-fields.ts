/** Fields of models, deployments and upstreams that several features show. */
import { z } from 'zod'
import { time } from './fields.ts'

const deploymentState = z
  .enum(['healthy', 'limited', 'ejected', 'probing', 'held-back', 'quarantined', 'drained'])
  .meta({ id: 'State' })

export const priceForm = z
  .union([z.string(), z.record(z.string(), z.unknown())])
  .describe('As `price` in torana.yaml: `free`, `unpriced`, or fields such as `usdPerMillionTokens`.')

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

export const source = z
  .discriminatedUnion('kind', [
    z.object({ kind: z.literal('console') }),
    z.object({ kind: z.literal('file'), file: z.string(), line: z.int() }),
    z.object({ kind: z.literal('environment'), variable: z.string() }),
    z.object({ kind: z.literal('built_in') }),
  ])
  .describe('Where it is declared. Only what comes from the console can be changed here.')
  .meta({ id: 'Source' })

/** From `torana.yaml:14`, `built-in` or `store`, as the catalog writes it. Without a file, OpenAI comes with its variable. */
export function sourceBody(managedBy: string, upstream: string): z.output<typeof source> {
  if (managedBy === 'store') return { kind: 'console' }
  const [, file, line] = /^(.*):(\d+)$/.exec(managedBy) ?? []
  if (file !== undefined) return { kind: 'file', file, line: Number(line) }
  return upstream === 'openai' ? { kind: 'environment', variable: 'OPENAI_API_KEY' } : { kind: 'built_in' }
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
