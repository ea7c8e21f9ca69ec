/** Signing in and out. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { permissionsOf } from '#core/access/permission.ts'
import { upstreamsOf } from '#core/catalog/catalog.ts'
import { Fault } from '#core/fault/fault.ts'
import { actorIn, callerIn, type Caller } from '../shared/caller.ts'
import type { SessionCaller } from '../shared/callers.ts'
import { noSessionCookie } from '../shared/cookies.ts'
import { conflict, invalidField } from '../shared/faults.ts'
import { noContent, time } from '../shared/fields.ts'
import type { ControlNode } from '../shared/node.ts'
import {
  email,
  givenPassword,
  newPassword,
  permissions,
  personName,
  projects,
  role,
  secretText,
} from '../shared/people-fields.ts'
import { route, type Api } from '../shared/route.ts'
import { digestOf } from '../shared/secret-text.ts'
import { endSession, endSessionsOf } from '../shared/session-queries.ts'
import { beginSession, busyAsFault, checkSignIn } from '../shared/sign-in.ts'
import { readSignOn } from '../shared/sign-on-queries.ts'
import { isoOf } from '../shared/times.ts'
import { hasMembers, isFirstRunLink, makeFirstAdmin, memberSecrets, setPassword } from './queries.ts'
import { buttonName } from './rules.ts'
import { registerOidc } from './sign-on-routes.ts'

const session = z
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
    expires_at: time.nullable().describe('When it ends if it is not used. null: a token of the node.'),
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

const signInOptions = z
  .object({
    sign_on: z.string().nullable().describe('The name of the identity provider. null: passwords only.'),
    first_run: z.boolean().describe('No member exists: the link of the first start makes one.'),
    secure: z.boolean().describe('The browser speaks https.'),
    allowed: z
      .boolean()
      .describe('Whether this browser may sign in at all: over plain http only this machine may.'),
  })
  .meta({ id: 'SignInOptions' })

const signIn = z.strictObject({ email, password: givenPassword }).meta({ id: 'SignIn' })

const firstRun = z
  .strictObject({ token: secretText, name: personName, email, password: newPassword })
  .meta({ id: 'FirstRun' })

const passwordChange = z.strictObject({ current: givenPassword, password: newPassword }).meta({
  id: 'PasswordChange',
  examples: [{ current: 'a long passphrase', password: 'a longer passphrase' }],
})

export function registerSession(api: Api, node: ControlNode): void {
  registerReading(api, node)
  registerSignIn(api, node)
  registerFirstRun(api, node)
  registerSignOut(api, node)
  registerPassword(api, node)
  registerOidc(api, node)
}

function registerReading(api: Api, node: ControlNode): void {
  const { reports, transports } = node
  route(api, 'GET /session', {
    permission: 'signed-in',
    id: 'getSession',
    summary: 'Who you are, what you may do, and where you are',
    answer: session,
    handler: async (request) => {
      const caller: Caller & Partial<Pick<SessionCaller, 'expiresAt'>> = callerIn(request)
      const [keys, provider] = await Promise.all([node.keyStore.listKeys({ limit: 1 }), readSignOn(reports)])
      const { isSecure, isThisMachine } = transports.of(request)
      return {
        member: caller.member ?? null,
        role: caller.role,
        projects: caller.projects && [...caller.projects],
        permissions: permissionsOf(caller.role).filter((one) => !caller.isReadOnly || one.endsWith('.read')),
        insecure: caller.member !== undefined && !isSecure && !isThisMachine,
        expires_at: caller.expiresAt ?? null,
        install: {
          name: node.settings.name ?? null,
          version: node.version,
          gateway_url: node.publicUrl,
          first_run: keys.length === 0,
          only_demo: upstreamsOf(node.catalog()).every(({ dialect }) => dialect === 'demo'),
          sign_on: provider ? buttonName(provider) : null,
          now: isoOf(node.clock.nowMs()),
        },
      }
    },
  })

  route(api, 'GET /session/options', {
    permission: 'anyone',
    id: 'getSignInOptions',
    summary: 'How one can sign in from here',
    answer: signInOptions,
    faults: [503],
    handler: async (request) => {
      const [isSetUp, provider] = await Promise.all([hasMembers(reports), readSignOn(reports)])
      return {
        sign_on: provider ? buttonName(provider) : null,
        first_run: !isSetUp,
        secure: transports.of(request).isSecure,
        allowed: transports.isPrivate(request),
      }
    },
  })
}

function registerSignIn(api: Api, node: ControlNode): void {
  const { reports, passwords, signInLimits } = node
  route(api, 'POST /session', {
    permission: 'anyone',
    id: 'signIn',
    summary: 'Sign in with a mail address and a password. The answer sets the cookie of the session',
    body: signIn,
    answers: { 204: noContent },
    faults: [401, 403, 503],
    handler: async (request, reply) => {
      const { email: given, password } = request.body
      const address = checkSignIn(request, node)
      const found = await memberSecrets(reports, given)
      const attempt = signInLimits.begin(address, given, found?.last_address === address)
      const isRight = await busyAsFault(passwords.isRight(password, found?.password_hash ?? undefined))
      if (!isRight || found === undefined || found.is_disabled)
        throw new Fault('sign_in_failed', 'No member has this mail address with this password.')
      attempt.succeeded()
      await beginSession(request, reply, found.id, node)
      return reply.code(204).send()
    },
  })
}

function registerFirstRun(api: Api, node: ControlNode): void {
  const { reports, passwords, signInLimits } = node
  route(api, 'POST /session/first-run', {
    permission: 'anyone',
    id: 'firstRun',
    summary: 'Become the first admin, by the link that a node prints until the first member exists',
    body: firstRun,
    answers: { 204: noContent },
    faults: [403, 404, 503],
    handler: async (request, reply) => {
      const { token, password, ...person } = request.body
      const address = checkSignIn(request, node)
      const digest = digestOf(token)
      const attempt = signInLimits.begin(address, 'first run', true)
      const wrong = new Fault('link_invalid', 'This link is wrong, older than a day, or was used already.')
      // A password is only hashed for those who have the link: hashing costs time on purpose.
      if (!(await isFirstRunLink(reports, digest))) throw wrong
      const passwordHash = await busyAsFault(passwords.hash(password))
      const memberId = await makeFirstAdmin(reports, digest, { ...person, passwordHash, address })
      if (memberId === undefined) throw wrong
      attempt.succeeded()
      await beginSession(request, reply, memberId, node)
      return reply.code(204).send()
    },
  })
}

function registerSignOut(api: Api, { reports, callers, transports }: ControlNode): void {
  const signedOut = (request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    callers.forget()
    return reply
      .code(204)
      .header('set-cookie', noSessionCookie(transports.of(request)))
      .send()
  }

  route(api, 'DELETE /session', {
    permission: 'signed-in',
    id: 'signOut',
    summary: 'Sign out: the session ends on every node',
    answers: { 204: noContent },
    faults: [409],
    handler: async (request, reply) => {
      await endSession(reports, personIn(callerIn(request)).sessionId, actorIn(request))
      return signedOut(request, reply)
    },
  })

  route(api, 'DELETE /session/all', {
    permission: 'signed-in',
    id: 'signOutEverywhere',
    summary: 'End all sessions of this member, this one too',
    answers: { 204: noContent },
    faults: [409],
    handler: async (request, reply) => {
      await endSessionsOf(reports, personIn(callerIn(request)).member.id, actorIn(request))
      return signedOut(request, reply)
    },
  })
}

function registerPassword(api: Api, node: ControlNode): void {
  const { reports, passwords, signInLimits, transports } = node
  route(api, 'PUT /session/password', {
    permission: 'signed-in',
    id: 'changePassword',
    summary: 'Change your password. All sessions end, and a new one begins',
    body: passwordChange,
    answers: { 204: noContent },
    faults: [409],
    handler: async (request, reply) => {
      const { member } = personIn(callerIn(request))
      const { client } = transports.of(request)
      const hash = (await memberSecrets(reports, member.email))?.password_hash ?? undefined
      if (hash === undefined)
        throw conflict('You sign in by the identity provider. Change your password there.')
      signInLimits.checkAddress(client)
      const attempt = signInLimits.begin(client, member.email, true)
      if (!(await busyAsFault(passwords.isRight(request.body.current, hash))))
        throw invalidField('current: this is not your present password.', 'current')
      attempt.succeeded()
      const newHash = await busyAsFault(passwords.hash(request.body.password))
      await setPassword(reports, member, newHash, actorIn(request))
      await beginSession(request, reply, member.id, node)
      return reply.code(204).send()
    },
  })
}

/** A token has no session. */
function personIn(caller: Caller): SessionCaller {
  if (caller.member === undefined) throw conflict(`${caller.actor} is a token, and has no session.`)
  return caller as SessionCaller
}
