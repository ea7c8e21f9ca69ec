/** Members and invitations as schemas. */
import { z } from 'zod'
import {
  email,
  newPassword,
  personName,
  PROJECTS_OF_OTHERS,
  projects,
  refuseProjectsOfOthers,
  role,
  secretText,
} from '../access/fields.ts'
import { cursor, pageLimit, time } from '../wire/fields.ts'

export const member = z
  .object({
    id: z.uuid(),
    name: z.string(),
    email: z.string(),
    role,
    projects,
    source: z.enum(['local', 'oidc']).describe('Who decides the role: admins, or the rules of the sign-on.'),
    last_seen_at: time.nullable(),
    created_at: time,
    disabled_at: time.nullable(),
  })
  .meta({ id: 'Member' })

export const memberList = z
  .object({ data: z.array(member), has_more: z.boolean(), next: cursor })
  .meta({ id: 'MemberList' })

export const memberPage = z.object({ limit: pageLimit, after: z.string().max(254).optional() })
export const memberPath = z.object({ id: z.uuid() })

export const memberChange = z
  .strictObject({
    name: personName.optional(),
    role: role.optional(),
    projects: projects.optional(),
    disabled: z.boolean().optional().describe('A disabled member has no sessions, and can not sign in.'),
  })
  .meta({ id: 'MemberChange' })

export const invitation = z
  .object({
    email: z.string(),
    role,
    projects,
    link: z.string().optional().describe('In the answer to POST alone. It is never shown again.'),
    expires_at: time,
  })
  .meta({ id: 'Invitation' })

export const invitationList = z
  .object({ data: z.array(invitation), has_more: z.boolean(), next: cursor })
  .meta({ id: 'InvitationList' })

export const newInvitation = z
  .strictObject({ email, role, projects: projects.default(null) })
  .refine(refuseProjectsOfOthers, PROJECTS_OF_OTHERS)
  .meta({ id: 'NewInvitation' })

export const invitationPath = z.object({ email })

export const lookAtInvitation = z.strictObject({ token: secretText }).meta({ id: 'InvitationToken' })

export const acceptance = z
  .strictObject({ token: secretText, name: personName, password: newPassword })
  .meta({ id: 'Acceptance' })
