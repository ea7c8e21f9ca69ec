/** A session begins: always with a new cookie, whatever the browser brought. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Fault } from '#core/fault/fault.ts'
import type { MemberRecord } from '#ports/members.ts'
import { PasswordsBusy } from '#ports/passwords.ts'
import { sessionCookie, sessionCookieIn } from '../access/cookies.ts'
import type { PeopleDependencies } from '../access/people.ts'
import { digestOf, newSecretText } from '../access/secret-text.ts'

type Needed = Pick<PeopleDependencies, 'sessions' | 'transports' | 'callers'>

export async function beginSession(
  request: FastifyRequest,
  reply: FastifyReply,
  { id: memberId }: Pick<MemberRecord, 'id'>,
  { sessions, transports, callers }: Needed,
): Promise<void> {
  const transport = transports.of(request)
  const brought = sessionCookieIn(request.headers.cookie)
  const before = brought && (await callers.ofCookie(brought.value))
  if (before) await sessions.end(before.sessionId, { name: before.actor, address: transport.client })
  const value = newSecretText()
  await sessions.begin({ memberId, digest: digestOf(value), address: transport.client })
  callers.forget()
  void reply.header('set-cookie', sessionCookie(transport, value))
}

/** As long as a few passwords take. */
const BUSY_MS = 1000

export async function patiently<Result>(work: Promise<Result>): Promise<Result> {
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
