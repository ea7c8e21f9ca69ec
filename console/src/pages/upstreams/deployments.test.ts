import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Routing } from '../../api/queries/routing.ts'
import { fallbackPriority, movedTo, shareIn, slotOf, slotsFor, tiersOf } from './deployments.ts'
import { identityOf, type Entry } from './entry.ts'

const one: Entry = { upstream: 'one', weight: 70 }
const two: Entry = { upstream: 'two', weight: 30 }
const key = (entry: Entry): string => identityOf(entry)

/** One deployment is declared as the fallback, two are stored. */
const routing = {
  entry: { deployments: [one, two] },
  deployments: [
    { id: 'm/hosted', upstream: 'hosted', priority: 5, weight: 1, index: null },
    { id: 'm/two', upstream: 'two', priority: 0, weight: 30, index: 1 },
    { id: 'm/one', upstream: 'one', priority: 0, weight: 70, index: 0 },
  ],
} as unknown as Routing

const keysIn = (entry: Entry): readonly (readonly string[])[] =>
  tiersOf(routing, entry).map(({ rows }) => rows.map(({ upstream }) => upstream))

test('rows are in tiers by priority, with what is declared elsewhere among them', () => {
  const tiers = tiersOf(routing, routing.entry)
  assert.deepEqual(keysIn({ deployments: [one, two] }), [['one', 'two'], ['hosted']])
  assert.deepEqual(
    tiers.flatMap((tier) => tier.rows.map((row) => [row.live?.id, row.entry === null, shareIn(tier, row)])),
    [
      ['m/one', false, 0.7],
      ['m/two', false, 0.3],
      ['m/hosted', true, 1],
    ],
  )
})

test('a row can be moved to every place of every tier, and to a new one', () => {
  const tiers = tiersOf(routing, routing.entry)
  assert.deepEqual(slotsFor(tiers, key(two)), [
    { priority: 0, before: key(one) },
    { priority: 0, before: undefined },
    { priority: 5, before: undefined },
    { priority: 6, before: undefined },
  ])
  assert.deepEqual(slotOf(tiers, key(one)), { priority: 0, before: key(two) })
  assert.deepEqual(slotOf(tiers, key(two)), { priority: 0, before: undefined })
})

test('a move across a tier changes the priority, one within a tier only the order', () => {
  const list = [one, two]
  assert.deepEqual(movedTo(list, key(one), { priority: 5, before: undefined }), [
    two,
    { upstream: 'one', priority: 5, weight: 70 },
  ])
  assert.deepEqual(movedTo(list, key(two), { priority: 0, before: key(one) }), [two, one])
  assert.deepEqual(movedTo(list, key(one), { priority: 0, before: key(two) }), [one, two])
  assert.deepEqual(movedTo([two, { ...one, priority: 5 }], key(one), { priority: 0, before: undefined }), [
    two,
    one,
  ])
  assert.equal(movedTo(list, 'unknown', { priority: 0, before: undefined }), list)
})

test('alone in the last tier, a row has no new tier to go to', () => {
  const tiers = tiersOf(routing, { deployments: [one, { ...two, priority: 9 }] })
  assert.equal(
    slotsFor(tiers, key(two)).some(({ priority }) => priority > 9),
    false,
  )
})

test('a new deployment goes behind all others: the last tier, and never the first', () => {
  assert.equal(fallbackPriority(tiersOf(routing, routing.entry)), 5)
  const only = { ...routing, deployments: routing.deployments.slice(1) }
  assert.equal(fallbackPriority(tiersOf(only, only.entry)), 1)
  const none = { entry: null, deployments: [] } as unknown as Routing
  assert.equal(fallbackPriority(tiersOf(none, null)), 0)
})
