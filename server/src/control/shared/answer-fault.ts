/** How the control port answers a fault, whichever route or hook threw it. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { faultBody, faultHeaders } from '#http/faults.ts'
import type { Fault } from '#core/fault/fault.ts'
import type { ClientAddress } from '#http/client-address.ts'
import { controlFault } from './faults.ts'

/** A request as the log shows it. */
export interface ControlRequest {
  readonly requestId: string
  readonly client: string
  readonly method: string
  /** Without the query. */
  readonly path: string
}

export interface FaultAnswering {
  readonly clientAddress: ClientAddress
  readonly docsUrl: () => string
  /** Hears of each fault, with its cause, which the caller does not see. */
  readonly onFault: (fault: Fault, request: ControlRequest) => void
}

export function answerFault(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  { clientAddress, docsUrl, onFault }: FaultAnswering,
): FastifyReply {
  const fault = controlFault(error, request.method)
  onFault(fault, shownRequest(request, clientAddress))
  return reply
    .code(fault.entry.status)
    .headers(faultHeaders(fault, request.id))
    .serializer((body: string) => body)
    .send(faultBody(fault, request.id, docsUrl()))
}

export function shownRequest(
  { id, raw, method, url }: FastifyRequest,
  clientAddress: FaultAnswering['clientAddress'],
): ControlRequest {
  return { requestId: id, client: clientAddress(raw), method, path: pathIn(url) }
}

/** Without its query, and no longer than a message may be. */
export function pathIn(url: string): string {
  return url.split('?', 1)[0]?.slice(0, 200) ?? ''
}
