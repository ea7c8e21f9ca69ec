/** Rows of the request log. */
import { z } from 'zod'
import type { Tags } from '#core/money/labels.ts'
import { momentOf } from '#core/money/ledger.ts'
import { outcomeOf } from '#core/request/request-outcome.ts'
import { KIND_OF_ROUTE, sourceOf, type LoggedTrace } from '#ports/request-reports.ts'
import type { Sql } from '#stores/postgres/database.ts'
import { emptyTrace, traceOf } from '#stores/postgres/ledger/trace-text.ts'
import { invalidField } from '../shared/faults.ts'
import { pageOf, time, usd } from '../shared/fields.ts'
import { answersOf } from '../shared/rows.ts'
import { hundredths, isoOf } from '../shared/times.ts'
import { Conditions, kind, outcome, source, type RequestFilter } from './filter-queries.ts'

export const rowFields = {
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
  cost_usd: usd
    .nullable()
    .describe('null: nothing was charged, or the model has no price; `unpriced` says which.'),
  unpriced: z.boolean(),
  usage: z.enum(['upstream', 'estimated', 'unknown']).nullable(),
  duration_ms: z.number(),
  own_ms: z.number().describe("Of it: Torana's own work."),
  waited_ms: z.number().describe('Of it: waiting for a turn.'),
  node: z.string(),
  asset: z.string().nullable().describe('The first image.'),
  user: z.string().nullable().describe('As the caller sent it.'),
  tags: z.record(z.string(), z.string()),
}

const requestRow = z.object(rowFields).meta({ id: 'RequestRow' })

export const requestList = pageOf(requestRow).meta({ id: 'RequestList' })

export type RequestRow = z.output<typeof requestRow>

/** `kind`, `source`, `outcome` and more follow from these columns: see `rowOf`. */
export const COLUMNS = `
requests.request_id AS id, status, fault, project, key_id AS key, model,
coalesce(string_to_array(deployments, ','), '{}') AS deployments, attempts AS calls, inputs, hits, tokens, images,
amount_nano AS cost_nano, duration_ms, own_ms, coalesce(waited_ms, 0) AS waited_ms,
coalesce(nodes.host, left(requests.node_id::text, 8), '') AS node, end_user AS "user", tags,
route, client_request_id, client_address, trace`

export type StoredRow = Omit<
  RequestRow,
  'at' | 'kind' | 'source' | 'outcome' | 'calls' | 'unpriced' | 'usage' | 'own_ms' | 'asset' | 'tags'
> & {
  readonly calls: number | null
  readonly own_ms: number | null
  readonly tags: Tags | null
  readonly route: string
  readonly client_request_id: string | null
  readonly client_address: string | null
  readonly trace: string | null
  /** What a list is sorted by, unless that is the time. */
  readonly sorted_by?: string
}

export function traceIn({ trace, model: name, inputs, deployments }: StoredRow): LoggedTrace {
  const row = { model: name ?? undefined, inputs: inputs ?? undefined, deployments }
  return (trace === null ? undefined : traceOf(trace, row)) ?? emptyTrace(row.model)
}

export function rowOf(stored: StoredRow, trace: LoggedTrace): RequestRow {
  const { route, trace: _trace, sorted_by: _value, ...shown } = stored
  const { client_request_id: _id, client_address: _address, ...row } = shown
  const result = outcomeOf(row.status, row.fault ?? undefined)
  return {
    ...row,
    at: isoOf(momentOf(row.id)),
    kind: KIND_OF_ROUTE.get(route) ?? 'embedding',
    source: sourceOf(route),
    outcome: result,
    calls: row.calls ?? trace.attempts.length,
    unpriced: trace.isUnpriced,
    usage: result === 'unknown' ? 'unknown' : (trace.usage ?? null),
    duration_ms: hundredths(row.duration_ms),
    own_ms: hundredths(row.own_ms ?? row.duration_ms),
    waited_ms: hundredths(row.waited_ms),
    asset: trace.asset ?? null,
    tags: { ...row.tags },
  }
}

/** Rows that one query looks at, which takes a fifth of a second. A list continues with its next page. */
const MAX_LOOKED_AT = 250_000

/** As of the last analysis of each partition, which is exact enough to know whether there are too many. */
const ABOUT_ROWS = `
SELECT coalesce(sum(greatest(reltuples, 0)), 0)::float8 AS rows
FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid WHERE inhparent = 'requests'::regclass`

/** The oldest row that a query looks at. Undefined: it may look at all. */
export async function oldestLookedAt(
  sql: Sql,
  filter: RequestFilter,
  before?: string,
): Promise<string | undefined> {
  const [known] = await sql.query<{ rows: number }>(ABOUT_ROWS)
  if ((known?.rows ?? 0) <= MAX_LOOKED_AT) return undefined
  const conditions = new Conditions()
  const indexed = conditions.indexed(filter, before)
  const [row] = await sql.query<{ request_id: string }>(
    `SELECT request_id FROM requests WHERE ${indexed} ORDER BY request_id DESC OFFSET ${MAX_LOOKED_AT - 1} LIMIT 1`,
    conditions.values,
  )
  return row?.request_id
}

/** Expressions that rows are sorted by. A row without a cost comes after all that have one. */
const SORTED_BY = {
  '-at': undefined,
  '-duration': 'duration_ms',
  '-cost': 'coalesce(amount_nano, -1)',
} as const

export interface RequestPage {
  readonly sort: keyof typeof SORTED_BY
  readonly limit: number
  /** `next` of the page before. */
  readonly after?: string | undefined
}

export async function listRequests(
  sql: Sql,
  filter: RequestFilter,
  { sort, limit, after }: RequestPage,
): Promise<z.output<typeof requestList>> {
  const place = after === undefined ? undefined : placeOf(after)
  const by = SORTED_BY[sort]
  if (place !== undefined && (place.value === undefined) !== (by === undefined)) throw unreadableCursor()
  const before = by === undefined ? place?.id : undefined
  const conditions = new Conditions()
  const indexed = conditions.indexed(filter, before)
  const other = conditions.other(filter)
  // Rows that come in order until the page is full are bounded by the page.
  const oldest =
    other === undefined && by === undefined ? undefined : await oldestLookedAt(sql, filter, before)
  const where = [
    indexed,
    ...(other === undefined ? [] : [other]),
    ...(by && place ? [behind(conditions, by, place)] : []),
    ...(oldest === undefined ? [] : [`request_id >= ${conditions.of(oldest)}::uuid`]),
  ]
  const order = by === undefined ? 'request_id DESC' : `${by} DESC, request_id DESC`
  const rows = await answersOf<StoredRow>(
    sql,
    `SELECT ${COLUMNS}, ${by ?? 'NULL'}::text AS sorted_by
     FROM (SELECT * FROM requests WHERE ${where.join(' AND ')} ORDER BY ${order}
           LIMIT ${conditions.of(limit + 1)}) AS requests
     LEFT JOIN nodes ON nodes.node_id = requests.node_id
     ORDER BY ${by === undefined ? 'requests.request_id DESC' : `${by} DESC, requests.request_id DESC`}`,
    conditions.values,
  )
  const shown = rows.slice(0, limit)
  const last = shown.at(-1)
  const rest = by === undefined && oldest !== undefined ? { id: oldest } : undefined
  const end =
    rows.length > limit && last !== undefined
      ? { id: last.id, value: by === undefined ? undefined : last.sorted_by }
      : rest
  const data = shown.map((row) => rowOf(row, traceIn(row)))
  return { data, has_more: end !== undefined, next: end === undefined ? null : cursorOf(end) }
}

interface Place {
  readonly id: string
  /** The value that rows are sorted by, as text: amounts are larger than a number can hold. */
  readonly value?: string | undefined
}

function behind(conditions: Conditions, by: string, { id, value }: Place): string {
  const type = by === 'duration_ms' ? 'real' : 'bigint'
  return `(${by}, request_id) < (${conditions.of(value)}::${type}, ${conditions.of(id)}::uuid)`
}

function cursorOf({ id, value }: Place): string {
  return Buffer.from(value === undefined ? id : `${id} ${value}`).toString('base64url')
}

const UUID = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/

function placeOf(after: string): Place {
  const [id = '', value] = Buffer.from(after, 'base64url').toString('latin1').split(' ')
  if (!UUID.test(id) || (value !== undefined && !/^-?\d{1,19}(?:\.\d{1,9})?(?:e[+-]?\d{1,2})?$/.test(value)))
    throw unreadableCursor()
  return { id, value }
}

function unreadableCursor(): Error {
  return invalidField(
    'after is not a cursor of this list. Take `next` of the page before, with the same sort.',
    'after',
  )
}
