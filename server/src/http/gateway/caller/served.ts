/** Routes outside the journeys of embeddings and images. Their requests are recorded like all others. */
import type { ServerResponse } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Fault } from '#core/fault/fault.ts'
import type { Key } from '#ports/keys.ts'
import { countRequest } from '#request/money/rates.ts'
import { recordOf } from '#request/request-record.ts'
import { toFault } from '../../faults.ts'
import { endUnread } from '../../gate/unread.ts'
import { clientRequestId, writeFault } from './caller.ts'
import type { ListenerDependencies } from './journey.ts'
import { keyOf } from './key-of.ts'
import { hijacked } from './routes.ts'
import { writeJson } from './writing.ts'

/** A request of a known caller. */
export interface KnownRequest {
  readonly request: FastifyRequest
  readonly response: ServerResponse
  readonly key: Key
}

interface ServedRoute {
  readonly route: string
  /** It creates something that is stored, so it counts against the rate limit before anything of it is read. */
  readonly isCounted?: boolean
  /** Turns an error into the fault that the caller gets. */
  readonly faultOf?: (error: unknown) => unknown
}

export function idIn({ params }: FastifyRequest): string {
  return (params as { id: string }).id
}

/** Writes its answer itself. `known`: the caller, where it is known without a secret: a member at the playground. */
export type ServedHandler = (request: FastifyRequest, reply: FastifyReply, known?: Key) => Promise<void>

/** For callers with a key. `serve` returns the answer, or writes it itself and returns none. */
export function servedBy(
  dependencies: ListenerDependencies,
  served: ServedRoute,
  serve: (asked: KnownRequest) => Promise<object | undefined>,
): ReturnType<typeof hijacked> {
  return takenBy(serveKnown(dependencies, served, serve))
}

export function takenBy(handler: ServedHandler): ReturnType<typeof hijacked> {
  return hijacked((request, reply) => handler(request, reply))
}

export function serveKnown(
  dependencies: ListenerDependencies,
  served: ServedRoute,
  serve: (asked: KnownRequest) => Promise<object | undefined>,
): ServedHandler {
  return recorded(dependencies, served, async (request, response, asker) => {
    asker.key ??= await keyOf(request.raw, dependencies)
    if (served.isCounted === true) await countRequest(asker.key, dependencies.limiter)
    const answer = await serve({ request, response, key: asker.key })
    if (answer !== undefined) writeJson(response, answer, request.id)
  })
}

/** For answers that are streams of bytes: `serve` checks the key, where one is needed, and writes the answer itself. */
export function streamedBy(
  dependencies: ListenerDependencies,
  route: string,
  serve: (request: FastifyRequest, response: ServerResponse) => Promise<void>,
): ReturnType<typeof hijacked> {
  return takenBy(recorded(dependencies, { route }, serve))
}

function recorded(
  { clientAddress, observer, docsUrl }: ListenerDependencies,
  { route, faultOf }: ServedRoute,
  serve: (
    request: FastifyRequest,
    response: ServerResponse,
    asker: { key: Key | undefined },
  ) => Promise<void>,
): ServedHandler {
  return async (request, reply, known) => {
    reply.hijack()
    const asker = { key: known }
    let fault: Fault | undefined
    try {
      await serve(request, reply.raw, asker)
    } catch (error) {
      fault = toFault(faultOf ? faultOf(error) : error)
      writeFault(reply.raw, fault, request.id, docsUrl())
    }
    // A client may send a body to a route that has none.
    endUnread(request.raw, reply.raw)
    observer.requestEnded(
      recordOf({
        requestId: request.id,
        route,
        clientRequestId: clientRequestId(request.raw),
        clientAddress: clientAddress(request.raw),
        trace: undefined,
        status: reply.raw.statusCode,
        fault,
        key: asker.key,
        durationMs: reply.elapsedTime,
      }),
    )
  }
}
