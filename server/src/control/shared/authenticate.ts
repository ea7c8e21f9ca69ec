/** Finds out who asks, or refuses the request. It runs before the body is read. */
import type { FastifyRequest } from 'fastify'
import { Fault } from '#core/fault/fault.ts'
import type { ClientAddress } from '#http/client-address.ts'
import type { FailedKeys } from '#http/gateway/caller/failed-keys.ts'
import { presentedKey } from '#http/gateway/caller/presented-key.ts'
import { noToken, tooManyWrongTokens, wrongToken } from './faults.ts'
import { isReading, type Caller } from './caller.ts'
import { sessionCookieIn } from './cookies.ts'
import type { ControlNode } from './node.ts'

export interface AccessDependencies {
  /** The holder of a token of the node itself. Undefined: it is none of them. `isLocal`: it came by the socket in the data folder. */
  readonly callerOf: (token: string, isLocal: boolean) => Caller | undefined
  readonly node: Pick<ControlNode, 'callers' | 'transports'>
  readonly clientAddress: ClientAddress
  /** Counts wrong tokens by the address that they came from. */
  readonly failedTokens: FailedKeys
}

export async function callerOfRequest(request: FastifyRequest, access: AccessDependencies): Promise<Caller> {
  const token = presentedKey({ authorization: request.headers.authorization })
  if (token !== undefined) return tokenHolder(request, token, access)
  const member = await memberOf(request, access)
  if (member === undefined) throw noToken()
  return member
}

/** The token itself is checked first: wrong tokens from the same address never lock out a person who has it. */
async function tokenHolder(
  request: FastifyRequest,
  token: string,
  { callerOf, node, failedTokens, clientAddress }: AccessDependencies,
): Promise<Caller> {
  const caller = callerOf(token, isLocal(request)) ?? (await node.callers.ofToken(token))
  if (caller !== undefined) return caller
  const client = clientAddress(request.raw)
  const waitMs = failedTokens.waitMs(client)
  if (waitMs > 0) throw tooManyWrongTokens(waitMs)
  const fault = wrongToken()
  failedTokens.note(client, fault)
  throw fault
}

async function memberOf(request: FastifyRequest, { node }: AccessDependencies): Promise<Caller | undefined> {
  const cookie = sessionCookieIn(request.headers.cookie)
  if (cookie === undefined) return undefined
  if (!cookie.isSecure) node.transports.checkPrivate(request)
  // Old browsers send the cookie for pages of other sites, and all browsers for pages on other ports of the same host.
  if (!isReading(request.method)) node.transports.checkOrigin(request)
  const caller = await node.callers.ofCookie(cookie.value)
  if (caller === undefined) throw new Fault('session_ended', 'This session has ended. Sign in again.')
  return caller
}

/** Connections by the socket of the data folder have no addresses. */
function isLocal({ raw: { socket } }: FastifyRequest): boolean {
  return !socket.destroyed && socket.remoteAddress === undefined && socket.localAddress === undefined
}
