/** Usage as a file: groups by day, or every entry of the ledger, with a last line that proves that nothing is missing. */
import { createHash } from 'node:crypto'
import { z } from 'zod'
import { Fault } from '#core/fault/fault.ts'
import { momentOf } from '#core/money/ledger.ts'
import { callerIn, visibleProjects } from '../shared/caller.ts'
import { StoreUnreachable } from '#ports/store.ts'
import type { ControlNode } from '../shared/node.ts'
import { route, type Api } from '../shared/route.ts'
import { StreamSlots } from '../shared/stream-slots.ts'
import { DAY_MS, isoOf } from '../shared/times.ts'
import { coldEntries, listEntries, type ExportedEntry } from './export-queries.ts'
import { emptyRankings, usageSum, usageTable } from './queries.ts'
import { isUsageLabel, type UsageSpan } from './rollup-queries.ts'
import { usageFields } from './routes.ts'
import { isNothing, namesOf, spanOf, sumBody } from './rules.ts'

/** Entries of one query: it takes a few tens of milliseconds, so that pages get their turn between two of them. */
const ENTRIES_PER_QUERY = 2000
/** Exports in progress: more would take all connections for reports. */
const MAX_EXPORTS = 2
const RETRY_AFTER_MS = 10_000
/** Groups of one day: ten times the keys that a node is built for. */
const MAX_GROUPS = 100_000
/** Characters of one chunk: as much as a socket takes at once. */
const CHUNK_CHARACTERS = 64 * 1024

const exportQuery = z.strictObject({
  ...usageFields,
  rows: z
    .enum(['groups', 'ledger'])
    .default('groups')
    .describe('`groups`: a row for each group and day. `ledger`: every entry.'),
  format: z.enum(['csv', 'ndjson']).default('csv'),
})

type ExportQuery = z.output<typeof exportQuery>
type Cell = string | number | null
type Row = Readonly<Record<string, Cell>>
type Reports = Pick<ControlNode, 'reports' | 'clock' | 'lake'>

export function registerUsageExport(api: Api, node: Reports): void {
  const exports = new StreamSlots({
    slots: MAX_EXPORTS,
    headroom: Infinity,
    full: () =>
      new Fault('too_many_exports', `${MAX_EXPORTS} exports run on this node already. Retry.`, {
        retryAfterMs: RETRY_AFTER_MS,
      }),
  })
  route(api, 'GET /usage/export', {
    permission: 'usage.export',
    id: 'exportUsage',
    summary: 'Usage as CSV or NDJSON; the last line holds the SHA-256 of all lines before it',
    query: exportQuery,
    answer: z.string().describe('CSV or NDJSON, streamed.'),
    handler: async (request, reply) => {
      const { query } = request
      const { rows, format } = query
      const span = {
        ...spanOf(query, 'day', node.clock.nowMs()),
        projects: visibleProjects(callerIn(request), query.project),
        ...namesOf(query),
      }
      const name = `torana-${rows}-${isoOf(span.fromMs).slice(0, 10)}.${format}`
      return exports.answer(request, reply, {
        headers: {
          'content-type': format === 'csv' ? 'text/csv; charset=utf-8' : 'application/x-ndjson',
          'content-disposition': `attachment; filename="${name}"`,
        },
        open: () => {
          const found = rows === 'ledger' ? entryRows(node, span) : groupRows(node, span, query.by)
          return signed(format === 'csv' ? csvLines(found, headOf(query)) : jsonLines(found), format)
        },
      })
    },
  })
}

async function* groupRows(
  { reports, clock }: Reports,
  span: UsageSpan,
  by: ExportQuery['by'],
): AsyncGenerator<Row> {
  const rankings = emptyRankings()
  // Day by day: the groups of one day fit into memory, those of a year need not.
  for (let fromMs = span.fromMs; fromMs < span.endMs; fromMs += DAY_MS) {
    const question = { ...span, fromMs, endMs: fromMs + DAY_MS, by, slot: 'day', groups: MAX_GROUPS } as const
    const { cells, beside } = await usageTable(reports, question, clock.nowMs(), rankings)
    for (const cell of cells)
      yield {
        day: dayOf(cell.at),
        [by]: cell.name ?? 'others',
        ...(beside && { counted_as: 'value' }),
        ...sumBody(cell),
      }
    // A value may be any text, so a column says which rows are no values.
    for (const counted_as of beside ? (['overflow', 'none'] as const) : [])
      for (const cell of beside?.[counted_as] ?? [])
        if (!isNothing(cell)) yield { day: dayOf(cell.at), [by]: null, counted_as, ...sumBody(cell) }
  }
}

function dayOf(at: Date): string {
  return at.toISOString().slice(0, 10)
}

async function* entryRows({ reports, lake }: Reports, span: UsageSpan): AsyncGenerator<Row> {
  const keptFromMs = (await lake.cold.keptFromMs()) ?? 0
  if (span.fromMs < keptFromMs) {
    const endMs = Math.min(span.endMs, keptFromMs)
    for await (const entry of coldEntries(lake.cold, { ...span, endMs })) yield entryRow(entry)
  }
  const kept = { ...span, fromMs: Math.max(span.fromMs, keptFromMs) }
  let after: ExportedEntry | undefined
  do {
    const readMs = after === undefined ? kept.fromMs : momentOf(after.request_id)
    const entries = await listEntries(reports, kept, ENTRIES_PER_QUERY, after)
    if (((await lake.cold.keptFromMs()) ?? 0) > readMs)
      throw new StoreUnreachable('a day was dropped while it was read: its entries are files now')
    for (const entry of entries) yield entryRow(entry)
    after = entries.length === ENTRIES_PER_QUERY ? entries.at(-1) : undefined
  } while (after !== undefined)
}

function entryRow({ tags, ...entry }: ExportedEntry): Row {
  return {
    requested_at: isoOf(momentOf(entry.request_id)),
    ...entry,
    tags: tags && JSON.stringify(tags),
  }
}

const ENTRY_HEAD =
  'requested_at,request_id,attempt,kind,call_id,project,key,model,deployment,counted_by,tokens,images,usd,written_at,user,tags'

/** An empty file has its columns all the same. */
function headOf({ rows, by }: ExportQuery): readonly string[] {
  if (rows === 'ledger') return ENTRY_HEAD.split(',')
  return ['day', by, ...(isUsageLabel(by) ? ['counted_as'] : []), ...Object.keys(usageSum.shape)]
}

async function* csvLines(rows: AsyncIterable<Row>, head: readonly string[]): AsyncGenerator<string> {
  yield head.join(',')
  for await (const row of rows) yield head.map((column) => csvCell(row[column] ?? null)).join(',')
}

async function* jsonLines(rows: AsyncIterable<Row>): AsyncGenerator<string> {
  for await (const row of rows) yield JSON.stringify(row)
}

/** A quote before what a spreadsheet would take for a formula makes it text. A number may begin with a minus. */
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
  let chunk = ''
  for await (const line of lines) {
    chunk += `${line}\n`
    if (chunk.length < CHUNK_CHARACTERS) continue
    digest.update(chunk)
    yield chunk
    chunk = ''
  }
  digest.update(chunk)
  const sha256 = digest.digest('hex')
  yield `${chunk}${format === 'csv' ? `# sha256 ${sha256}` : JSON.stringify({ sha256 })}\n`
}
