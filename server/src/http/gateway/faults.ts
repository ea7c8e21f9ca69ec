/** Faults of what no room answers: requests that are no HTTP, paths that do not exist, and routes of the framework. */
import type { Socket } from 'node:net'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { faultBody, faultHeaders, toFault } from '../faults.ts'
import type { ListenerDependencies } from './caller/journey.ts'
import { unknownPath } from './caller/routes.ts'
import { answerUnreadable } from './unreadable.ts'

export function registerFaults(app: FastifyInstance, dependencies: ListenerDependencies): void {
  // The framework reads bodies also where there is no path. Telling what is wrong with such a body would help nobody.
  app.setErrorHandler((error, request, reply) =>
    failWith(request.is404 ? unknownPath(request) : error, request, reply, dependencies),
  )
  app.setNotFoundHandler((request, reply) => failWith(unknownPath(request), request, reply, dependencies))
}

export function failWith(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  { docsUrl, observer }: ListenerDependencies,
): void {
  const fault = toFault(error)
  const { status } = fault.entry
  observer.requestEnded({
    requestId: request.id,
    route: request.routeOptions.url === undefined ? 'unknown' : 'models',
    status,
    fault: fault.code,
    cause: fault.cause,
    durationMs: reply.elapsedTime,
  })
  void reply
    .code(status)
    .headers(faultHeaders(fault, request.id))
    .send(faultBody(fault, request.id, docsUrl()))
}

/** What arrived is no request that HTTP can read, or came too slowly. */
export function failUnreadable(
  error: { readonly code?: string },
  socket: Socket,
  { docsUrl, identifiers, observer }: ListenerDependencies,
): void {
  const requestId = identifiers.next()
  const fault = answerUnreadable(error, socket, requestId, docsUrl())
  if (fault === undefined) return
  const { status } = fault.entry
  observer.requestEnded({ requestId, route: 'unknown', status, fault: fault.code, durationMs: 0 })
}
