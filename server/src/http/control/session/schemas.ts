/** Sessions as schemas. */
import { z } from 'zod'
import {
  email,
  givenPassword,
  newPassword,
  permissions,
  personName,
  projects,
  role,
  secretText,
} from '../access/fields.ts'
import { storable, time } from '../wire/fields.ts'

export const session = z
  .object({
    member: z
      .object({ id: z.uuid(), name: z.string(), email: z.string() })
      .nullable()
      .describe('null: a token, not a person.'),
    role,
    projects: projects.describe('null: all.'),
    permissions: permissions.describe(
      'What the role may do. A token that may only read has the reading ones.',
    ),
    insecure: z.boolean().describe('Plain http over a network: others could read along.'),
    expires_at: time.nullable().describe('When it ends if nobody uses it. null: a token of the node.'),
    install: z.object({
      name: z.string().nullable(),
      version: z.string(),
      gateway_url: z.string(),
      first_run: z.boolean().describe('No key was made yet.'),
      only_demo: z.boolean().describe('No upstream is connected.'),
      sign_on: z.string().nullable().describe('The name of the identity provider. null: passwords only.'),
      now: time,
    }),
  })
  .meta({ id: 'Session' })

export const signInOptions = z
  .object({
    sign_on: z.string().nullable().describe('The name of the identity provider. null: passwords only.'),
    first_run: z.boolean().describe('There is no member yet: the link of the first start makes one.'),
    secure: z.boolean().describe('The browser speaks https.'),
    allowed: z
      .boolean()
      .describe('Whether this browser may sign in at all: over plain http only this machine may.'),
  })
  .meta({ id: 'SignInOptions' })

export const signIn = z.strictObject({ email, password: givenPassword }).meta({ id: 'SignIn' })

export const firstRun = z
  .strictObject({ token: secretText, name: personName, email, password: newPassword })
  .meta({ id: 'FirstRun' })

export const passwordChange = z
  .strictObject({ current: givenPassword, password: newPassword })
  .meta({ id: 'PasswordChange' })

export const signOnStart = z.object({
  return: storable(2000).optional().describe('The page of the console to go to afterwards.'),
  test: z.string().max(2000).optional().describe('Only to look: of `POST /sign-on/test`.'),
})
