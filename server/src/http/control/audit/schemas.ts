/** The audit as schemas. */
import { z } from 'zod'
import { givenTime, listOf, pageLimit as limit, storable, time } from '../wire/fields.ts'

export const auditEntry = z
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

const chain = z
  .object({
    entries: z.int(),
    verified: z
      .int()
      .describe('How many of them, from the first on, this node has verified within the hour.'),
    intact: z.boolean(),
    last_hash: z.string().describe('Keep it elsewhere, and nobody can cut off the end unseen.'),
    broken_at: z.int().nullable().describe('The sequence of the first entry that was changed or removed.'),
  })
  .meta({ id: 'AuditChain' })

/** Of targets: ids of keys of torana.yaml may be long. */
const word = storable(500).optional()

export const auditExport = z.object({
  actor: word,
  action: word.describe('Such as `key.revoke`.'),
  target: word,
  from: givenTime.optional(),
  to: givenTime.optional().describe('The first moment that is not in it.'),
})
export const auditPage = auditExport.extend({ before: z.coerce.number().int().min(1).optional(), limit })
export const auditList = listOf(auditEntry).extend({ chain }).meta({ id: 'AuditList' })
export const exported = z.any().describe('One entry a line, as `AuditEntry`.')
