/** Upstreams, what they offer, and models of the store, as schemas. */
import { z } from 'zod'
import { HOST_SETTINGS, type HostSetting } from '#core/upstream-address.ts'
import { managed, modelRow } from '../models/schemas.ts'
import { listOf, storable, time } from '../wire/fields.ts'
import { priceText } from '../wire/price-text.ts'

/** Names of upstreams travel in headers, URLs and metric labels. */
const name = z
  .string()
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/,
    'a name is letters, digits, dots, dashes or underscores, at most 63',
  )
const MAX_URL = 2000
const MAX_SECRET = 100_000
/** More than any upstream lists. */
const MAX_IDS = 500
const MAX_WIDTH = 65_536

const modelId = z
  .string()
  .regex(/^[\x21-\x7e]{1,200}$/, 'a model id has 1 to 200 visible ASCII characters without spaces')

export const provider = z
  .object({
    id: z.string().describe('What `provider` is in torana.yaml.'),
    name: z.string(),
    dialect: z.string(),
    base_url: z
      .string()
      .nullable()
      .describe('Its published address. null: give one, or its package knows it.'),
    embedding_models: z.int(),
    image_models: z.int(),
  })
  .meta({ id: 'Provider' })

export const upstream = z
  .object({
    ...managed,
    name: z.string(),
    provider: z.string().nullable(),
    dialect: z.string(),
    base_url: z.string().describe('Where calls go.'),
    credential: z.object({
      source: z.enum(['configuration', 'store', 'none']),
      tail: z.string().nullable().describe('The last characters of a stored secret.'),
      updated_at: time.nullable(),
    }),
    deployments: z.array(z.string()).describe('Ids of what runs on it.'),
  })
  .meta({ id: 'Upstream' })

/** The same pattern as in torana.yaml: the value becomes part of the host that receives the secret. */
function hostSetting({ pattern, expected }: HostSetting) {
  return z.string().max(100).regex(pattern, `expected ${expected}`)
}

const region = hostSetting(HOST_SETTINGS['amazon-bedrock'].region)

const address = {
  provider: name.optional().describe('A provider that Torana knows. Absent: an OpenAI-compatible server.'),
  base_url: storable(MAX_URL).optional().describe("Default: the provider's published address."),
  api_version: storable(40).optional().describe('Azure. Default `v1`.'),
  region: region.optional().describe('Amazon Bedrock.'),
  project: storable(200).optional().describe('Google Vertex AI.'),
  location: hostSetting(HOST_SETTINGS['google-vertex'].location).optional().describe('Google Vertex AI.'),
}

const secret = z
  .string()
  .min(1)
  .max(MAX_SECRET)
  .describe('Kept sealed, sent to the upstream alone, never shown again.')

export const newUpstream = z
  .strictObject({
    ...address,
    name: name.optional().describe('Default: the provider, or the host, with a number where it is taken.'),
    secret: secret.optional(),
  })
  .meta({ id: 'NewUpstream' })

export const upstreamChange = z
  .strictObject({
    base_url: storable(MAX_URL)
      .optional()
      .describe('Another address drops the stored secret, unless a new one comes with it.'),
    api_version: storable(40).optional(),
    region: region
      .optional()
      .describe('Amazon Bedrock. Another region drops the stored secret, as another address does.'),
    secret: secret.nullish().describe('null: forget it.'),
  })
  .meta({ id: 'UpstreamChange' })

export const upstreamQuestion = z
  .strictObject({
    ...address,
    upstream: name.optional().describe('Instead of all others: one that exists, with its own credential.'),
    secret: secret.optional(),
  })
  .meta({ id: 'UpstreamQuestion' })

const checkedModel = z.object({
  id: z.string(),
  kind: z.enum(['embedding', 'image']).nullable(),
  known: z.boolean().describe('false: say what it is when you add it.'),
  price: z.array(priceText),
  as_of: z.string().nullable().describe('The day on which the list price was read.'),
  width: z.int().nullable(),
  narrower: z.union([z.enum(['any', 'none']), z.array(z.int())]).nullable(),
  can: z.record(z.string(), z.enum(['native', 'emulated'])),
  served: z
    .string()
    .nullable()
    .describe('Where it is declared already: `torana.yaml:14`, `store`, `built-in`.'),
})

export const checked = z
  .object({
    ok: z.boolean(),
    duration_ms: z.number(),
    fault: z.object({ code: z.string(), message: z.string() }).nullable(),
    listed: z
      .boolean()
      .describe('false: this kind of upstream has no list. The models are those that Torana knows of it.'),
    models: z.array(checkedModel),
  })
  .meta({ id: 'Checked' })

export const newModels = z
  .strictObject({
    upstream: name,
    ids: z.array(modelId).min(1).max(MAX_IDS),
    own: z
      .record(
        modelId,
        z.discriminatedUnion('kind', [
          z.strictObject({ kind: z.literal('embedding'), width: z.int().min(1).max(MAX_WIDTH) }),
          z.strictObject({ kind: z.literal('image') }),
        ]),
      )
      .optional()
      .describe('What those models are that Torana has no facts about.'),
  })
  .meta({ id: 'NewModels' })

export const upstreamPath = z.object({ name: storable(200).min(1) })
export const providerList = listOf(provider).meta({ id: 'ProviderList' })
export const upstreamList = listOf(upstream).meta({ id: 'UpstreamList' })
export const addedModels = z.array(modelRow)
