import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Key, KeyDirectory } from '#ports/keys.ts'
import { aKey } from '#test/support/sharing.ts'
import { authenticate } from './authenticate.ts'

const SECRET = 'a-secret-of-a-declared-key'
const clock = { nowMs: () => 1000, monotonicMs: () => 1000 }

/** A directory that has one key in memory, and counts questions to its store, which has none. */
function aDirectory(key: Key) {
  const store = { questions: 0 }
  const keys: KeyDirectory = {
    find: (secret, mayAsk = true) => {
      if (secret === SECRET) return key
      if (mayAsk) store.questions += 1
      return undefined
    },
  }
  return { keys, store }
}

test('a key is valid up to the moment at which it expires, and not at it', () => {
  const expiring = (expiresAtMs: number) => () =>
    authenticate(SECRET, aDirectory(aKey('p', { expiresAtMs })).keys, clock)
  assert.doesNotThrow(expiring(1001))
  assert.throws(expiring(1000), { code: 'key_expired' })
})

test('from an address that sent too many wrong keys, keys in memory are accepted and no store is asked', () => {
  const { keys, store } = aDirectory(aKey('p'))
  assert.throws(() => authenticate('another-secret', keys, clock), { code: 'invalid_api_key' })
  assert.equal(store.questions, 1)
  assert.throws(() => authenticate('another-secret', keys, clock, 500), {
    code: 'too_many_wrong_keys',
    retryAfterMs: 500,
  })
  assert.equal(store.questions, 1)
  assert.doesNotThrow(() => authenticate(SECRET, keys, clock, 500))
})
