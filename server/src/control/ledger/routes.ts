/** How far the ledger is sealed, exported and dropped, and what it refused. */
import { z } from 'zod'
import { momentOf } from '#core/money/ledger.ts'
import { MAX_WAITING_DAYS } from '#ports/lake.ts'
import { callerIn, visibleProjects } from '../shared/caller.ts'
import { cursor, pageLimit, storable, time } from '../shared/fields.ts'
import type { ControlNode } from '../shared/node.ts'
import { cursorPage } from '../shared/page.ts'
import { route, type Api } from '../shared/route.ts'
import { slowerStep } from '../shared/sealing.ts'
import { isoOf } from '../shared/times.ts'
import { listRefused, refusedEntry, refusedSummary, summaryOfRefused } from './queries.ts'

const UUID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}'
const NAME_CHARACTERS = 200

const refusedPage = z.object({
  project: storable(NAME_CHARACTERS).optional(),
  after: z
    .string()
    .regex(new RegExp(`^${UUID}/\\d{1,5}/[a-z]{1,10}$`), 'expected <request id>/<attempt>/<kind>')
    .optional()
    .describe('`next` of the previous page.'),
  limit: pageLimit,
})

const refusedList = z
  .object({ data: z.array(refusedEntry), has_more: z.boolean(), next: cursor, summary: refusedSummary })
  .meta({ id: 'RefusedRecordList' })

const retriedRecords = z
  .object({
    written: z.int().describe('Records that are now in the ledger.'),
    refused: z.int().describe('Records that PostgreSQL refused once more.'),
    left: z.int().describe('Records that are still set aside: those refused, and those that had no turn.'),
  })
  .meta({ id: 'RetriedRecords' })

const ledgerStatus = z
  .object({
    sealed_through: time.nullable().describe('Hours before it are sealed. null: none is.'),
    sealing_stalled: z
      .object({
        step: z.enum(['compare', 'seal']).describe('An hour is compared with its sums, then sealed.'),
        since: time,
        earlier_nodes: z
          .int()
          .describe('Nodes of an earlier version: no hour is sealed until they are stopped or ended.'),
      })
      .nullable()
      .describe('The step that has made no progress for two hours or longer. null: none.'),
    export: z.enum(['on', 'off']),
    exported_through: z.string().nullable().describe('Complete days before it are files. null: none is.'),
    exported_days: z.int(),
    exported_entries: z.int(),
    exported_bytes: z.int(),
    waiting_days: z.int().describe('Complete days without files.'),
    export_late: z.boolean().describe('More days wait for the export than it usually leaves.'),
    keep_days: z.int().nullable().describe('Days that PostgreSQL keeps. null: all.'),
    kept_from: z
      .string()
      .nullable()
      .describe('Entries of days before it are in files only. null: PostgreSQL has all.'),
    problem: z
      .object({ says: z.string(), at: time })
      .nullable()
      .describe('What keeps days from being exported or dropped.'),
  })
  .meta({ id: 'LedgerStatus' })

export function registerLedger(
  api: Api,
  {
    lake,
    reconciler,
    clock,
    reports,
    ledger,
  }: Pick<ControlNode, 'lake' | 'reconciler' | 'clock' | 'reports' | 'ledger'>,
): void {
  route(api, 'GET /ledger', {
    permission: 'nodes.read',
    id: 'getLedger',
    summary: 'How far the ledger is sealed, exported to files, and dropped from PostgreSQL',
    answer: ledgerStatus,
    handler: async () => {
      const { sealedThroughMs, problem, ...status } = await lake.status()
      const { seal } = await reconciler.figures()
      const { step, waitsMs, isStalled } = slowerStep(seal)
      return {
        sealed_through: sealedThroughMs === undefined ? null : isoOf(sealedThroughMs),
        sealing_stalled: isStalled
          ? { step, since: isoOf(clock.nowMs() - waitsMs), earlier_nodes: seal.earlierNodes }
          : null,
        export: lake.isExported ? ('on' as const) : ('off' as const),
        exported_through: status.exportedThrough ?? null,
        exported_days: status.days,
        exported_entries: Number(status.entries),
        exported_bytes: status.bytes,
        waiting_days: status.waiting,
        export_late: lake.isExported && status.waiting > MAX_WAITING_DAYS,
        keep_days: lake.keepDays === 'forever' ? null : lake.keepDays,
        kept_from: status.keptFrom ?? null,
        problem: problem === undefined ? null : { says: problem.text, at: isoOf(problem.atMs) },
      }
    },
  })

  route(api, 'GET /ledger/refused', {
    permission: 'unknowns.read',
    id: 'listRefusedRecords',
    summary: 'Usage records that PostgreSQL refused for their content; they count as spent',
    query: refusedPage,
    answer: refusedList,
    handler: async (request) => {
      const { project, after, limit } = request.query
      const projects = visibleProjects(callerIn(request), project)
      const records = await listRefused(reports, projects, limit + 1, after)
      return {
        ...cursorPage(records, limit, {
          bodyOf: (one) => ({ ...one, requested_at: isoOf(momentOf(one.request_id)) }),
          cursorOf: (one) => `${one.request_id}/${one.attempt}/${one.kind}`,
        }),
        summary: await summaryOfRefused(reports, projects),
      }
    },
  })

  route(api, 'POST /ledger/refused/retry', {
    permission: 'unknowns.resolve',
    id: 'retryRefusedRecords',
    summary: 'Try again to write the usage records that PostgreSQL refused',
    answer: retriedRecords,
    handler: async () => {
      const retried = await ledger.retryRefused()
      const { records } = await summaryOfRefused(reports, undefined)
      return { ...retried, left: records }
    },
  })
}
