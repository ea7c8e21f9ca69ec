/** Tokens of programs as schemas. */
import { z } from 'zod'
import { PROJECTS_OF_OTHERS, projects, refuseProjectsOfOthers, role } from '../access/fields.ts'
import { cursor, time } from '../wire/fields.ts'

/** Whoever needs one for longer makes the next one in time: a forgotten token ends by itself. */
const MAX_DAYS = 366

const tokenName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9._-]{0,62}$/, 'expected up to 63 of a-z, 0-9, ".", "_" and "-"')

export const token = z
  .object({
    name: z.string(),
    role,
    projects,
    read_only: z.boolean(),
    tail: z.string().describe('The last characters of the secret.'),
    created_by: z.string(),
    created_at: time,
    expires_at: time,
    last_used_at: time.nullable(),
  })
  .meta({ id: 'Token' })

export const tokenWithSecret = token
  .extend({ secret: z.string().describe('Shown once.') })
  .meta({ id: 'TokenWithSecret' })

export const tokenList = z
  .object({ data: z.array(token), has_more: z.boolean(), next: cursor })
  .meta({ id: 'TokenList' })

export const newToken = z
  .strictObject({
    name: tokenName,
    role,
    projects: projects.default(null),
    read_only: z.boolean().default(false).describe('It may read, whatever its role.'),
    expires_in_days: z.int().min(1).max(MAX_DAYS),
  })
  .refine(refuseProjectsOfOthers, PROJECTS_OF_OTHERS)
  .meta({ id: 'NewToken' })

export const tokenPath = z.object({ name: tokenName })
