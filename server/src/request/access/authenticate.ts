import { Fault } from '#core/fault/fault.ts'
import { cellOf, keyForm, keyTail } from '#core/keys/key.ts'
import type { Clock } from '#ports/clock.ts'
import type { Key, KeyDirectory, KeyEnd } from '#ports/keys.ts'
import { STORE_RETRY_MS } from '#ports/store.ts'

/**
 * The key of a caller. Immediate when the key is known in memory. `waitMs` is set when the caller's address
 * has sent too many wrong keys: only keys in memory are accepted until then, and no store is asked.
 */
export function authenticate(
  secret: string | undefined,
  keys: KeyDirectory,
  clock: Clock,
  waitMs = 0,
): Key | Promise<Key> {
  if (secret === undefined || secret === '') {
    throw new Fault('missing_api_key', 'The request has no key. Send `Authorization: Bearer <key>`.')
  }
  if (keyForm(secret) === 'bad-checksum') {
    throw new Fault(
      'invalid_api_key',
      `The key${endOf(secret)} starts with tr_ but is not a whole Torana key: it was mistyped or cut off. Copy it again.`,
    )
  }
  const found = keys.find(secret, waitMs === 0)
  if (found === undefined && waitMs > 0) {
    throw new Fault(
      'too_many_wrong_keys',
      `The key${endOf(secret)} is not known here, and too many wrong keys came from this address. Correct the key, then retry in ${Math.ceil(waitMs / 1000)} s.`,
      { retryAfterMs: waitMs },
    )
  }
  return found instanceof Promise
    ? found.then((key) => valid(key, secret, keys, clock), unreachable)
    : valid(found, secret, keys, clock)
}

function valid(key: Key | undefined, secret: string, keys: KeyDirectory, clock: Clock): Key {
  if (key === undefined) {
    const end = keys.endOf?.(secret)
    if (end !== undefined) throw new Fault('invalid_api_key', wordsOfEnd(end, secret))
    throw new Fault('invalid_api_key', `No valid key matches the one${endOf(secret)}. ${hintFor(secret)}`)
  }
  if (key.expiresAtMs !== undefined && clock.nowMs() >= key.expiresAtMs) {
    throw new Fault(
      'key_expired',
      `Key '${key.project}/${key.name}' expired at ${isoOf(key.expiresAtMs)}. Ask the operator for a new one.`,
    )
  }
  return key
}

function hintFor(secret: string): string {
  if (secret.startsWith('sk-'))
    return 'It looks like the key of a provider. Provider keys belong in torana.yaml; the application sends a key of Torana.'
  const cell = cellOf(secret)
  const where = cell === undefined ? '' : ` It names the cell '${cell}': check that the base URL leads there.`
  return `It was never created here, or it was revoked or rotated. Ask the operator for a new one.${where}`
}

/** A caller who holds the secret may know what became of its key. */
function wordsOfEnd({ name, how, atMs }: KeyEnd, secret: string): string {
  return how === 'revoked'
    ? `Key '${name}' was revoked at ${isoOf(atMs)}. Ask the operator for a new one.`
    : `Key '${name}' was rotated: the secret${endOf(secret)} ended at ${isoOf(atMs)}. Use the new one.`
}

/** Trouble with the store says nothing about the key. */
function unreachable(cause: unknown): never {
  throw new Fault('key_store_unreachable', 'Torana cannot look your key up at the moment. Retry.', {
    cause,
    retryAfterMs: STORE_RETRY_MS,
  })
}

/** Short keys show nothing of themselves. */
function endOf(secret: string): string {
  const tail = keyTail(secret)
  return tail === '…' ? ' that you sent' : ` that ends in ${tail}`
}

function isoOf(unixMs: number): string {
  return new Date(unixMs).toISOString()
}
