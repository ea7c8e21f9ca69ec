/** The audit as schemas. */
import { z } from 'zod'
import { listOf, pageLimit as limit, time } from '../wire/fields.ts'

const auditEntry = z
  .object({
    sequence: z.int(),
    at: time,
    actor: z.string().describe('A mail address, the name of a token, or `system`.'),
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

export const auditPage = z.object({ before: z.coerce.number().int().min(1).optional(), limit })
export const auditList = listOf(auditEntry).meta({ id: 'AuditList' })
