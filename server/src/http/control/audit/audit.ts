/** The audit: read page by page, or exported whole. */
import { Readable } from 'node:stream'
import type { z } from 'zod'
import type { AuditEntry, AuditFilter, AuditLog } from '#ports/audit.ts'
import { faultAnswers } from '../../fault-answers.ts'
import type { Api } from '../wire/route.ts'
import { isoOf } from '../wire/times.ts'
import { auditExport, auditList, auditPage, exported, type auditEntry } from './schemas.ts'

export function registerAudit(api: Api, { audit }: { readonly audit: AuditLog }): void {
  api.get('/audit', {
    config: { permission: 'audit.read' },
    schema: {
      operationId: 'listAudit',
      summary:
        'The audit log: what was changed, by whom and when, newest first. Each entry is checked against the one before it',
      querystring: auditPage,
      response: { 200: auditList, ...faultAnswers([400, 401, 403, 503]) },
    },
    handler: async ({ query: { before, limit, ...filter } }) => {
      const page = { limit: limit + 1, before: before === undefined ? undefined : BigInt(before) }
      const entries = await audit.list({ ...page, ...filterOf(filter) })
      const chain = await audit.chain()
      return {
        data: entries.slice(0, limit).map(entryBody),
        has_more: entries.length > limit,
        chain: {
          entries: chain.entries,
          verified: chain.verified,
          intact: chain.brokenAt === undefined,
          broken_at: chain.brokenAt === undefined ? null : Number(chain.brokenAt),
          last_hash: chain.lastHash,
        },
      }
    },
  })

  api.get('/audit/export', {
    config: { permission: 'audit.export' },
    schema: {
      operationId: 'exportAudit',
      summary: 'The entries of the audit log as lines of JSON, newest first',
      querystring: auditExport,
      response: { 200: exported, ...faultAnswers([400, 401, 403, 503]) },
    },
    handler: async ({ query }, reply) => {
      const filter = filterOf(query)
      const first = await audit.list({ ...filter, limit: EXPORT_PAGE })
      void reply
        .type('application/x-ndjson; charset=utf-8')
        .header('content-disposition', 'attachment; filename="audit.ndjson"')
      return reply.send(Readable.from(linesOf(audit, filter, first)))
    },
  })
}

/** One page is a few hundred kilobytes, and is asked for when the reader has taken the one before. */
const EXPORT_PAGE = 500

async function* linesOf(
  audit: AuditLog,
  filter: AuditFilter,
  first: readonly AuditEntry[],
): AsyncIterable<string> {
  for (let page = first; ;) {
    if (page.length > 0) yield page.map((entry) => `${JSON.stringify(entryBody(entry))}\n`).join('')
    const last = page.at(-1)
    if (last === undefined || page.length < EXPORT_PAGE) return
    page = await audit.list({ ...filter, limit: EXPORT_PAGE, before: last.sequence })
  }
}

function filterOf({ from, to, ...filter }: z.output<typeof auditExport>): AuditFilter {
  return {
    ...filter,
    fromMs: from === undefined ? undefined : Date.parse(from),
    toMs: to === undefined ? undefined : Date.parse(to),
  }
}

function entryBody({ sequence, atMs, address, detail, ...rest }: AuditEntry): z.output<typeof auditEntry> {
  return {
    ...rest,
    address: address ?? null,
    sequence: Number(sequence),
    at: isoOf(atMs),
    detail: { ...detail },
  }
}
