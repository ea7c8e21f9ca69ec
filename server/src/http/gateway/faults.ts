/** Faults outside the rooms: requests that are not HTTP, paths that do not exist, and routes of the framework. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { Fault } from '#core/fault/fault.ts'
import { recordOf } from '#request/request-record.ts'
import { checkUrl } from '../gate/texts.ts'
import { toFault } from '../faults.ts'
import { writeFault } from './caller/caller.ts'
import type { ListenerDependencies } from './caller/journey.ts'
import { unknownPath, wrongMethod } from './caller/routes.ts'
import { knownPaths } from './caller/known-paths.ts'
import { answerUnreadable } from '../unreadable.ts'

/** To be called before all routes: it collects their paths. */
export function registerFaults(app: FastifyInstance, dependencies: ListenerDependencies): void {
  const methodsOf = knownPaths(app)
  const strayed = (request: FastifyRequest): Fault => {
    const allow = methodsOf(request.url.split('?')[0] ?? '')
    return allow.length === 0 ? unknownPath(request) : wrongMethod(request, allow)
  }
  // The framework would read a body, and hold it, before it says that there is no such path.
  app.addHook('onRequest', (request, reply, done) => {
    if (request.is404) return failWith(strayed(request), request, reply, dependencies)
    checkUrl(request.method, request.url)
    return done()
  })
  app.setErrorHandler((error, request, reply) => failWith(error, request, reply, dependencies))
}

export function failWith(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  { clientAddress, docsUrl, observer }: ListenerDependencies,
): void {
  const fault = toFault(error)
  observer.requestEnded(
    recordOf({
      requestId: request.id,
      route: request.routeOptions.url === undefined ? 'unknown' : 'models',
      clientAddress: clientAddress(request.raw),
      trace: undefined,
      fault,
      durationMs: reply.elapsedTime,
    }),
  )
  reply.hijack()
  writeFault(reply.raw, fault, request.id, docsUrl())
}

/** The bytes are not a valid HTTP request, or came too slowly. */
export function failUnreadable(
  error: { readonly code?: string },
  socket: Socket,
  { clientAddress, docsUrl, identifiers, observer }: ListenerDependencies,
): void {
  const requestId = identifiers.next()
  const fault = answerUnreadable(error, socket, requestId, docsUrl())
  if (fault === undefined) return
  const address = clientAddress({ socket, headers: {} })
  observer.requestEnded(
    recordOf({ requestId, route: 'unknown', clientAddress: address, trace: undefined, fault }),
  )
}

/** For an `Expect` header other than `100-continue`. */
export function failUnexpected(
  request: IncomingMessage,
  response: ServerResponse,
  { clientAddress, docsUrl, identifiers, observer }: ListenerDependencies,
): void {
  const requestId = identifiers.next()
  const fault = new Fault(
    'expectation_failed',
    `The header Expect is '${request.headers.expect?.slice(0, 80)}'. Send 100-continue, or leave the header out.`,
  )
  const address = clientAddress(request)
  observer.requestEnded(
    recordOf({ requestId, route: 'unknown', clientAddress: address, trace: undefined, fault }),
  )
  writeFault(response, fault, requestId, docsUrl())
}
