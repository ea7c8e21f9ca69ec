/** One request of the log, and its rows in the ledger. */
import { z } from 'zod'
import { SKIP_REASONS } from '#core/fault/skip.ts'
import { PARTIES } from '#core/fault/party.ts'
import { momentOf } from '#core/money/ledger.ts'
import { decimalOf } from '#core/money/price.ts'
import type { StoredRemarks } from '#core/money/entry-remarks.ts'
import type { ColdEntries } from '#ports/lake.ts'
import type { StoredEntry } from '#ports/ledger-files.ts'
import type { LoggedTrace } from '#ports/request-reports.ts'
import type { Sql } from '#stores/postgres/database.ts'
import { time, usd } from '../shared/fields.ts'
import { imageJob } from '../shared/image-job-queries.ts'
import { answerOf, answersOf } from '../shared/rows.ts'
import { isoOf } from '../shared/times.ts'
import { COLUMNS, rowFields, rowOf, traceIn, type RequestRow, type StoredRow } from './queries.ts'

const requestStep = z
  .object({
    name: z.enum(['authenticate', 'read', 'negotiate', 'admit', 'gather', 'shape', 'settle', 'answer']),
    start_ms: z.number(),
    duration_ms: z.number(),
    note: z.record(z.string(), z.union([z.string(), z.number()])),
  })
  .meta({ id: 'RequestStep' })

const attempt = z
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

const skip = z
  .object({
    deployment: z.string(),
    reason: z.enum(SKIP_REASONS),
    text: z.string().describe('The reason in words, as in the error: it follows the name of the deployment.'),
  })
  .meta({ id: 'SkippedDeployment' })

const moneyLine = z
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
      'audio_input',
      'video_input',
      'file_input',
      'characters',
      'audio_seconds',
      'video_seconds',
      'pages',
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
    ['told_tokens']: z
      .number()
      .nullable()
      .describe('What the upstream counted, where fewer tokens are charged. null: nothing was cut.'),
    ['told_usd']: usd
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
    fault_text: z
      .string()
      .nullable()
      .describe(
        'The error text that the caller got. `[…]` stands for what may quote the caller or an upstream. null: the version before did not keep it.',
      ),
    fault_cause: z
      .string()
      .nullable()
      .describe(
        'What made it fail, such as `connect ECONNREFUSED 10.0.0.7:8080`. null: nothing beyond the text.',
      ),
    fault_party: z
      .enum(PARTIES)
      .nullable()
      .describe(
        'Who was at fault. `torana` includes its stores and its configuration. null: it did not fail.',
      ),
    skips: z
      .array(skip)
      .describe('Deployments that a failed request did not try, in the order of the configuration.'),
    asked_model: z.string().nullable(),
    client_request_id: z.string().nullable(),
    client_address: z.string().nullable(),
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

/** `amount` holds nano-dollars: the lines of a call are computed from it. */
const ENTRIES = `
SELECT attempt, call_id, kind, deployment, usage, tokens, images, amount_nano,
  coalesce(remarks ->> 'costBy', 'price') AS cost_by, (remarks ->> 'toldTokens')::float8 AS told_tokens,
  (remarks ->> 'toldNanoUsd')::bigint AS told_nano, written_at AS at,
  amount_nano::text AS amount, project, key_id AS key, model
FROM usage_events WHERE request_id = $1 ORDER BY attempt, written_at`

const REQUEST = `
SELECT ${COLUMNS} FROM requests LEFT JOIN nodes ON nodes.node_id = requests.node_id WHERE request_id = $1`

/** A row of the ledger, with what the answer leaves out. */
export type Entry = z.output<typeof ledgerRow> &
  Pick<z.output<typeof forgottenRequest>, 'project' | 'key' | 'model'> & { readonly amount: string | null }

export interface LoggedRequest extends Pick<
  StoredRow,
  'route' | 'client_request_id' | 'client_address' | 'project'
> {
  readonly row: RequestRow
  readonly trace: LoggedTrace
  readonly entries: readonly Entry[]
}

/** Undefined: neither the log nor the ledger has it. */
export async function findRequest(
  sql: Sql,
  cold: ColdEntries,
  id: string,
): Promise<LoggedRequest | z.output<typeof forgottenRequest> | undefined> {
  const [entries, [stored]] = await Promise.all([
    answersOf<Entry>(sql, ENTRIES, [id]),
    answersOf<StoredRow>(sql, REQUEST, [id]),
  ])
  if (stored !== undefined) {
    const trace = traceIn(stored)
    const { route, client_request_id, client_address, project } = stored
    return { route, client_request_id, client_address, project, row: rowOf(stored, trace), trace, entries }
  }
  const ledger = entries.length > 0 ? entries : (await cold.ofRequest(id)).map(coldEntry)
  const [first] = ledger
  if (first === undefined) return undefined
  const { project, key, model } = first
  const posted_usd = decimalOf(postedOf(ledger))
  return { id, at: isoOf(momentOf(id)), log: 'deleted', project, key, model, ledger, posted_usd }
}

/** As `ENTRIES` selects it. */
function coldEntry(entry: StoredEntry): Entry {
  const remarks = JSON.parse(entry.remarks ?? '{}') as StoredRemarks
  const reportedNano = remarks['toldNanoUsd']
  return answerOf<Entry>({
    attempt: entry.attempt,
    call_id: entry.call_id,
    kind: entry.kind,
    deployment: entry.deployment,
    usage: entry.usage,
    tokens: entry.tokens,
    images: entry.images,
    amount_nano: entry.amount_nano,
    cost_by: remarks['costBy'] ?? 'price',
    ['told_tokens']: remarks['toldTokens'] ?? null,
    ['told_nano']: typeof reportedNano === 'string' ? BigInt(reportedNano) : null,
    at: new Date(Number(entry.written_at / 1000n)),
    amount: entry.amount_nano === null ? null : String(entry.amount_nano),
    project: entry.project,
    key: entry.key_id,
    model: entry.model,
  })
}

export function postedOf(entries: readonly Entry[]): bigint {
  return entries.reduce((sum, { amount }) => sum + BigInt(amount ?? 0), 0n)
}
