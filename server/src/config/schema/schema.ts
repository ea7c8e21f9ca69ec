/** torana.yaml. The schema holds only what this version does; every other field is refused by name. */
import { isIP } from 'node:net'
import { z } from 'zod'
import { addressRangeOf } from '#core/access/client-address.ts'
import { KEY_SCOPES } from '#core/catalog/key-bounds.ts'
import { nanoUsdOf } from '#core/money/price.ts'
import { alerts } from './alerts.ts'
import { cors } from './cors.ts'
import { deploymentEnd, retired } from './ends.ts'
import { image } from './image.ts'
import { ledger } from './ledger.ts'
import { limits } from './limit.ts'
import { anyCapabilities, embeddingLayer, isDay, modelId } from './model.ts'
import { anyPrice } from './price.ts'
import { upstream } from './upstream.ts'
import { webhooks } from './webhook.ts'

/** Names of upstreams, projects and keys travel in headers, URLs and metric labels. */
const name = z
  .string()
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/,
    'a name is letters, digits, dots, dashes or underscores, at most 63',
  )

const SPANS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

/** In milliseconds. A year at most: what must be kept longer belongs into a store of the caller. */
const timeSpan = z
  .string()
  .regex(/^[1-9]\d{0,8}(ms|s|m|h|d)$/, 'expected a time such as 30d, 12h, 90m or 45s')
  .transform(
    (text) => Number.parseInt(text, 10) * SPANS[(/[a-z]+$/.exec(text)?.[0] ?? 'ms') as keyof typeof SPANS],
  )
  .refine((ms) => ms <= 366 * SPANS.d, 'is longer than a year')

const rate = (what: string) =>
  z
    .int()
    .min(1)
    .max(1_000_000_000)
    .optional()
    .describe(`${what} per minute; after a quiet minute, they may all come at once. Absent: no such limit.`)

const rateLimits = z.strictObject({
  requestsPerMinute: rate('Requests'),
  tokensPerMinute: rate('Input tokens (estimated first, then corrected)'),
  imagesPerMinute: rate('Images'),
})

/** An hour: no one waits longer for an embedding. */
const MAX_ATTEMPT_MS = 3_600_000

const deployment = z.strictObject({
  upstream: z.string().min(1).describe('Name of an upstream in this file.'),
  model: z
    .string()
    .min(1)
    .optional()
    .describe(
      "The upstream's name for the model. Default: the name in the built-in facts, else the public id.",
    ),
  priority: z.int().min(0).default(0).describe('Lower numbers go first; higher numbers are the fallback.'),
  weight: z
    .number()
    .positive()
    .default(1)
    .describe('Share of the load among deployments of the same priority.'),
  capabilities: anyCapabilities
    .optional()
    .describe('What the deployment can do. It overrides the built-in facts.'),
  price: anyPrice.optional().describe('The price of this deployment. It overrides the price of the model.'),
  ...deploymentEnd,
  limits: rateLimits
    .extend({
      tokensPerMinute: rate('Input tokens (estimated at four bytes each)'),
      concurrency: z
        .int()
        .min(1)
        .optional()
        .describe('Most concurrent calls of one node. Absent: Torana learns the limit.'),
      minConcurrency: z
        .int()
        .min(1)
        .optional()
        .describe('The limit of concurrent calls that a node learns from latency never falls below this.'),
      learnsConcurrency: z
        .boolean()
        .optional()
        .describe(
          'Whether a node learns from latency how many calls the upstream takes at once. Default `true`. With `false`, only `concurrency` bounds them.',
        ),
    })
    .optional()
    .describe('Limits of the upstream, for all nodes together: each node uses its share.'),
})

export const model = z.strictObject({
  kind: z
    .enum(['embedding', 'image'])
    .optional()
    .describe('What the model makes: vectors or images. Required only for models without built-in facts.'),
  facts: modelId
    .optional()
    .describe('Id of the built-in model with the facts, if the public id is another one.'),
  aliases: z
    .array(modelId)
    .default([])
    .describe('Other ids for the same model. Aliases of an embedding model share its vector space.'),
  embedding: embeddingLayer
    .optional()
    .describe('Facts about an embedding model on every upstream. They override the built-in facts.'),
  image: image
    .optional()
    .describe('Facts about an image model on every upstream. They override the built-in facts.'),
  price: anyPrice
    .optional()
    .describe(
      '`free`, `unpriced` or dollars, for all its deployments. Default: the built-in price of provider and model, else `unpriced`.',
    ),
  unsupported: z
    .enum(['refuse', 'drop'])
    .default('refuse')
    .describe(
      'What Torana does with options that no deployment supports. A request can override it with `x-torana-unsupported`.',
    ),
  unknownFields: z
    .union([z.enum(['pass', 'refuse']), z.array(z.string().min(1)).min(1)])
    .optional()
    .describe(
      'What Torana does with request fields that it does not know: `pass` them on, `refuse` them, or a list of the fields to pass on. Fields under `harmlessFields` always pass. Default `pass`.',
    ),
  deployments: z.array(deployment).min(1).describe('The upstreams that serve the model.'),
  // Without a default: on an image model it is refused, not ignored.
  attemptTimeoutMs: z
    .int()
    .min(1)
    .max(MAX_ATTEMPT_MS)
    .optional()
    .describe('Embeddings: longest single upstream call. Default: `limits.attemptTimeoutMs`.'),
  cache: z
    .strictObject({
      ttl: timeSpan.describe('How long Torana keeps a vector: `30d`, `12h`, `90m`.'),
    })
    .optional()
    .describe('Embeddings: the vector cache, so that a text is paid for once. Absent: off.'),
  space: name
    .optional()
    .describe(
      'Embeddings: the name of a vector space that this model shares with every other model that declares it, by their maker’s word. Answers of all of them are named by it. Absent: the model’s own.',
    ),
  // Without a default: on an image model it is refused, not ignored.
  spaceGuard: z
    .boolean()
    .optional()
    .describe(
      'Embeddings: whether Torana compares the deployments with the space of the model, by probes every 15 minutes, and every 20 seconds while they are in use, and stops those that answer with vectors of another space. Default `true`.',
    ),
  microBatch: z
    .strictObject({
      maxWaitMs: z
        .number()
        .min(0)
        .max(1000)
        .default(4)
        .describe('Longest wait of a request for others. Default 4.'),
      maxItems: z.int().min(2).max(2048).default(64).describe('Most texts of one call. Default 64.'),
      acrossProjects: z
        .boolean()
        .default(false)
        .describe(
          'Whether requests of different projects may share a call. The upstream then sees texts of several projects together. Default `false`.',
        ),
    })
    .optional()
    .describe('Embeddings: requests that arrive at about the same time share a call. Absent: off.'),
})

const moment = z
  .string()
  .regex(
    /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2}))?$/,
    'expected a day such as 2027-01-31 or a moment such as 2027-01-31T12:00:00Z',
  )
  .refine(
    (text) => isDay(text.slice(0, 10)) && !Number.isNaN(Date.parse(text)),
    'is no moment of the calendar',
  )

/** Nano-dollars are kept as 64-bit integers. */
const MAX_USD = 9_000_000_000

const budget = z.strictObject({
  usd: z
    .number()
    .min(0)
    .max(MAX_USD)
    .refine(isNanoUsd, 'a dollar amount has at most nine decimals')
    .describe('Dollars that may be spent in one period.'),
  per: z
    .enum(['day', 'week', 'month', 'total'])
    .default('month')
    .describe('The period, in UTC. Weeks begin on Mondays; `total` never ends. Default `month`.'),
  hard: z
    .boolean()
    .default(false)
    .describe(
      '`true`: Torana reserves money before each call, and refuses requests that do not fit. `false`: Torana only reports.',
    ),
})

/** More are no bound: a node serves fewer. */
const MAX_CALLS_AT_ONCE = 100_000
/** A list beyond this belongs into a firewall. */
const MAX_ADDRESSES = 100

const key = z.strictObject({
  name: name.describe('Name of the key in logs and answers; unique in its project. It is not secret.'),
  secret: z
    .string()
    .describe('What callers send: a `tr_` key, or any text of at least 24 characters. Use `${VAR}`.'),
  models: z.array(z.string().min(1)).min(1).optional().describe('Models that the key may use. Absent: all.'),
  expires: moment
    .optional()
    .describe('Torana refuses the key from this moment on; a day means its start in UTC. Absent: never.'),
  limits: rateLimits.optional().describe('Rate limits of the key, in addition to those of the project.'),
  budget: budget.optional().describe('Budget of the key, in addition to that of the project.'),
  scopes: z
    .array(z.enum(KEY_SCOPES))
    .min(1)
    .optional()
    .describe('What the key may be used for. Absent: everything.'),
  maxCallsAtOnce: z
    .int()
    .min(1)
    .max(MAX_CALLS_AT_ONCE)
    .optional()
    .describe('Concurrent requests of the key, on all nodes together. Absent: no maximum.'),
  addresses: z
    .array(
      z
        .string()
        .refine(
          (text) => addressRangeOf(text, isIP) !== undefined,
          'expected an address or a network such as 192.0.2.7 or 10.0.0.0/8',
        ),
    )
    .min(1)
    .max(MAX_ADDRESSES)
    .optional()
    .describe(
      'Addresses and networks that the key may be used from, as `TRUSTED_PROXIES` tell the address of the client. Absent: from everywhere.',
    ),
})

const project = z.strictObject({
  keys: z.array(key).default([]).describe('Keys of the project.'),
  limits: rateLimits.optional().describe('Rate limits of all its keys together.'),
  budget: budget.optional().describe('Budget of all its keys together.'),
  webhooks: webhooks.describe('Where Torana sends events of the project.'),
})

const playground = z.strictObject({
  requestsPerMinute: rate('Requests of one member in one project'),
  usdPerDay: z
    .number()
    .min(0)
    .max(MAX_USD)
    .refine(isNanoUsd, 'a dollar amount has at most nine decimals')
    .optional()
    .describe(
      'Dollars that one member may spend in one project on one day (UTC). It is a hard budget: models without a price are refused. Absent: no such limit.',
    ),
})

// Sections may be left empty, as they are when all their entries are commented out.
export const configFile = z.strictObject({
  upstreams: z.record(name, upstream).nullish().describe('Endpoints with their credentials, by name.'),
  models: z.record(modelId, model).nullish().describe('Models that callers may use, by public id.'),
  retired: z
    .record(modelId, retired)
    .nullish()
    .describe(
      'Ids of models that are shut down: callers get 404 `model_retired`, which names the successor.',
    ),
  projects: z.record(name, project).nullish().describe('The callers, by project: keys, limits and budgets.'),
  alerts: alerts
    .nullish()
    .describe('Rules and channels of alerts, in addition to those that operators make in the console.'),
  limits: limits.nullish().describe('Limits of this node.'),
  playground: playground
    .nullish()
    .describe(
      'What members may do in the playground of the console, in addition to the limits and the budget of the project that pays. Absent: as much as the project.',
    ),
  ledger: ledger.nullish().describe('Where the ledger is kept, and for how long.'),
  cors: cors.nullish().describe('Web pages that may call the public API from a browser. Absent: none.'),
})

export type ConfigFile = z.output<typeof configFile>
export type UpstreamEntry = z.output<typeof upstream>
export type ModelEntry = z.output<typeof model>
export type DeploymentEntry = z.output<typeof deployment>

function isNanoUsd(usd: number): boolean {
  try {
    nanoUsdOf(usd)
    return true
  } catch {
    return false
  }
}
