import assert from 'node:assert/strict'
import { test } from 'node:test'
import { notesOf, statesOf, type KeyFacts } from './key-hygiene.ts'

const DAY_MS = 86_400_000
const NOW = 1_800_000_000_000
const tidy: KeyFacts = {
  limits: { requestsPerMinute: 60 },
  budget: undefined,
  expiresAtMs: NOW + 60 * DAY_MS,
  revokedAtMs: undefined,
  createdAtMs: NOW - 200 * DAY_MS,
  lastUsedAtMs: NOW - DAY_MS,
  secrets: [{ validUntilMs: undefined, pepper: 'now' }],
}
const notes = (key: Partial<KeyFacts>) => notesOf({ ...tidy, ...key }, NOW, 'now')
const states = (key: Partial<KeyFacts>) => statesOf({ ...tidy, ...key }, NOW, 'now')

test('a key with an end, a limit and some use has nothing to note', () => {
  assert.deepEqual(notes({}), [])
  assert.deepEqual(states({}), ['active'])
})

test('each thing worth a look is noted', () => {
  assert.deepEqual(notes({ lastUsedAtMs: NOW - 91 * DAY_MS }), ['idle'])
  assert.deepEqual(notes({ lastUsedAtMs: undefined }), ['idle'])
  assert.deepEqual(notes({ lastUsedAtMs: undefined, createdAtMs: NOW - DAY_MS }), [])
  assert.deepEqual(notes({ lastUsedAtMs: undefined, createdAtMs: undefined }), [])
  assert.deepEqual(notes({ expiresAtMs: undefined }), ['no_expiry'])
  assert.deepEqual(notes({ limits: {} }), ['no_limit'])
  assert.deepEqual(notes({ limits: {}, budget: { limitNanoUsd: 1n, per: 'day', hard: false } }), [])
  assert.deepEqual(notes({ expiresAtMs: NOW + 30 * DAY_MS }), ['ends_soon'])
  assert.deepEqual(notes({ secrets: [...tidy.secrets, { validUntilMs: NOW + 1, pepper: 'before' }] }), [
    'rotating',
    'old_pepper',
  ])
})

test('a key that ends soon is not one to tidy up, and an ended one is neither', () => {
  assert.deepEqual(states({ expiresAtMs: NOW + DAY_MS }), ['active', 'ending'])
  assert.deepEqual(states({ limits: {} }), ['active', 'tidy'])
  assert.deepEqual(states({ limits: {}, expiresAtMs: NOW }), ['revoked'])
  assert.deepEqual(states({ limits: {}, revokedAtMs: NOW - 1 }), ['revoked'])
  assert.deepEqual(notes({ limits: {}, revokedAtMs: NOW - 1 }), [])
})
