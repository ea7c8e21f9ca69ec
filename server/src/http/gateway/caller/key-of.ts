import type { IncomingMessage } from 'node:http'
import type { Clock } from '#ports/clock.ts'
import type { Key, KeyDirectory } from '#ports/keys.ts'
import { authenticate } from '#request/access/authenticate.ts'
import type { FailedKeys } from './failed-keys.ts'
import { presentedKey } from './presented-key.ts'

export interface KeysOutside {
  readonly keys: KeyDirectory
  readonly clock: Clock
  readonly failedKeys: FailedKeys
}

/** The key of the caller. Immediate when it is known in memory. Wrong keys are remembered by the address they came from. */
export function keyOf(
  { headers, socket }: IncomingMessage,
  { keys, clock, failedKeys }: KeysOutside,
): Key | Promise<Key> {
  try {
    const found = authenticate(presentedKey(headers), keys, clock, failedKeys.waitMs(socket))
    if (!(found instanceof Promise)) return found
    return found.catch((error: unknown) => {
      failedKeys.note(socket, error)
      throw error
    })
  } catch (error) {
    failedKeys.note(socket, error)
    throw error
  }
}
