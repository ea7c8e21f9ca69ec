/** Usage as a file: groups by day, or every entry of the ledger, with a last line that proves that nothing is missing. */
import { createHash } from 'node:crypto'
import { z } from 'zod'
import { Fault } from '#core/fault/fault.ts'
import { momentOf } from '#core/ledger.ts'
import { decimalOf } from '#core/price.ts'
import {
  isUsageLabel,
  type UsageEntry,
  type UsageGroup,
  type UsageLabel,
  type UsageReader,
  type UsageSpan,
} from '#ports/usage.ts'
import { faultAnswers } from '../../fault-answers.ts'
import { callerIn, visibleProjects } from '../access/caller.ts'
import type { Api } from '../wire/route.ts'
import { StreamSlots } from '../streams/stream-slots.ts'
import { isoOf } from '../wire/times.ts'
import { isNothing, sumBody } from './bodies.ts'
import { exportQuery } from './schemas.ts'
import { namesOf, spanOf } from './span.ts'

/** Entries in one question: a few tens of milliseconds, so that pages get their turn in between. */
const PORTION = 2000
/** More would keep the connections for reports to themselves. */
const MOST_AT_ONCE = 2
const RETRY_AFTER_MS = 10_000
/** Of one day: all keys that a node is built for, ten times. */
const MOST_GROUPS = 100_000
const DAY_MS = 86_400_000

type Cell = string | number | null
type Row = Readonly<Record<string, Cell>>

export function registerUsageExport(
  api: Api,
  { usage, nowMs }: { readonly usage: UsageReader; readonly nowMs: () => number },
): void {
  const exports = new StreamSlots({
    slots: MOST_AT_ONCE,
    headroom: Infinity,
    full: () =>
      new Fault('too_many_exports', `${MOST_AT_ONCE} exports run on this node already. Retry.`, {
        retryAfterMs: RETRY_AFTER_MS,
      }),
  })
  api.get('/usage/export', {
    config: { permission: 'usage.export' },
    schema: {
      operationId: 'exportUsage',
      summary: 'Usage as CSV or NDJSON; the last line holds the SHA-256 of all lines before it',
      querystring: exportQuery,
      response: {
        200: z.string().describe('CSV or NDJSON, streamed.'),
        ...faultAnswers([400, 401, 403, 503]),
      },
    },
    handler: async (request, reply) => {
      const { query } = request
      const span: UsageSpan = {
        ...spanOf(query, 'day', nowMs()),
        projects: visibleProjects(callerIn(request), query.project),
        ...namesOf(query),
      }
      const name = `torana-${query.rows}-${isoOf(span.fromMs).slice(0, 10)}.${query.format}`
      return exports.answer(request, reply, {
        headers: {
          'content-type': query.format === 'csv' ? 'text/csv; charset=utf-8' : 'application/x-ndjson',
          'content-disposition': `attachment; filename="${name}"`,
        },
        open: () => {
          const rows = query.rows === 'ledger' ? entryRows(usage, span) : groupRows(usage, span, query.by)
          const lines =
            query.format === 'csv' ? csvLines(rows, headOf(query.rows, query.by)) : jsonLines(rows)
          return signed(lines, query.format)
        },
      })
    },
  })
}

async function* groupRows(
  usage: UsageReader,
  span: UsageSpan,
  by: z.output<typeof exportQuery>['by'],
): AsyncGenerator<Row> {
  // Day by day: the groups of one fit into memory, those of a year need not.
  for (let fromMs = span.fromMs; fromMs < span.endMs; fromMs += DAY_MS) {
    const day = { ...span, fromMs, endMs: fromMs + DAY_MS }
    const { cells, beside } = await usage.table({ ...day, by, slot: 'day', groups: MOST_GROUPS })
    for (const { group, atMs, sum } of cells)
      yield {
        day: isoOf(atMs).slice(0, 10),
        [by]: group ?? 'others',
        ...(beside && { counted_as: 'value' }),
        ...sumBody(sum),
      }
    // Values may be any text, so a column tells what is no value.
    for (const counted_as of beside ? (['overflow', 'none'] as const) : [])
      for (const { atMs, sum } of beside?.[counted_as] ?? [])
        if (!isNothing(sum)) yield { day: isoOf(atMs).slice(0, 10), [by]: null, counted_as, ...sumBody(sum) }
  }
}

async function* entryRows(usage: UsageReader, span: UsageSpan): AsyncGenerator<Row> {
  let after: UsageEntry | undefined
  do {
    const portion = await usage.entries(span, { limit: PORTION, after })
    for (const entry of portion) yield entryRow(entry)
    after = portion.length === PORTION ? portion.at(-1) : undefined
  } while (after !== undefined)
}

function entryRow(entry: UsageEntry): Row {
  return {
    requested_at: isoOf(momentOf(entry.requestId)),
    request_id: entry.requestId,
    attempt: entry.attempt,
    kind: entry.kind,
    call_id: entry.callId,
    project: entry.project,
    key: entry.keyId,
    model: entry.model,
    deployment: entry.deployment,
    counted_by: entry.usage,
    tokens: entry.tokens ?? null,
    images: entry.images,
    usd: entry.amountNanoUsd === undefined ? null : decimalOf(entry.amountNanoUsd),
    written_at: isoOf(entry.writtenAtMs),
    user: entry.labels?.user ?? null,
    tags: entry.labels?.tags === undefined ? null : JSON.stringify(entry.labels.tags),
  }
}

/** An empty file has its columns all the same. */
function headOf(rows: 'groups' | 'ledger', by: UsageGroup | UsageLabel): readonly string[] {
  if (rows === 'ledger') return ENTRY_COLUMNS
  return ['day', by, ...(isUsageLabel(by) ? ['counted_as'] : []), ...SUM_COLUMNS]
}

const ENTRY_COLUMNS = [
  'requested_at',
  'request_id',
  'attempt',
  'kind',
  'call_id',
  'project',
  'key',
  'model',
  'deployment',
  'counted_by',
  'tokens',
  'images',
  'usd',
  'written_at',
  'user',
  'tags',
]

const SUM_COLUMNS = [
  'requests',
  'posts',
  'unknowns',
  'tokens',
  'images',
  'usd',
  'unknown_usd',
  'unpriced',
  'hits',
  'saved_usd',
]

async function* csvLines(rows: AsyncIterable<Row>, head: readonly string[]): AsyncGenerator<string> {
  yield head.join(',')
  for await (const row of rows) yield head.map((column) => csvCell(row[column] ?? null)).join(',')
}

async function* jsonLines(rows: AsyncIterable<Row>): AsyncGenerator<string> {
  for await (const row of rows) yield JSON.stringify(row)
}

/** What a spreadsheet would take for a formula is text, and says so. A number may begin with a minus. */
export function csvCell(cell: Cell): string {
  if (cell === null) return ''
  const text = String(cell)
  const isFormula = /^[=+\-@\t\r]/.test(text) && !/^-?\d+(\.\d+)?$/.test(text)
  const safe = isFormula ? `'${text}` : text
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

/** A file that was cut off has no such line. */
async function* signed(lines: AsyncIterable<string>, format: 'csv' | 'ndjson'): AsyncGenerator<string> {
  const digest = createHash('sha256')
  let portion = ''
  for await (const line of lines) {
    portion += `${line}\n`
    if (portion.length < PORTION_CHARACTERS) continue
    digest.update(portion)
    yield portion
    portion = ''
  }
  digest.update(portion)
  const sha256 = digest.digest('hex')
  yield `${portion}${format === 'csv' ? `# sha256 ${sha256}` : JSON.stringify({ sha256 })}\n`
}

/** As much as a socket takes at once. */
const PORTION_CHARACTERS = 64 * 1024
