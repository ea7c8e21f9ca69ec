import type { IncomingMessage } from 'node:http'
import { Fault } from '#core/fault/fault.ts'
import type { Clock } from '#ports/clock.ts'
import type { Key, KeyDirectory } from '#ports/keys.ts'
import { authenticate } from '#request/access/authenticate.ts'
import type { ClientAddress } from '../../client-address.ts'
import { checkedAddress } from './key-bounds.ts'
import type { FailedKeys } from './failed-keys.ts'
import { isWithoutScheme, presentedKey } from './presented-key.ts'

export interface KeysOutside {
  readonly keys: KeyDirectory
  readonly clock: Clock
  readonly failedKeys: FailedKeys
  readonly clientAddress: ClientAddress
}

/** The key of the caller, without a promise when it is known in memory. Wrong keys are remembered by client address. */
export function keyOf(
  request: IncomingMessage,
  { keys, clock, failedKeys, clientAddress }: KeysOutside,
): Key | Promise<Key> {
  try {
    const waitMs = failedKeys.isEmpty ? 0 : failedKeys.waitMs(clientAddress(request))
    const secret = presentedKey(request.headers)
    if (secret === undefined && isWithoutScheme(request.headers))
      throw new Fault(
        'missing_api_key',
        'The `Authorization` header has no `Bearer` before its key. Send `Authorization: Bearer <key>`.',
      )
    const found = authenticate(secret, keys, clock, waitMs)
    if (!(found instanceof Promise)) return checkedAddress(found, request, clientAddress)
    return found.then(
      (key) => checkedAddress(key, request, clientAddress),
      (error: unknown) => {
        failedKeys.note(clientAddress(request), error)
        throw error
      },
    )
  } catch (error) {
    failedKeys.note(clientAddress(request), error)
    throw error
  }
}
