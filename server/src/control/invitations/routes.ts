/** Invitations: an admin makes and withdraws them, the invited person looks at one and accepts it. */
import { z } from 'zod'
import { Fault } from '#core/fault/fault.ts'
import { actorIn } from '../shared/caller.ts'
import { noContent, pageOf } from '../shared/fields.ts'
import type { ControlNode } from '../shared/node.ts'
import {
  email,
  newPassword,
  personName,
  projects,
  projectsByRole,
  projectsFor,
  role,
  secretText,
} from '../shared/people-fields.ts'
import { route, type Api } from '../shared/route.ts'
import { digestOf, newSecretText } from '../shared/secret-text.ts'
import { beginSession, busyAsFault, checkSignIn } from '../shared/sign-in.ts'
import {
  acceptInvitation,
  findInvitation,
  invitation,
  invite,
  listInvitations,
  withdrawInvitation,
} from './queries.ts'

const invitationList = pageOf(invitation).meta({ id: 'InvitationList' })

const newInvitation = projectsByRole(z.strictObject({ email, role, projects: projects.default(null) })).meta({
  id: 'NewInvitation',
})

const invitationPath = z.object({ email })

const lookAtInvitation = z
  .strictObject({ token: secretText })
  .meta({ id: 'InvitationToken', examples: [{ token: 'the token of the invitation' }] })

const acceptance = z.strictObject({ token: secretText, name: personName, password: newPassword }).meta({
  id: 'Acceptance',
  examples: [{ token: 'the token of the invitation', name: 'Li Wei', password: 'a long passphrase' }],
})

export function registerInvitations(api: Api, node: ControlNode): void {
  registerInviting(api, node)
  registerAccepting(api, node)
}

function registerInviting(api: Api, { reports, transports }: ControlNode): void {
  route(api, 'GET /invitations', {
    permission: 'members.invite',
    id: 'listInvitations',
    summary: 'Invitations that are not accepted yet, by email address',
    answer: invitationList,
    handler: async () => ({ data: await listInvitations(reports), has_more: false, next: null }),
  })

  route(api, 'POST /invitations', {
    permission: 'members.invite',
    id: 'invite',
    summary:
      'Invite a person by a link that you hand over; it works once, for seven days. To a member with a password it is the way to a new one',
    body: newInvitation,
    answers: { 201: invitation },
    faults: [409],
    handler: async (request, reply) => {
      const token = newSecretText()
      const given = { ...request.body, projects: projectsFor(request.body), digest: digestOf(token) }
      const made = await invite(reports, given, actorIn(request))
      return reply.code(201).send({ ...made, link: transports.link(request, `invite/${token}`) })
    },
  })

  route(api, 'DELETE /invitations/:email', {
    permission: 'members.invite',
    id: 'withdrawInvitation',
    summary: 'Withdraw an invitation: its link no longer works',
    params: invitationPath,
    answers: { 204: noContent },
    handler: async (request, reply) => {
      await withdrawInvitation(reports, request.params.email, actorIn(request))
      return reply.code(204).send()
    },
  })
}

function registerAccepting(api: Api, node: ControlNode): void {
  const { reports, passwords, signInLimits, transports } = node
  const wrong = (): Fault =>
    new Fault('link_invalid', 'This invitation is wrong, older than seven days, or was used already.')

  route(api, 'POST /invitations/look', {
    permission: 'anyone',
    id: 'lookAtInvitation',
    summary: 'The person that an invitation is for. The link goes into the body, so that no log has it',
    body: lookAtInvitation,
    answer: invitation,
    faults: [404, 429, 503],
    handler: async (request) => {
      const { client } = transports.of(request)
      signInLimits.checkAddress(client)
      const attempt = signInLimits.begin(client, 'invitation', true)
      const found = await findInvitation(reports, digestOf(request.body.token))
      if (found === undefined) throw wrong()
      attempt.succeeded()
      return found
    },
  })

  route(api, 'POST /invitations/accept', {
    permission: 'anyone',
    id: 'acceptInvitation',
    summary: 'Accept an invitation: choose a name and a password, and be signed in',
    body: acceptance,
    answers: { 204: noContent },
    faults: [403, 404, 429, 503],
    handler: async (request, reply) => {
      const { token, name, password } = request.body
      const address = checkSignIn(request, node)
      const attempt = signInLimits.begin(address, 'invitation', true)
      const digest = digestOf(token)
      // A password is only hashed for those who have the link: hashing costs time on purpose.
      if ((await findInvitation(reports, digest)) === undefined) throw wrong()
      const passwordHash = await busyAsFault(passwords.hash(password))
      const memberId = await acceptInvitation(reports, digest, { name, passwordHash, address })
      if (memberId === undefined) throw wrong()
      attempt.succeeded()
      await beginSession(request, reply, memberId, node)
      return reply.code(204).send()
    },
  })
}
