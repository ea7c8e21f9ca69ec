/** Signing in and out. */
import { permissionsOf } from '#core/permission.ts'
import { Fault } from '#core/fault/fault.ts'
import { faultAnswers } from '../../fault-answers.ts'
import { actorIn, callerIn, type Caller } from '../access/caller.ts'
import type { SessionCaller } from '../access/callers.ts'
import { noSessionCookie } from '../access/cookies.ts'
import type { PeopleDependencies } from '../access/people.ts'
import { digestOf } from '../access/secret-text.ts'
import { conflict, invalidField } from '../wire/faults.ts'
import type { Api } from '../wire/route.ts'
import { isoOf, timeOf } from '../wire/times.ts'
import { beginSession, patiently } from './begin.ts'
import { nameOf, registerOidc } from './oidc.ts'
import { noContent } from '../wire/fields.ts'
import { firstRun, passwordChange, session, signIn, signInOptions } from './schemas.ts'

export function registerSession(api: Api, people: PeopleDependencies): void {
  registerReading(api, people)
  registerSignIn(api, people)
  registerFirstRun(api, people)
  registerSignOut(api, people)
  registerPassword(api, people)
  registerOidc(api, people)
}

function registerReading(api: Api, people: PeopleDependencies): void {
  const { install, signOn, transports, members, nowMs } = people
  api.get('/session', {
    config: { permission: 'signed-in' },
    schema: {
      operationId: 'getSession',
      summary: 'Who you are, what you may do, and where you are',
      response: { 200: session, ...faultAnswers([401, 503]) },
    },
    handler: async (request) => {
      const caller = callerIn(request)
      const [facts, provider] = await Promise.all([install(), signOn.read()])
      const { isSecure, isThisMachine } = transports.of(request)
      return {
        member: caller.member ?? null,
        role: caller.role,
        projects: caller.projects ? [...caller.projects] : null,
        permissions: permissionsOf(caller.role).filter((one) => !caller.isReadOnly || one.endsWith('.read')),
        insecure: caller.member !== undefined && !isSecure && !isThisMachine,
        expires_at: timeOf((caller as Partial<SessionCaller>).expiresAtMs),
        install: {
          name: facts.name ?? null,
          version: facts.version,
          gateway_url: facts.gatewayUrl,
          first_run: facts.isFirstRun,
          only_demo: facts.hasOnlyDemo,
          sign_on: provider ? nameOf(provider) : null,
          now: isoOf(nowMs()),
        },
      }
    },
  })

  api.get('/session/options', {
    config: { permission: 'anyone' },
    schema: {
      operationId: 'getSignInOptions',
      summary: 'How one can sign in from here',
      response: { 200: signInOptions, ...faultAnswers([503]) },
    },
    handler: async (request) => {
      const [hasMembers, provider] = await Promise.all([members.hasMembers(), signOn.read()])
      const { isSecure } = transports.of(request)
      return {
        sign_on: provider ? nameOf(provider) : null,
        first_run: !hasMembers,
        secure: isSecure,
        allowed: transports.isPrivate(request),
      }
    },
  })
}

function registerSignIn(api: Api, people: PeopleDependencies): void {
  const { members, passwords, signInLimits, transports } = people
  api.post('/session', {
    config: { permission: 'anyone' },
    schema: {
      operationId: 'signIn',
      summary: 'Sign in with a mail address and a password. The answer sets the cookie of the session',
      body: signIn,
      response: { 204: noContent, ...faultAnswers([400, 401, 403, 503]) },
    },
    handler: async (request, reply) => {
      const { email, password } = request.body
      transports.checkPrivate(request)
      transports.checkOrigin(request)
      const { client } = transports.of(request)
      signInLimits.checkAddress(client)
      const found = await members.byEmail(email)
      const attempt = signInLimits.begin(client, email, found?.lastAddress === client)
      const isRight = await patiently(passwords.isRight(password, found?.passwordHash))
      if (!isRight || found === undefined || found.member.disabledAtMs !== undefined)
        throw new Fault('sign_in_failed', 'No member has this mail address with this password.')
      attempt.succeeded()
      await beginSession(request, reply, found.member, people)
      return reply.code(204).send()
    },
  })
}

function registerFirstRun(api: Api, people: PeopleDependencies): void {
  const { members, passwords, signInLimits, transports } = people
  api.post('/session/first-run', {
    config: { permission: 'anyone' },
    schema: {
      operationId: 'firstRun',
      summary: 'Become the first admin, by the link that a node prints while there is no member',
      body: firstRun,
      response: { 204: noContent, ...faultAnswers([400, 403, 404, 503]) },
    },
    handler: async (request, reply) => {
      const { token, name, email, password } = request.body
      transports.checkPrivate(request)
      transports.checkOrigin(request)
      const { client } = transports.of(request)
      signInLimits.checkAddress(client)
      const digest = digestOf(token)
      const attempt = signInLimits.begin(client, 'first run', true)
      const wrong = new Fault('link_invalid', 'This link is wrong, older than a day, or was used already.')
      // A password is only hashed for those who have the link: hashing costs time on purpose.
      if (!(await members.isFirstRunLink(digest))) throw wrong
      const passwordHash = await patiently(passwords.hash(password))
      const member = await members.firstAdmin(digest, { name, email, passwordHash }, client)
      if (member === undefined) throw wrong
      attempt.succeeded()
      await beginSession(request, reply, member, people)
      return reply.code(204).send()
    },
  })
}

function registerSignOut(api: Api, people: PeopleDependencies): void {
  const { sessions, callers, transports } = people
  api.delete('/session', {
    config: { permission: 'signed-in' },
    schema: {
      operationId: 'signOut',
      summary: 'Sign out: the session ends on every node',
      response: { 204: noContent, ...faultAnswers([401, 403, 409, 503]) },
    },
    handler: async (request, reply) => {
      const { sessionId } = personIn(callerIn(request))
      await sessions.end(sessionId, actorIn(request))
      callers.forget()
      return reply
        .code(204)
        .header('set-cookie', noSessionCookie(transports.of(request)))
        .send()
    },
  })

  api.delete('/session/all', {
    config: { permission: 'signed-in' },
    schema: {
      operationId: 'signOutEverywhere',
      summary: 'End all sessions of this member, this one too',
      response: { 204: noContent, ...faultAnswers([401, 403, 409, 503]) },
    },
    handler: async (request, reply) => {
      const { member } = personIn(callerIn(request))
      await sessions.endAllOf(member.id, actorIn(request))
      callers.forget()
      return reply
        .code(204)
        .header('set-cookie', noSessionCookie(transports.of(request)))
        .send()
    },
  })
}

function registerPassword(api: Api, people: PeopleDependencies): void {
  const { members, passwords, signInLimits, transports } = people
  api.put('/session/password', {
    config: { permission: 'signed-in' },
    schema: {
      operationId: 'changePassword',
      summary: 'Change your password. All sessions end, and a new one begins',
      body: passwordChange,
      response: { 204: noContent, ...faultAnswers([400, 401, 403, 409, 503]) },
    },
    handler: async (request, reply) => {
      const { member } = personIn(callerIn(request))
      const { client } = transports.of(request)
      const found = await members.byEmail(member.email)
      if (found?.passwordHash === undefined)
        throw conflict('You sign in by the identity provider. Change your password there.')
      signInLimits.checkAddress(client)
      const attempt = signInLimits.begin(client, member.email, true)
      if (!(await patiently(passwords.isRight(request.body.current, found.passwordHash))))
        throw invalidField('current: this is not your present password.', 'current')
      attempt.succeeded()
      const hash = await patiently(passwords.hash(request.body.password))
      await members.setPassword(member.id, hash, actorIn(request))
      await beginSession(request, reply, member, people)
      return reply.code(204).send()
    },
  })
}

/** A token has no session. */
function personIn(caller: Caller): SessionCaller {
  if (caller.member === undefined) throw conflict(`${caller.actor} is a token, and has no session.`)
  return caller as SessionCaller
}
