/** Fields of people that several schemas have. */
import { z } from 'zod'
import { PERMISSIONS, ROLES } from '#core/access/permission.ts'
import { storable } from './fields.ts'

/** Bounds of a password: NIST asks for the lower one; hashing a long text takes longer. */
const MIN_PASSWORD = 12
const MAX_PASSWORD = 200
/** Length of the longest mail address that can be delivered. */
const MAX_EMAIL = 254
const MAX_NAME = 100
/** Projects of one developer: more than a person looks after. */
const MAX_PROJECTS = 200

export const role = z.enum(ROLES)
export const permissions = z.array(z.enum(PERMISSIONS as [string, ...string[]]))

export const email = z
  .email()
  .max(MAX_EMAIL)
  .transform((text) => text.toLowerCase())

export const personName = storable(MAX_NAME).trim().min(1, 'must not be empty')

export const newPassword = z
  .string()
  .min(MIN_PASSWORD, `a password has ${MIN_PASSWORD} characters or more`)
  .max(MAX_PASSWORD)

export const givenPassword = z.string().max(MAX_PASSWORD)

export const projects = z
  .array(storable(200).min(1))
  .max(MAX_PROJECTS)
  .nullable()
  .describe('Of a developer: the projects that it sees. null: all.')

/** A link or a token, as it was handed out. */
export const secretText = z.string().min(1).max(200)

interface Given {
  readonly role: (typeof ROLES)[number]
  readonly projects: readonly string[] | null
}

/** Only developers are kept to projects: operators and admins could change the settings that keep them. */
export function projectsByRole<Schema extends z.ZodType<Given>>(schema: Schema): Schema {
  return schema.refine(({ role: given, projects: named }) => given === 'developer' || named === null, {
    path: ['projects'],
    message: 'only developers are kept to projects; operators and admins see all',
  })
}

/** What the store keeps: operators and admins see all projects, developers only those that they are given. */
export function projectsFor({ role: given, projects: named }: Given): string[] | null {
  return given === 'developer' ? [...(named ?? [])] : null
}
