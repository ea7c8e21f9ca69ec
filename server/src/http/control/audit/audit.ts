import { faultAnswers } from '../../fault-answers.ts'
import type { AuditLog } from '#ports/audit.ts'
import type { Api } from '../wire/route.ts'
import { auditList, auditPage } from './schemas.ts'
import { isoOf } from '../wire/times.ts'

export function registerAudit(api: Api, { audit }: { readonly audit: AuditLog }): void {
  api.get('/audit', {
    config: { permission: 'audit.read' },
    schema: {
      operationId: 'listAudit',
      summary:
        'The audit log: what was changed, by whom and when, newest first. Each entry is checked against the one before it',
      querystring: auditPage,
      response: { 200: auditList, ...faultAnswers([400, 401, 503]) },
    },
    handler: async ({ query: { before, limit } }) => {
      const page = { limit: limit + 1, before: before === undefined ? undefined : BigInt(before) }
      const entries = await audit.list(page)
      return {
        data: entries.slice(0, limit).map(({ sequence, atMs, address = null, detail, ...rest }) => ({
          ...rest,
          address,
          sequence: Number(sequence),
          at: isoOf(atMs),
          detail: { ...detail },
        })),
        has_more: entries.length > limit,
      }
    },
  })
}
