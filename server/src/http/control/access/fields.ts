/** Fields of people that several schemas have. */
import { z } from 'zod'
import { PERMISSIONS, ROLES } from '#core/permission.ts'
import { storable } from '../wire/fields.ts'

/** What NIST asks for, and a bound: hashing a long text takes longer. */
const MIN_PASSWORD = 12
const MAX_PASSWORD = 200
/** The longest that can be delivered. */
const MAX_EMAIL = 254
const MAX_NAME = 100
/** More than a developer looks after. */
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

/** Links and tokens as they were handed out. */
export const secretText = z.string().min(1).max(200)

interface Given {
  readonly role: (typeof ROLES)[number]
  readonly projects?: readonly string[] | null | undefined
}

/** Only developers are kept to projects: whoever may change settings could let itself out. */
export function refuseProjectsOfOthers({ role: given, projects: named }: Given): boolean {
  return given === 'developer' || named === undefined || named === null
}

export const PROJECTS_OF_OTHERS = {
  path: ['projects'],
  message: 'only developers are kept to projects; operators and admins see all',
}
