/** The shapes of the request log at the control API. */
import { z } from 'zod'
import { OUTCOMES } from '#core/request-outcome.ts'
import { MAX_TAG_KEY, MAX_TAG_VALUE, MAX_TAGS, MAX_USER } from '#core/labels.ts'
import { REQUEST_KINDS, REQUEST_SOURCES } from '#ports/request-reports.ts'
import { imageJob } from '../images/jobs-schemas.ts'
import { cursor, givenTime, givenUsd, storable, time, usd } from '../wire/fields.ts'

const NAME = 512
/** Values of one filter. */
const MOST_CHOSEN = 50
/** Rows of one page. */
const MAX_ROWS = 200
/** More columns than a screen can show apart. */
const MAX_SLOTS = 240

const kind = z.enum(REQUEST_KINDS)
const source = z.enum(REQUEST_SOURCES)
const outcome = z.enum(OUTCOMES)

/** A key has no colon; a value may have. */
const tag = storable(MAX_TAG_KEY + 1 + MAX_TAG_VALUE).regex(
  /^[A-Za-z0-9][A-Za-z0-9._-]*:./,
  'expected <key>:<value>, such as team:red',
)

/** One value, or several with the parameter repeated. */
function anyOf<Value extends z.ZodType>(value: Value) {
  return z.preprocess(
    (given) => (given === undefined || Array.isArray(given) ? given : [given]),
    z.array(value).max(MOST_CHOSEN).optional(),
  )
}

export const requestFilters = z.object({
  from: givenTime.optional().describe('Default: one hour before `to`.'),
  to: givenTime.optional().describe('Default: now.'),
  project: storable(NAME).optional(),
  key: anyOf(storable(NAME)),
  model: anyOf(storable(NAME)),
  deployment: storable(NAME).optional(),
  kind: anyOf(kind),
  source: source
    .optional()
    .describe('`callers`: requests that somebody waits for. `batches`: lines of batches.'),
  outcome: anyOf(outcome),
  status: z.coerce.number().int().min(100).max(599).optional(),
  fault: anyOf(storable(NAME)),
  slower_ms: z.coerce.number().min(0).max(1e9).optional(),
  dearer_usd: givenUsd.optional(),
  tries: z.coerce.number().int().min(1).max(1000).optional().describe('At least so many calls.'),
  client: storable(NAME).optional().describe("The caller's own id of the request."),
  user: storable(MAX_USER).optional().describe("The application's own user, as the caller sent it."),
  tag: z
    .preprocess(
      (given) => (given === undefined || Array.isArray(given) ? given : [given]),
      z.array(tag).max(MAX_TAGS).optional(),
    )
    .describe('Such as `team:red`. Repeat it: all of them must fit.'),
})

export const requestPage = z.strictObject({
  ...requestFilters.shape,
  sort: z.enum(['-at', '-duration', '-cost']).default('-at'),
  limit: z.coerce.number().int().min(1).max(MAX_ROWS).default(50),
  after: z.string().max(200).optional(),
})

export const histogramQuery = z.strictObject({
  ...requestFilters.shape,
  slots: z.coerce.number().int().min(1).max(MAX_SLOTS).default(120),
  facets: z
    .enum(['true', 'false'])
    .default('false')
    .transform((text) => text === 'true'),
})

export const requestPath = z.object({ id: z.uuid() })

const rowFields = {
  id: z.uuid(),
  at: time,
  kind,
  source,
  status: z.int(),
  fault: z.string().nullable(),
  outcome,
  project: z.string().nullable(),
  key: z.string().nullable(),
  model: z.string().nullable(),
  deployments: z.array(z.string()),
  calls: z.int(),
  inputs: z.int().nullable(),
  hits: z.int().nullable(),
  tokens: z.int().nullable(),
  images: z.int().nullable(),
  cost_usd: usd.nullable().describe('null: nothing was charged, or nobody knows a price; `unpriced` tells.'),
  unpriced: z.boolean(),
  usage: z.enum(['upstream', 'estimated', 'unknown']).nullable(),
  duration_ms: z.number(),
  own_ms: z.number().describe("Of it: Torana's own work."),
  waited_ms: z.number().describe('Of it: waiting for a turn.'),
  node: z.string(),
  asset: z.string().nullable().describe('The first picture.'),
  user: z.string().nullable().describe('As the caller sent it.'),
  tags: z.record(z.string(), z.string()),
}

export const requestRow = z.object(rowFields).meta({ id: 'RequestRow' })

export const requestList = z
  .object({ data: z.array(requestRow), has_more: z.boolean(), next: cursor })
  .meta({ id: 'RequestList' })

export const requestStep = z
  .object({
    name: z.enum(['authenticate', 'read', 'negotiate', 'admit', 'gather', 'shape', 'settle', 'answer']),
    start_ms: z.number(),
    duration_ms: z.number(),
    note: z.record(z.string(), z.union([z.string(), z.number()])),
  })
  .meta({ id: 'RequestStep' })

export const attempt = z
  .object({
    attempt: z.int(),
    call_id: z.uuid(),
    deployment: z.string(),
    part: z.int().describe('Which part of a split request, from 0.'),
    inputs: z.int(),
    start_ms: z.number(),
    waited_ms: z.number(),
    first_byte_ms: z.number().nullable(),
    duration_ms: z.number(),
    outcome: z.string().describe('`ok`, or the kind of failure.'),
    status: z.int().nullable(),
    reason: z.string().nullable(),
    retry_after_ms: z.number().nullable(),
    upstream_request_id: z.string().nullable(),
    instead_of: z.int().nullable().describe('The attempt that it was made in place of.'),
    shared_with: z.int().describe('Other requests in the same call.'),
  })
  .meta({ id: 'Attempt' })

export const moneyLine = z
  .object({
    attempt: z.int().nullable(),
    call_id: z.uuid().nullable(),
    deployment: z.string(),
    kind: z.enum(['intent', 'post', 'unknown', 'void', 'adjust']),
    of: z.enum([
      'tokens',
      'text_input',
      'cached_text_input',
      'image_input',
      'cached_image_input',
      'text_output',
      'image_output',
      'svg_input',
      'svg_output',
      'images',
      'given_images',
      'megapixels',
      'given_megapixels',
      'hits',
    ]),
    count: z.number(),
    price_usd: usd.nullable(),
    per: z.union([z.literal(1), z.literal(1_000_000)]),
    amount_usd: usd.nullable(),
    counted_by: z.enum(['upstream', 'torana']),
    at: time,
  })
  .meta({ id: 'MoneyLine' })

const ledgerRow = z
  .object({
    attempt: z.int(),
    call_id: z.uuid(),
    kind: z.enum(['intent', 'post', 'unknown', 'void', 'adjust']),
    deployment: z.string(),
    usage: z.enum(['upstream', 'estimated', 'unknown']),
    tokens: z.int().nullable(),
    images: z.int(),
    amount_usd: usd.nullable(),
    cost_by: z
      .enum(['price', 'upstream'])
      .describe('`upstream`: the amount is what the upstream says that it charges.'),
    told_tokens: z
      .number()
      .nullable()
      .describe('What the upstream counted, where fewer tokens are charged. null: nothing was cut.'),
    told_usd: usd
      .nullable()
      .describe('What the upstream says that it charges, where less is charged. null: nothing was cut.'),
    at: time,
  })
  .meta({ id: 'LedgerRow' })

const difference = z
  .object({
    field: z.string(),
    how: z.enum(['emulated', 'dropped', 'translated', 'absorbed']),
    note: z.string(),
  })
  .meta({ id: 'Difference' })

const fields = z.record(z.string(), z.unknown())

export const requestDetail = z
  .object({
    ...rowFields,
    log: z.literal('kept'),
    route: z.string(),
    asked_model: z.string().nullable(),
    client_request_id: z.string().nullable(),
    space: z.string().nullable(),
    emulated: z.array(z.string()),
    dropped: z.array(z.string()),
    bytes_in: z.int(),
    bytes_out: z.int(),
    steps: z.array(requestStep),
    attempts: z.array(attempt),
    money: z.object({
      reserved_usd: usd.nullable(),
      reserved_from: z.array(z.string()),
      lines: z.array(moneyLine),
      posted_usd: usd,
      returned_usd: usd,
      saved_usd: usd,
    }),
    ledger: z.array(ledgerRow),
    wire: z.object({ in: fields, out: fields, differences: z.array(difference) }),
    job: imageJob.nullable(),
    replay: z.object({ possible: z.boolean(), reason: z.string().nullable() }),
  })
  .meta({ id: 'RequestDetail' })

export const forgottenRequest = z
  .object({
    id: z.uuid(),
    at: time,
    log: z.literal('deleted'),
    project: z.string(),
    key: z.string(),
    model: z.string(),
    ledger: z.array(ledgerRow),
    posted_usd: usd,
  })
  .meta({
    id: 'ForgottenRequest',
    description: 'The log of the request was deleted. Its rows in the ledger are kept.',
  })

const counts = z.record(z.string(), z.int())

export const histogram = z
  .object({
    slot_seconds: z.int(),
    total: z.int(),
    data: z.array(
      z.object({
        at: time,
        answered: z.int(),
        refused: z.int(),
        limited: z.int(),
        failed: z.int(),
        unknown: z.int(),
      }),
    ),
    facets: z
      .object({
        outcome: counts,
        kind: counts,
        model: counts,
        key: counts,
        fault: counts,
        user: counts,
        tag: counts,
      })
      .nullable()
      .describe('Counts over the whole range, whatever else is filtered.'),
    capped_at: time
      .nullable()
      .describe('There are more requests than are counted: only those from here on are. null: all are.'),
  })
  .meta({ id: 'Histogram' })
