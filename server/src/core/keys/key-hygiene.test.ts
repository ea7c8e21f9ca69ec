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
const rotating = [...tidy.secrets, { validUntilMs: NOW + 1, pepper: 'before' }]
const budget = { limitNanoUsd: 1n, per: 'day', hard: false } as const

type Row = readonly [title: string, key: Partial<KeyFacts>, notes: readonly string[], ...states: string[]]
const rows: readonly Row[] = [
  ['an end, a limit and some use', {}, [], 'active'],
  ['no use for 91 days', { lastUsedAtMs: NOW - 91 * DAY_MS }, ['idle'], 'active', 'tidy'],
  ['no use', { lastUsedAtMs: undefined }, ['idle'], 'active', 'tidy'],
  ['no use, but a new key', { lastUsedAtMs: undefined, createdAtMs: NOW - DAY_MS }, [], 'active'],
  ['no use of unknown age', { lastUsedAtMs: undefined, createdAtMs: undefined }, [], 'active'],
  ['no end', { expiresAtMs: undefined }, ['no_expiry'], 'active', 'tidy'],
  ['no limit', { limits: {} }, ['no_limit'], 'active', 'tidy'],
  ['a budget for a limit', { limits: {}, budget }, [], 'active'],
  ['30 days to its end', { expiresAtMs: NOW + 30 * DAY_MS }, ['ends_soon'], 'active', 'ending'],
  ['a day to its end', { expiresAtMs: NOW + DAY_MS }, ['ends_soon'], 'active', 'ending'],
  ['two secrets', { secrets: rotating }, ['rotating', 'old_pepper'], 'active', 'tidy'],
  ['an end that has come', { limits: {}, expiresAtMs: NOW }, [], 'revoked'],
  ['been revoked', { limits: {}, revokedAtMs: NOW - 1 }, [], 'revoked'],
]
for (const [title, key, notes, ...states] of rows)
  test(`what is worth a look is noted, of a live key alone: one that has ${title}`, () => {
    const facts = { ...tidy, ...key }
    assert.deepEqual([notesOf(facts, NOW, 'now'), statesOf(facts, NOW, 'now')], [notes, states])
  })
