/** Projects and keys as schemas: requests are checked by them, and the OpenAPI document is made of them. */
import { isIP } from 'node:net'
import { z } from 'zod'
import { addressRangeOf } from '#core/client-address.ts'
import { KEY_SCOPES } from '#core/key-bounds.ts'
import { KEY_NOTES, KEY_STATES } from '#core/key-hygiene.ts'
import { KEY_ORDERS } from '#core/key-order.ts'
import { cursor, givenUsd, listOf, pageLimit as limit, storable, time, usd } from '../wire/fields.ts'

/** Names travel in paths, headers and metric labels. */
const name = z
  .string()
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/,
    'a name is letters, digits, dots, dashes or underscores, at most 63',
  )

const MAX_RATE = 1_000_000_000
/** A key may need many models, but a list beyond this is a mistake. */
const MAX_MODELS = 1000
/** A secret that leaked should not live on for longer than a season. */
const MAX_OVERLAP_SECONDS = 90 * 86_400
/** A day is enough for a deployment, and short enough to be remembered. */
const DEFAULT_OVERLAP_SECONDS = 86_400

const rate = z.int().min(1).max(MAX_RATE)
const rateChange = rate.nullish().describe('Units a minute. null: no such limit.')

const limits = z
  .object({
    requests_per_minute: rate.optional(),
    tokens_per_minute: rate.optional(),
    images_per_minute: rate.optional(),
  })
  .meta({ id: 'Limits' })

const limitsChange = z
  .strictObject({
    requests_per_minute: rateChange,
    tokens_per_minute: rateChange,
    images_per_minute: rateChange,
  })
  .meta({ id: 'LimitsChange' })

const period = z.enum(['day', 'week', 'month', 'total'])

const budget = z.object({ usd, per: period, hard: z.boolean() }).meta({ id: 'Budget' })

const budgetChange = z
  .strictObject({ usd: givenUsd, per: period.default('month'), hard: z.boolean().default(false) })
  .meta({ id: 'BudgetChange' })

const moment = z
  .string()
  .regex(
    /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2}))?$/,
    'expected a day such as 2027-01-31 or a moment such as 2027-01-31T12:00:00Z',
  )
  .refine((text) => !Number.isNaN(Date.parse(text)), 'is no moment of the calendar')

/** More are no bound: a node serves fewer. */
const MAX_CALLS_AT_ONCE = 100_000
/** A list beyond this belongs into a firewall. */
const MAX_ADDRESSES = 100

const address = storable(50).refine(
  (text) => addressRangeOf(text, isIP) !== undefined,
  'expected an address or a network such as 192.0.2.7 or 10.0.0.0/8',
)

const models = z.array(storable(200).min(1)).min(1).max(MAX_MODELS)

const termsChange = {
  limits: limitsChange.optional().describe('Fields that are left out stay as they are.'),
  budget: budgetChange.nullish().describe('null: no budget.'),
}

const keyTermsChange = {
  ...termsChange,
  models: models.nullish().describe('Ids or aliases. null: all.'),
  scopes: z
    .array(z.enum(KEY_SCOPES))
    .min(1)
    .nullish()
    .describe('What the key may be used for. null: everything.'),
  max_calls_at_once: z
    .int()
    .min(1)
    .max(MAX_CALLS_AT_ONCE)
    .nullish()
    .describe('Requests under way at once, on all nodes together. null: no maximum.'),
  addresses: z
    .array(address)
    .min(1)
    .max(MAX_ADDRESSES)
    .nullish()
    .describe('Addresses and networks that the key may be used from. null: everywhere.'),
  expires_at: moment
    .nullish()
    .describe('The key is refused from this moment on; a day means its start in UTC.'),
}

const managedAt = z
  .string()
  .nullable()
  .describe('Where it is declared: `torana.yaml:88`, or `environment`. null: in the store.')

const managedBy = z
  .enum(['configuration', 'store'])
  .describe('`configuration`: declared in torana.yaml or the environment, and read-only here.')

const spent = z
  .object({ usd, window_start: time })
  .nullable()
  .describe('Of the budget, in the window that runs. null: there is no budget.')

const outcome = z.enum(['sent', 'given-up', 'waiting'])

const projectWebhook = z
  .object({
    url: z.string().describe('Without its path, which is a secret at many receivers.'),
    events: z.array(z.string()).nullable().describe('null: all.'),
    last: z.object({ at: time, outcome }).nullable().describe('The newest delivery.'),
  })
  .meta({ id: 'ProjectWebhook' })

export const project = z
  .object({
    name: z.string(),
    managed_by: managedBy,
    managed_at: managedAt,
    limits,
    budget: budget.nullable(),
    spent,
    capture_inputs: z.literal(false).describe('Inputs are not kept by this version.'),
    keys: z.int().describe('How many keys of it work.'),
    members: z.int().describe('How many people see it.'),
    webhooks: z.array(projectWebhook).describe('Those of torana.yaml.'),
    created_at: time.nullable(),
  })
  .meta({ id: 'Project' })

/** The answer to a change of a project, built from the committed record alone. */
export const changedProject = project
  .omit({ spent: true, keys: true, members: true, webhooks: true })
  .meta({ id: 'ChangedProject' })

const secretState = z
  .object({
    tail: z.string().describe('Its last characters.'),
    valid_until: time.nullable().describe('The end of the overlap after a rotation.'),
    created_at: time.nullable(),
    pepper: z
      .enum(['current', 'previous', 'unknown'])
      .describe(
        '`previous`: created with TORANA_SECRET_PREVIOUS and not used since; `unknown`: this node cannot recognise it.',
      ),
  })
  .meta({ id: 'KeySecret' })

export const key = z
  .object({
    id: z.string().describe('`<project>/<name>`.'),
    project: z.string(),
    name: z.string(),
    managed_by: managedBy,
    managed_at: managedAt,
    models: z.array(z.string()).nullable().describe('null: all.'),
    scopes: z.array(z.enum(KEY_SCOPES)).nullable().describe('null: everything.'),
    max_calls_at_once: z.int().nullable(),
    addresses: z.array(z.string()).nullable().describe('null: everywhere.'),
    limits,
    budget: budget.nullable(),
    expires_at: time.nullable(),
    revoked_at: time.nullable(),
    leaked: z.boolean().describe('It was revoked because a stranger may have its secret.'),
    first_used_at: time.nullable(),
    last_used_at: time.nullable().describe('Accurate to a minute.'),
    created_at: time.nullable(),
    secrets: z.array(secretState).describe('Newest first.'),
    spent,
    requests_30d: z
      .array(z.int())
      .describe('Requests of each of the last thirty days in UTC, oldest first. Empty: there were none.'),
    requests_24h: z.int(),
    notes: z.array(z.enum(KEY_NOTES)).describe('What is worth a look.'),
  })
  .meta({ id: 'Key' })

/** The answer to a change of a key is built from the committed record alone: figures come from reports, which may be busy. */
export const changedKey = key
  .omit({ spent: true, requests_30d: true, requests_24h: true })
  .meta({ id: 'ChangedKey' })

export const keyWithSecret = changedKey
  .extend({
    secret: z.string().optional().describe('Shown only this once. Absent if you supplied it yourself.'),
  })
  .meta({ id: 'KeyWithSecret' })

export const newProject = z.strictObject({ name, ...termsChange }).meta({ id: 'NewProject' })
export const projectChange = z.strictObject(termsChange).meta({ id: 'ProjectChange' })
export const keyChange = z.strictObject(keyTermsChange).meta({ id: 'KeyChange' })
export const newKey = z
  .strictObject({
    project: name,
    name,
    secret: z
      .string()
      .min(1)
      .max(1000)
      .optional()
      .describe('An existing key to import. Absent: Torana creates one.'),
    ...keyTermsChange,
  })
  .meta({ id: 'NewKey' })

export const revocation = z.object({
  leaked: z
    .enum(['true', 'false'])
    .optional()
    .describe(
      'A stranger may have its secret: batches and image jobs that it began are cancelled. Otherwise its batches pause, until a person continues or cancels them.',
    ),
})

export const rotation = z
  .strictObject({
    overlap_seconds: z
      .int()
      .min(0)
      .max(MAX_OVERLAP_SECONDS)
      .default(DEFAULT_OVERLAP_SECONDS)
      .describe('How long the previous secret stays valid.'),
  })
  .meta({ id: 'Rotation' })

/** `<project>/<name>`, and keys of torana.yaml may have longer names. */
export const namePage = z.object({ after: storable(500).optional(), limit })
export const keyPage = namePage.extend({
  project: name.optional(),
  q: storable(100).optional().describe('A part of the id, or the last characters of a secret.'),
  state: z
    .enum(KEY_STATES)
    .optional()
    .describe('`tidy`: somebody should look at it. `revoked`: revoked, or past its end.'),
  sort: z
    .enum(KEY_ORDERS)
    .default('id')
    .describe(
      '`-used`: the last used first. `ends`: the next to end first. Keys of which there is nothing to tell come last.',
    ),
})

export const projectPath = z.object({ project: name })
/** Keys of torana.yaml may have other names; they are declared there, and only listed here. */
export const keyPath = z.object({ project: name, name })
export const declaredKeyPath = z.object({ project: storable(200), name: storable(200) })

export const projectList = listOf(project).meta({ id: 'ProjectList' })
export const keyList = listOf(key)
  .extend({
    next: cursor,
    counts: z
      .object({ active: z.int(), ending: z.int(), tidy: z.int(), revoked: z.int() })
      .describe('How many keys each state has, of those that `project` and `q` let through.'),
  })
  .meta({ id: 'KeyList' })

export const webhookEvent = z
  .object({
    id: z.string(),
    project: z.string(),
    type: z.string(),
    url: z.string().describe('Without its path, which is a secret at many receivers.'),
    tries: z.int(),
    created_at: time,
    ended_at: time.nullable(),
    outcome,
  })
  .meta({ id: 'WebhookEvent' })
export const webhookPage = z.object({
  project: name.optional(),
  outcome: outcome.optional(),
  after: storable(3000).optional(),
  limit,
})
export const webhookList = listOf(webhookEvent).extend({ next: cursor }).meta({ id: 'WebhookEventList' })

export const noContent = z.undefined().describe('Done.')
