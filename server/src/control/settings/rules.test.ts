import assert from 'node:assert/strict'
import { test } from 'node:test'
import { retentionOf, StoreStates } from './rules.ts'

const NOW_MS = Date.UTC(2026, 10, 17, 16, 30)

test('retention adds up the tables of each kind of data, and only requests go at midnight', () => {
  const tables = [
    'requests',
    'usage_events',
    'usage_hours',
    'usage_days',
    'audit',
    'image_jobs',
    'image_job_calls',
    'webhook_events',
    'space_probes',
    'projects',
  ]
  const sizes = tables.map((table, index) => ({ table, rows: 2 ** index, bytes: 1000 * 2 ** index }))
  const keptFor = (keepDays: number | 'forever') =>
    retentionOf(sizes, { assetRetentionMs: 36 * 3_600_000 }, { keepDays }, NOW_MS)
  const retention = keptFor('forever')
  assert.deepEqual(
    retention.map(({ what, days, rows, bytes, next }) => [what, days, rows, bytes, next]),
    [
      ['requests', 30, 1, 1000, '2026-11-18T00:00:00.000Z'],
      ['ledger', null, 2, 2000, null],
      ['usage', null, 8, 8000, null],
      ['hours', 92, 4, 4000, null],
      ['audit', null, 16, 16_000, null],
      ['pictures', 2, 32 + 64, 96_000, null],
      ['webhooks', 35, 128, 128_000, null],
      ['drift', 90, 256, 256_000, null],
    ],
  )
  assert.equal(keptFor(400).find(({ what }) => what === 'ledger')?.days, 400, 'older days are files')
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
