/** The audit: read page by page, or exported whole. */
import { z } from 'zod'
import { ACTOR_KINDS } from '#core/access/actor.ts'
import { entryFields } from '#core/audit/entry-fields.ts'
import { Fault } from '#core/fault/fault.ts'
import type { AuditEntry, AuditFilter, AuditLog } from '#ports/audit.ts'
import { givenTime, listOf, pageLimit as limit, storable, time } from '../shared/fields.ts'
import type { ControlNode } from '../shared/node.ts'
import { route, type Api } from '../shared/route.ts'
import { StreamSlots } from '../shared/stream-slots.ts'
import { isoOf } from '../shared/times.ts'

/** Exports of the audit at the same time. More would keep the connections of the store from the pages. */
const MAX_EXPORTS = 2
const RETRY_AFTER_MS = 10_000
/** Entries read at once for an export, a few hundred kilobytes. The next page is read when the client has taken this one. */
const EXPORT_PAGE = 500

const auditEntry = z
  .object({
    sequence: z.int(),
    at: time,
    actor: z.string().describe('A mail address, the name of a token, or `system`.'),
    actor_kind: z
      .enum(ACTOR_KINDS)
      .nullable()
      .describe('`node`: a token of the node itself. null: the entry is older than this field.'),
    address: z.string().nullable().describe('Where the request came from.'),
    action: z.string(),
    target: z.string(),
    detail: z.record(z.string(), z.unknown()),
    hash: z.string(),
    intact: z
      .boolean()
      .describe('False if this entry was changed, or if the one before it was changed or removed.'),
    proof: z
      .enum(['keyed', 'other_key', 'unkeyed'])
      .describe(
        'Whether the hash is signed with a key of this node, with another key, or not at all. A signature also covers all entries before it.',
      ),
  })
  .meta({ id: 'AuditEntry' })

const chain = z
  .object({
    entries: z.int(),
    verified: z
      .int()
      .describe('How many of them, from the first on, this node has verified within the hour.'),
    intact: z.boolean(),
    last_hash: z.string().describe('Store it elsewhere: a log whose end was cut off then shows.'),
    broken_at: z.int().nullable().describe('The sequence of the first entry that was changed or removed.'),
  })
  .meta({ id: 'AuditChain' })

/** Long enough for targets: ids of deployments are the longest. */
const word = storable(500).optional()

const auditExport = z.object({
  actor: word,
  action: word.describe('Such as `key.revoke`.'),
  target: word,
  from: givenTime.optional(),
  to: givenTime.optional().describe('The first moment that is not in it.'),
})
const auditPage = auditExport.extend({ before: z.coerce.number().int().min(1).optional(), limit })
const auditList = listOf(auditEntry).extend({ chain }).meta({ id: 'AuditList' })

export function registerAudit(api: Api, { audit }: Pick<ControlNode, 'audit'>): void {
  const exports = new StreamSlots({
    slots: MAX_EXPORTS,
    headroom: Infinity,
    full: () =>
      new Fault('too_many_exports', `${MAX_EXPORTS} exports of the audit run on this node already. Retry.`, {
        retryAfterMs: RETRY_AFTER_MS,
      }),
  })
  route(api, 'GET /audit', {
    permission: 'audit.read',
    id: 'listAudit',
    summary:
      'The audit log: what was changed, who changed it and when, newest first. Each entry is checked against the one before it',
    query: auditPage,
    answer: auditList,
    handler: async ({ query: { before, limit: shown, ...filter } }) => {
      const page = { limit: shown + 1, before: before === undefined ? undefined : BigInt(before) }
      const entries = await audit.list({ ...page, ...filterOf(filter) })
      const { brokenAt, lastHash, ...counts } = await audit.chain()
      const isIntact = brokenAt === undefined
      return {
        data: entries.slice(0, shown).map(entryBody),
        has_more: entries.length > shown,
        chain: {
          ...counts,
          intact: isIntact,
          broken_at: isIntact ? null : Number(brokenAt),
          last_hash: lastHash,
        },
      }
    },
  })

  route(api, 'GET /audit/export', {
    permission: 'audit.export',
    id: 'exportAudit',
    summary: 'The entries of the audit log as lines of JSON, newest first',
    query: auditExport,
    answer: z.any().describe('One entry a line, as `AuditEntry`.'),
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

async function* linesOf(audit: AuditLog, filter: AuditFilter): AsyncGenerator<string> {
  for (let before: bigint | undefined; ;) {
    const page = await audit.list({ ...filter, limit: EXPORT_PAGE, before })
    if (page.length > 0) yield page.map((entry) => `${JSON.stringify(entryBody(entry))}\n`).join('')
    if (page.length < EXPORT_PAGE) return
    before = page.at(-1)?.sequence
  }
}

function filterOf({ from, to, ...filter }: z.output<typeof auditExport>): AuditFilter {
  return { ...filter, fromMs: msOf(from), toMs: msOf(to) }
}

function msOf(moment: string | undefined): number | undefined {
  return moment === undefined ? undefined : Date.parse(moment)
}

function entryBody(entry: AuditEntry): z.output<typeof auditEntry> {
  return entryFields(entry, isoOf(entry.atMs))
}
