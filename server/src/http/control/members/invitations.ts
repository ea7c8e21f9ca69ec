import type { z } from 'zod'
import { Fault } from '#core/fault/fault.ts'
import type { Invitation } from '#ports/invitations.ts'
import { faultAnswers } from '../../fault-answers.ts'
import { actorIn } from '../access/caller.ts'
import type { PeopleDependencies } from '../access/people.ts'
import { digestOf, newSecretText } from '../access/secret-text.ts'
import { beginSession, patiently } from '../session/begin.ts'
import { noContent } from '../wire/fields.ts'
import type { Api } from '../wire/route.ts'
import { isoOf } from '../wire/times.ts'
import {
  acceptance,
  invitation,
  invitationList,
  invitationPath,
  lookAtInvitation,
  newInvitation,
} from './schemas.ts'

/** Long enough for somebody on holiday for a week. */
const LIFE_MS = 7 * 24 * 3_600_000

export function registerInvitations(api: Api, people: PeopleDependencies): void {
  registerInviting(api, people)
  registerAccepting(api, people)
}

function registerInviting(api: Api, { invitations, transports }: PeopleDependencies): void {
  api.get('/invitations', {
    config: { permission: 'members.invite' },
    schema: {
      operationId: 'listInvitations',
      summary: 'Invitations that nobody has accepted, by mail address',
      response: { 200: invitationList, ...faultAnswers([401, 403, 503]) },
    },
    handler: async () => ({
      data: (await invitations.list()).map((one) => invitationBody(one)),
      has_more: false,
      next: null,
    }),
  })

  api.post('/invitations', {
    config: { permission: 'members.invite' },
    schema: {
      operationId: 'invite',
      summary:
        'Invite a person by a link that you hand over; it works once, for seven days. To a member with a password it is the way to a new one',
      body: newInvitation,
      response: { 201: invitation, ...faultAnswers([400, 401, 403, 409, 503]) },
    },
    handler: async (request, reply) => {
      const { email, role, projects: named } = request.body
      const projects = role === 'developer' ? (named ?? []) : null
      const token = newSecretText()
      const made = await invitations.invite(
        { email, role, projects, digest: digestOf(token), lifeMs: LIFE_MS },
        actorIn(request),
      )
      return reply.code(201).send(invitationBody(made, transports.link(request, `invite/${token}`)))
    },
  })

  api.delete('/invitations/:email', {
    config: { permission: 'members.invite' },
    schema: {
      operationId: 'withdrawInvitation',
      summary: 'Withdraw an invitation: its link no longer works',
      params: invitationPath,
      response: { 204: noContent, ...faultAnswers([400, 401, 403, 404, 503]) },
    },
    handler: async (request, reply) => {
      await invitations.withdraw(request.params.email, actorIn(request))
      return reply.code(204).send()
    },
  })
}

function registerAccepting(api: Api, people: PeopleDependencies): void {
  const { invitations, passwords, signInLimits, transports } = people
  const wrong = (): Fault =>
    new Fault('link_invalid', 'This invitation is wrong, older than seven days, or was used already.')

  api.post('/invitations/look', {
    config: { permission: 'anyone' },
    schema: {
      operationId: 'lookAtInvitation',
      summary: 'Whom an invitation is for. The link goes into the body, so that no log has it',
      body: lookAtInvitation,
      response: { 200: invitation, ...faultAnswers([400, 404, 429, 503]) },
    },
    handler: async (request) => {
      const { client } = transports.of(request)
      signInLimits.checkAddress(client)
      const attempt = signInLimits.begin(client, 'invitation', true)
      const found = await invitations.find(digestOf(request.body.token))
      if (found === undefined) throw wrong()
      attempt.succeeded()
      return invitationBody(found)
    },
  })

  api.post('/invitations/accept', {
    config: { permission: 'anyone' },
    schema: {
      operationId: 'acceptInvitation',
      summary: 'Accept an invitation: choose a name and a password, and be signed in',
      body: acceptance,
      response: { 204: noContent, ...faultAnswers([400, 403, 404, 429, 503]) },
    },
    handler: async (request, reply) => {
      const { token, name, password } = request.body
      transports.checkPrivate(request)
      transports.checkOrigin(request)
      const { client } = transports.of(request)
      signInLimits.checkAddress(client)
      const attempt = signInLimits.begin(client, 'invitation', true)
      const digest = digestOf(token)
      // A password is only hashed for those who have the link: hashing costs time on purpose.
      if ((await invitations.find(digest)) === undefined) throw wrong()
      const passwordHash = await patiently(passwords.hash(password))
      const member = await invitations.accept(digest, { name, passwordHash }, client)
      if (member === undefined) throw wrong()
      attempt.succeeded()
      await beginSession(request, reply, member, people)
      return reply.code(204).send()
    },
  })
}

function invitationBody(
  { email, role, projects, expiresAtMs }: Invitation,
  link?: string,
): z.output<typeof invitation> {
  return {
    email,
    role,
    projects: projects ? [...projects] : null,
    expires_at: isoOf(expiresAtMs),
    ...(link !== undefined && { link }),
  }
}
