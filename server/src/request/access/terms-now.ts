/** The key under which work may spend money at this moment, or the fault that says why it may not. */
import { continuationOf, type Continuation } from '#core/access/continuation.ts'
import { Fault, type FaultCode } from '#core/fault/fault.ts'
import type { Key, KeyNow, TermsInForce, WorkOwner } from '#ports/keys.ts'
import { STORE_RETRY_MS } from '#ports/store.ts'

/** Asked before each call of work that outlives its request. Rejects with a fault when nothing more may be bought. */
export type KeyAsked = () => Key | Promise<Key>

export async function decided(
  owner: WorkOwner,
  isContinued: boolean,
  terms: TermsInForce,
): Promise<Continuation> {
  return continuation(await terms.of(owner), isContinued)
}

/** Immediate for a key that this node knows. */
export function keyNow(owner: WorkOwner, isContinued: boolean, terms: TermsInForce): Key | Promise<Key> {
  const now = terms.of(owner)
  if (now instanceof Promise) return now.then((found) => keyUnder(owner, found, isContinued, terms))
  return keyUnder(owner, now, isContinued, terms)
}

function keyUnder(owner: WorkOwner, now: KeyNow, isContinued: boolean, terms: TermsInForce): Key {
  const then = continuation(now, isContinued)
  if (then.does !== 'continue') throw endedFault(owner, then.because)
  const key = then.under === 'project' ? terms.ofProject(owner) : now.standing === 'valid' && now.key
  if (!key) throw endedFault(owner, 'key_store_unreachable')
  return key
}

function continuation(now: KeyNow, isContinued: boolean): Continuation {
  const isProjectDeleted = now.standing !== 'valid' && now.isProjectDeleted
  return continuationOf({ key: now.standing, isProjectDeleted, isContinued })
}

function endedFault({ keyId, project }: WorkOwner, code: FaultCode): Fault {
  switch (code) {
    case 'project_deleted':
      return new Fault(code, `Project '${project}' was deleted. Torana buys nothing more for it.`)
    case 'key_expired':
      return new Fault(
        code,
        `Key '${keyId}' has expired since this began. Torana buys nothing more under it.`,
      )
    case 'key_revoked':
      return new Fault(
        code,
        `Key '${keyId}' was revoked since this began. Torana buys nothing more under it.`,
      )
    default:
      return new Fault(
        'key_store_unreachable',
        `Torana cannot look key '${keyId}' up at the moment. Retry.`,
        {
          retryAfterMs: STORE_RETRY_MS,
        },
      )
  }
}
