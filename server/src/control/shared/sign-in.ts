/** Steps that every way to sign in shares. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Fault } from '#core/fault/fault.ts'
import { PasswordsBusy } from '#ports/passwords.ts'
import { sessionCookie, sessionCookieIn } from './cookies.ts'
import type { ControlNode } from './node.ts'
import { digestOf, newSecretText } from './secret-text.ts'
import { endSession, startSession } from './session-queries.ts'

/** Pause after which a refused sign-in may be tried again: a few passwords are hashed in it. */
const BUSY_MS = 1000

/** Before a password or a link is looked at. Answers the address of the client. */
export function checkSignIn(
  request: FastifyRequest,
  { transports, signInLimits }: Pick<ControlNode, 'transports' | 'signInLimits'>,
): string {
  transports.checkPrivate(request)
  transports.checkOrigin(request)
  const { client } = transports.of(request)
  signInLimits.checkAddress(client)
  return client
}

/** Always with a new cookie, whatever the browser brought. */
export async function beginSession(
  request: FastifyRequest,
  reply: FastifyReply,
  memberId: string,
  { reports, transports, callers }: Pick<ControlNode, 'reports' | 'transports' | 'callers'>,
): Promise<void> {
  const transport = transports.of(request)
  const brought = sessionCookieIn(request.headers.cookie)
  const before = brought && (await callers.ofCookie(brought.value))
  if (before)
    await endSession(reports, before.sessionId, {
      kind: before.kind,
      name: before.actor,
      address: transport.client,
    })
  const value = newSecretText()
  await startSession(reports, { memberId, digest: digestOf(value), address: transport.client })
  callers.forget()
  void reply.header('set-cookie', sessionCookie(transport, value))
}

/** Passes on the result, or a fault when too many passwords are being hashed. */
export async function busyAsFault<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work
  } catch (cause) {
    if (!(cause instanceof PasswordsBusy)) throw cause
    throw new Fault('too_many_sign_ins', 'Too many people sign in at this moment. Try again in a second.', {
      retryAfterMs: BUSY_MS,
      cause,
    })
  }
}
