/** Signing in by the identity provider. A browser walks through these routes, so they answer with pages. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { standingOf, type Claims } from '#core/access/sign-on-rules.ts'
import { sendPage } from '#http/pages.ts'
import { tripCookie, tripIn } from '../shared/cookies.ts'
import { noContent, storable } from '../shared/fields.ts'
import type { ControlNode } from '../shared/node.ts'
import { route, type Api } from '../shared/route.ts'
import { beginSession } from '../shared/sign-in.ts'
import { callbackUrl, isTestTicket, openedTrip, sealedTrip, type Trip } from '../shared/trip.ts'
import { claimsPage, identityOf, ownPath } from './rules.ts'
import { identifyMember, openSignOn } from './sign-on-queries.ts'

const signOnStart = z.object({
  return: storable(2000).optional().describe('The page of the console to go to afterwards.'),
  test: z.string().max(2000).optional().describe('Only to look: of `POST /sign-on/test`.'),
})

/** Why the person was not signed in, as `problem` in the address of the sign-in page. */
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

export function registerOidc(api: Api, node: ControlNode): void {
  const { reports, identityProvider, transports } = node

  route(api, 'GET /session/oidc', {
    permission: 'anyone',
    id: 'beginSignOn',
    summary: 'Sends the browser to the identity provider',
    query: signOnStart,
    answers: {
      302: noContent.describe('To the identity provider, or to the sign-in page with a `problem`.'),
    },
    handler: async (request, reply) => {
      const { return: asked, test } = request.query
      const back = ownPath(asked)
      const refuse = refusing(request, reply, node, back)
      if (!transports.isPrivate(request)) return refuse('insecure')
      const settings = await openSignOn(reports, node.sealingKeys)
      if (settings === undefined) return refuse('none')
      try {
        const { url, trip } = await identityProvider.begin(settings, callbackUrl(request, node))
        const isTest = test !== undefined && isTestTicket(test, node)
        const sealed = sealedTrip({ ...trip, return: back, isTest }, node)
        return reply.header('set-cookie', tripCookie(transports.of(request), sealed)).redirect(url)
      } catch (cause) {
        return refuse('failed', cause)
      }
    },
  })

  route(api, 'GET /session/oidc/callback', {
    permission: 'anyone',
    id: 'endSignOn',
    summary: 'Where the identity provider sends the browser back to',
    answers: {
      302: noContent.describe('To the page that was asked for, with the cookie of the session.'),
    },
    handler: async (request, reply) => {
      void reply.header('set-cookie', tripCookie(transports.of(request), ''))
      const trip = openedTrip(tripIn(request.headers.cookie), node)
      if (trip === undefined) return refusing(request, reply, node, '/')('late')
      return comeBack(request, reply, node, trip)
    },
  })
}

async function comeBack(
  request: FastifyRequest,
  reply: FastifyReply,
  node: ControlNode,
  trip: Trip,
): Promise<FastifyReply> {
  const { reports, transports } = node
  const refuse = refusing(request, reply, node, trip.return)
  if (!transports.isPrivate(request)) return refuse('insecure')
  const settings = await openSignOn(reports, node.sealingKeys)
  if (settings === undefined) return refuse('none')
  const url = new URL(callbackUrl(request, node))
  url.search = new URL(request.url, url).search
  let claims: Claims
  try {
    claims = await node.identityProvider.finish(settings, url, trip)
  } catch (cause) {
    if (trip.isTest) return sendPage(request, reply, claimsPage({ problem: (cause as Error).message }))
    return refuse(url.searchParams.get('error') === 'access_denied' ? 'denied' : 'failed', cause)
  }
  if (trip.isTest)
    return sendPage(request, reply, claimsPage({ claims, standing: standingOf(claims, settings.rules) }))
  const identity = identityOf(claims, settings)
  if (identity === undefined) return refuse('no_email')
  const outcome = await identifyMember(reports, identity, transports.of(request).client)
  // The rules may have changed the role, or ended the member's other sessions.
  node.callers.forget()
  if ('problem' in outcome) return refuse(outcome.problem)
  await beginSession(request, reply, outcome.memberId, node)
  return reply.redirect(transports.link(request, `.${trip.return}`))
}

/** Sends the browser to the sign-in page, which says why. */
function refusing(
  request: FastifyRequest,
  reply: FastifyReply,
  { transports, onSignOnTrouble }: ControlNode,
  back: string,
): (problem: Problem, cause?: unknown) => FastifyReply {
  return (problem, cause) => {
    onSignOnTrouble({ problem, cause })
    const search = new URLSearchParams({ problem, ...(back !== '/' && { return: back }) })
    return reply.redirect(transports.link(request, `sign-in?${search.toString()}`))
  }
}
