/** Finds out who asks, or says why nobody may. It runs before the body is read. */
import type { FastifyRequest } from 'fastify'
import { Fault } from '#core/fault/fault.ts'
import type { ClientAddress } from '../../client-address.ts'
import type { FailedKeys } from '../../gateway/caller/failed-keys.ts'
import { presentedKey } from '../../gateway/caller/presented-key.ts'
import { noToken, tooManyWrongTokens, wrongToken } from '../wire/faults.ts'
import { isReading, type Caller } from './caller.ts'
import { sessionCookieIn } from './cookies.ts'
import type { PeopleDependencies } from './people.ts'

export interface AccessDependencies {
  /** Who holds a token of the node itself. Undefined: none of them. `isLocal`: it came by the socket in the data folder. */
  readonly callerOf: (token: string, isLocal: boolean) => Caller | undefined
  /** Undefined on a node that keeps nothing: there are no members then. */
  readonly people?: Pick<PeopleDependencies, 'callers' | 'transports'> | undefined
  readonly clientAddress: ClientAddress
  /** Wrong tokens and cookies, by the address that they came from. */
  readonly failedTokens: FailedKeys
}

export async function callerOfRequest(request: FastifyRequest, access: AccessDependencies): Promise<Caller> {
  const token = presentedKey({ authorization: request.headers.authorization })
  if (token !== undefined) return tokenHolder(request, token, access)
  const member = await memberOf(request, access)
  if (member === undefined) throw noToken()
  return member
}

/** The token itself is checked first, so that nobody can lock out a person who has it. */
async function tokenHolder(
  request: FastifyRequest,
  token: string,
  { callerOf, people, failedTokens, clientAddress }: AccessDependencies,
): Promise<Caller> {
  const caller = callerOf(token, isLocal(request)) ?? (await people?.callers.ofToken(token))
  if (caller !== undefined) return caller
  const client = clientAddress(request.raw)
  const waitMs = failedTokens.waitMs(client)
  if (waitMs > 0) throw tooManyWrongTokens(waitMs)
  const fault = wrongToken()
  failedTokens.note(client, fault)
  throw fault
}

async function memberOf(
  request: FastifyRequest,
  { people }: AccessDependencies,
): Promise<Caller | undefined> {
  const cookie = sessionCookieIn(request.headers.cookie)
  if (cookie === undefined || people === undefined) return undefined
  if (!cookie.isSecure) people.transports.checkPrivate(request)
  // A page of another site can make a browser send the cookie in old browsers, and on other ports of the same host.
  if (!isReading(request.method)) people.transports.checkOrigin(request)
  const caller = await people.callers.ofCookie(cookie.value)
  if (caller === undefined) throw new Fault('session_ended', 'This session has ended. Sign in again.')
  return caller
}

/** Connections by the socket of the data folder have no addresses. */
function isLocal({ raw: { socket } }: FastifyRequest): boolean {
  return !socket.destroyed && socket.remoteAddress === undefined && socket.localAddress === undefined
}
