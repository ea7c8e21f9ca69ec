import assert from 'node:assert/strict'
import { test } from 'node:test'
import { retentionOf, StoreStates } from './rules.ts'

const NOW_MS = Date.UTC(2026, 10, 17, 16, 30)

test('retention adds up the tables of each kind of data, and only requests go at midnight', () => {
  const sizes = [
    { table: 'usage_hours', rows: 10, bytes: 100 },
    { table: 'usage_days', rows: 1, bytes: 50 },
    { table: 'projects', rows: 7, bytes: 70 },
  ]
  const retention = retentionOf(sizes, { assetRetentionMs: 36 * 3_600_000 }, NOW_MS)
  assert.deepEqual(
    retention.map(({ what, days, rows, bytes, next }) => [what, days, rows, bytes, next]),
    [
      ['requests', 30, 0, 0, '2026-11-18T00:00:00.000Z'],
      ['ledger', null, 0, 0, null],
      ['usage', null, 11, 150, null],
      ['audit', null, 0, 0, null],
      ['pictures', 2, 0, 0, null],
      ['webhooks', 35, 0, 0, null],
      ['drift', 90, 0, 0, null],
    ],
  )
})

test('a store keeps the time at which its state was first seen, until the state changes', () => {
  const counts = { takes: 0, localDecisions: 0, scriptCalls: 0, timeouts: 0, errors: 0 }
  const states = new StoreStates()
  const seen = (isStoreUnreachable: boolean, redis: 'shared' | 'local' | undefined, nowMs: number) =>
    states
      .list({ isStoreUnreachable, limiter: redis && { state: redis, counts } }, nowMs)
      .map(({ name, state, since }) => [name, state, Date.parse(since)])
  assert.deepEqual(seen(false, undefined, 1), [['postgres', 'there', 1]])
  assert.deepEqual(seen(false, 'local', 2), [
    ['postgres', 'there', 1],
    ['redis', 'away', 2],
  ])
  assert.deepEqual(seen(true, 'shared', 3), [
    ['postgres', 'away', 3],
    ['redis', 'there', 3],
  ])
})
