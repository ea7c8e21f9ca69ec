/** The sign-on as schemas. */
import { z } from 'zod'
import { PROJECTS_OF_OTHERS, projects, refuseProjectsOfOthers, role } from '../access/fields.ts'
import { storable } from '../wire/fields.ts'

/** More than an organisation has groups that matter here. */
const MAX_RULES = 100

const rule = z
  .strictObject({
    claim: storable(200).min(1).describe('The name of a claim, or a path such as `realm_access.roles`.'),
    value: storable(500).min(1).describe('One value of the claim. `*`: any.'),
    role,
    projects: projects.default(null),
  })
  .refine(refuseProjectsOfOthers, PROJECTS_OF_OTHERS)
  .meta({ id: 'SignOnRule' })

export const signOn = z
  .object({
    name: z.string().nullable().describe('On the button of the sign-in page. null: the host of the issuer.'),
    issuer: z.string().describe('Empty: there is no sign-on.'),
    client_id: z.string(),
    has_secret: z.boolean().describe('The secret itself is never shown.'),
    redirect_url: z.string().describe('What the identity provider must allow.'),
    rules: z.array(rule),
  })
  .meta({ id: 'SignOn' })

/** Its tokens and keys must not be changed on the way; on this machine there is no way. */
const issuer = z.url().max(500).refine(isPrivate, 'expected an https address; http only on this machine')

export const signOnChange = z
  .strictObject({
    name: storable(60).trim().min(1).nullable().default(null),
    issuer,
    client_id: storable(500).min(1),
    client_secret: storable(2000)
      .min(1)
      .optional()
      .describe('Left out: as before, unless the issuer is another one.'),
    rules: z.array(rule).max(MAX_RULES),
  })
  .meta({ id: 'SignOnChange' })

export const signOnTest = z
  .object({ url: z.string().describe('Open it in a window of its own: it shows the claims.') })
  .meta({ id: 'SignOnTest' })

function isPrivate(text: string): boolean {
  const url = URL.parse(text)
  if (url === null || url.username !== '' || url.search !== '' || url.hash !== '') return false
  const isHere = /^(?:127(?:\.\d+){3}|localhost|\[::1\])$/.test(url.hostname)
  return url.protocol === 'https:' || (url.protocol === 'http:' && isHere)
}
