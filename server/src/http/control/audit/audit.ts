/** The audit: read page by page, or exported whole. */
import type { z } from 'zod'
import { Fault } from '#core/fault/fault.ts'
import type { AuditEntry, AuditFilter, AuditLog } from '#ports/audit.ts'
import { faultAnswers } from '../../fault-answers.ts'
import type { Api } from '../wire/route.ts'
import { StreamSlots } from '../streams/stream-slots.ts'
import { isoOf } from '../wire/times.ts'
import { auditExport, auditList, auditPage, exported, type auditEntry } from './schemas.ts'

/** Exports of the audit at once. More would keep the connections of the store from the pages. */
const MOST_EXPORTS = 2
const RETRY_AFTER_MS = 10_000

export function registerAudit(api: Api, { audit }: { readonly audit: AuditLog }): void {
  const exports = new StreamSlots({
    slots: MOST_EXPORTS,
    headroom: Infinity,
    full: () =>
      new Fault('too_many_exports', `${MOST_EXPORTS} exports of the audit run on this node already. Retry.`, {
        retryAfterMs: RETRY_AFTER_MS,
      }),
  })
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
    handler: async (request, reply) =>
      exports.answer(request, reply, {
        headers: {
          'content-type': 'application/x-ndjson; charset=utf-8',
          'content-disposition': 'attachment; filename="audit.ndjson"',
        },
        open: () => linesOf(audit, filterOf(request.query)),
      }),
  })
}

/** One page is a few hundred kilobytes, and is asked for when the reader has taken the one before. */
const EXPORT_PAGE = 500

async function* linesOf(audit: AuditLog, filter: AuditFilter): AsyncGenerator<string> {
  for (let before: bigint | undefined; ;) {
    const page = await audit.list({ ...filter, limit: EXPORT_PAGE, before })
    if (page.length > 0) yield page.map((entry) => `${JSON.stringify(entryBody(entry))}\n`).join('')
    if (page.length < EXPORT_PAGE) return
    before = page.at(-1)?.sequence
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
