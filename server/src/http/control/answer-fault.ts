/** How the control port answers a fault, whichever route or hook threw it. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { faultBody, faultHeaders } from '../faults.ts'
import type { ApiDependencies, ControlRequest } from './dependencies.ts'
import { controlFault } from './wire/faults.ts'

type Telling = Pick<ApiDependencies, 'clientAddress' | 'docsUrl' | 'onFault'>

export function answerFault(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  { clientAddress, docsUrl, onFault }: Telling,
): FastifyReply {
  const fault = controlFault(error)
  onFault(fault, shownRequest(request, clientAddress))
  return reply
    .code(fault.entry.status)
    .headers(faultHeaders(fault, request.id))
    .serializer((body: string) => body)
    .send(faultBody(fault, request.id, docsUrl()))
}

export function shownRequest(
  { id, raw, method, url }: FastifyRequest,
  clientAddress: Telling['clientAddress'],
): ControlRequest {
  return { requestId: id, client: clientAddress(raw), method, path: pathIn(url) }
}

/** Without its query, and no longer than a message may be. */
export function pathIn(url: string): string {
  return url.split('?', 1)[0]?.slice(0, 200) ?? ''
}
