/** Signing in by the identity provider. A browser walks through these routes, so their trouble is told by a page. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { standingOf, type Claims } from '#core/sign-on-rules.ts'
import type { Identity } from '#ports/members.ts'
import type { SignOnSettings } from '#ports/sign-on.ts'
import { sendPage } from '../../pages.ts'
import { tripCookie, tripIn } from '../access/cookies.ts'
import type { PeopleDependencies } from '../access/people.ts'
import type { Api } from '../wire/route.ts'
import { beginSession } from './begin.ts'
import { noContent } from '../wire/fields.ts'
import { signOnStart } from './schemas.ts'
import { claimsPage } from './claims-page.ts'
import { isTestTicket, openedTrip, ownPath, sealedTrip, type Trip } from './trip.ts'

/** Why nobody was signed in, as `problem` in the address of the sign-in page. */
type Problem =
  | 'insecure'
  | 'none'
  | 'failed'
  | 'denied'
  | 'late'
  | 'no_email'
  | 'no_role'
  | 'email_taken'
  | 'disabled'

export function registerOidc(api: Api, people: PeopleDependencies): void {
  const { signOn, identityProvider, transports } = people

  api.get('/session/oidc', {
    config: { permission: 'anyone' },
    schema: {
      operationId: 'beginSignOn',
      summary: 'Sends the browser to the identity provider',
      querystring: signOnStart,
      response: {
        302: noContent.describe('To the identity provider, or to the sign-in page with a `problem`.'),
      },
    },
    handler: async (request, reply) => {
      const { return: asked, test } = request.query
      const back = ownPath(asked)
      if (!transports.isPrivate(request)) return refuse(request, reply, people, { problem: 'insecure', back })
      const settings = await signOn.open()
      if (settings === undefined) return refuse(request, reply, people, { problem: 'none', back })
      try {
        const { url, trip } = await identityProvider.begin(settings, callbackUrl(request, people))
        const isTest = test !== undefined && isTestTicket(test, people)
        const sealed = sealedTrip({ ...trip, return: back, isTest }, people)
        return reply.header('set-cookie', tripCookie(transports.of(request), sealed)).redirect(url)
      } catch (cause) {
        return refuse(request, reply, people, { problem: 'failed', back, cause })
      }
    },
  })

  api.get('/session/oidc/callback', {
    config: { permission: 'anyone' },
    schema: {
      operationId: 'endSignOn',
      summary: 'Where the identity provider sends the browser back to',
      response: {
        302: noContent.describe('To the page that was asked for, with the cookie of the session.'),
      },
    },
    handler: async (request, reply) => {
      void reply.header('set-cookie', tripCookie(transports.of(request), ''))
      const trip = openedTrip(tripIn(request.headers.cookie), people)
      if (trip === undefined) return refuse(request, reply, people, { problem: 'late', back: '/' })
      return comeBack(request, reply, people, trip)
    },
  })
}

async function comeBack(
  request: FastifyRequest,
  reply: FastifyReply,
  people: PeopleDependencies,
  trip: Trip,
): Promise<FastifyReply> {
  const { signOn, identityProvider, members, transports } = people
  const back = trip.return
  if (!transports.isPrivate(request)) return refuse(request, reply, people, { problem: 'insecure', back })
  const settings = await signOn.open()
  if (settings === undefined) return refuse(request, reply, people, { problem: 'none', back })
  const url = new URL(callbackUrl(request, people))
  url.search = new URL(request.url, url).search
  let claims: Claims
  try {
    claims = await identityProvider.finish(settings, url, trip)
  } catch (cause) {
    if (trip.isTest) return sendPage(request, reply, claimsPage({ problem: (cause as Error).message }))
    const problem = url.searchParams.get('error') === 'access_denied' ? 'denied' : 'failed'
    return refuse(request, reply, people, { problem, back, cause })
  }
  if (trip.isTest)
    return sendPage(request, reply, claimsPage({ claims, standing: standingOf(claims, settings.rules) }))
  const identity = identityOf(claims, settings)
  if (identity === undefined) return refuse(request, reply, people, { problem: 'no_email', back })
  const member = await members.identified(identity, transports.of(request).client)
  // The rules may have changed the role, or ended the member's other sessions.
  people.callers.forget()
  if (typeof member === 'string') return refuse(request, reply, people, { problem: member, back })
  await beginSession(request, reply, member, people)
  return reply.redirect(transports.link(request, `.${back}`))
}

function identityOf(claims: Claims, { issuer, rules }: SignOnSettings): Identity | undefined {
  const { sub, email, name, preferred_username: username } = claims
  if (typeof sub !== 'string' || typeof email !== 'string' || !email.includes('@')) return undefined
  const given = [name, username, email].find(isWritten) ?? email
  return {
    issuer,
    subject: sub,
    email: email.toLowerCase().slice(0, 254),
    name: given.trim().replaceAll('\0', '').slice(0, 100),
    emailVerified: claims['email_verified'] === true,
    standing: standingOf(claims, rules),
  }
}

function isWritten(claim: unknown): claim is string {
  return typeof claim === 'string' && claim.trim() !== ''
}

/** As it must stand in the settings of the identity provider. */
export function callbackUrl(
  request: FastifyRequest,
  { transports }: Pick<PeopleDependencies, 'transports'>,
): string {
  return transports.link(request, 'api/v1/session/oidc/callback')
}

interface Refusal {
  readonly problem: Problem
  readonly back: string
  readonly cause?: unknown
}

function refuse(
  request: FastifyRequest,
  reply: FastifyReply,
  { transports, onSignOnTrouble }: PeopleDependencies,
  { problem, back, cause }: Refusal,
): FastifyReply {
  onSignOnTrouble({ problem, cause })
  const search = new URLSearchParams({ problem, ...(back !== '/' && { return: back }) })
  return reply.redirect(transports.link(request, `sign-in?${search.toString()}`))
}

/** On the button. */
export function nameOf({
  name,
  issuer,
}: {
  readonly name: string | undefined
  readonly issuer: string
}): string {
  return name ?? URL.parse(issuer)?.host ?? issuer
}
