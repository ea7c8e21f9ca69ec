import { Fault } from '#core/fault/fault.ts'
import { keyForm, keyTail } from '#core/key.ts'
import type { Clock } from '#ports/clock.ts'
import type { Key, KeyDirectory } from '#ports/keys.ts'

/** Who is asking. Immediate when the key is known in memory. */
export function authenticate(
  secret: string | undefined,
  keys: KeyDirectory,
  clock: Clock,
): Key | Promise<Key> {
  if (secret === undefined || secret === '') {
    throw new Fault('missing_api_key', 'No key was sent. Send it as `Authorization: Bearer <key>`.')
  }
  if (keyForm(secret) === 'bad-checksum') {
    throw new Fault(
      'invalid_api_key',
      `The key ending in ${keyTail(secret)} was mistyped or cut off: its checksum is wrong. Copy it again.`,
    )
  }
  const found = keys.find(secret)
  return found instanceof Promise
    ? found.then((key) => valid(key, secret, clock), unreachable)
    : valid(found, secret, clock)
}

function valid(key: Key | undefined, secret: string, clock: Clock): Key {
  if (key === undefined) {
    const hint = secret.startsWith('sk-')
      ? ' It looks like a key of a provider; those belong in torana.yaml.'
      : ''
    throw new Fault('invalid_api_key', `No key ends in ${keyTail(secret)}.${hint}`)
  }
  if (key.expiresAtMs !== undefined && clock.nowMs() >= key.expiresAtMs) {
    throw new Fault(
      'key_expired',
      `Key '${key.name}' expired at ${isoOf(key.expiresAtMs)}. Ask for a new one.`,
    )
  }
  return key
}

/** Trouble with the store says nothing about the key. */
function unreachable(cause: unknown): never {
  throw new Fault('key_store_unreachable', 'Your key could not be looked up just now. Try again.', { cause })
}

function isoOf(unixMs: number): string {
  return new Date(unixMs).toISOString()
}
