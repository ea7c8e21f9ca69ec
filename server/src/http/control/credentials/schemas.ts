/** Credentials of upstreams as schemas. */
import { z } from 'zod'
import { listOf, storable, time } from '../wire/fields.ts'

export const credential = z
  .object({
    upstream: z.string(),
    base_url: z.string().describe('Where calls go; the secret is sent nowhere else.'),
    source: z.enum(['configuration', 'store', 'none']).describe('Where the credential in use comes from.'),
    stored_for: z.string().nullable().describe('The base URL that a stored secret was given for.'),
    updated_at: time.nullable(),
  })
  .meta({ id: 'Credential' })

export const newCredential = z
  .strictObject({ secret: z.string().min(1).max(100_000).nullable().describe('null: delete it.') })
  .meta({ id: 'NewCredential' })

export const upstreamPath = z.object({ upstream: storable(200).min(1) })

export const credentialList = listOf(credential).meta({ id: 'CredentialList' })
