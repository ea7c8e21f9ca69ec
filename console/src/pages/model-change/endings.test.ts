import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ModelEnding } from '../../api/queries/models.ts'
import { checkedAt, endingsOf } from './endings.ts'

const NOW_MS = Date.UTC(2026, 10, 17, 14)
const ending = (given: Partial<ModelEnding>): ModelEnding => ({
  upstream: 'openai',
  model: 'gpt-image-1.5',
  ends_on: '2026-12-01',
  successor: null,
  source: 'catalog',
  source_at: '2026-11-02',
  used_by: [
    { key: 'studio/app', requests_30d: 30 },
    { key: 'ads/website', requests_30d: 10 },
  ],
  requests_30d: 40,
  notices: [],
  change: null,
  ...given,
})
const only = (given: Partial<ModelEnding>, project?: string) =>
  endingsOf([ending(given)], project, NOW_MS)[0]!

test('the soonest is first, and of two on one day the busier', () => {
  const rows = [
    ending({ model: 'b', ends_on: '2027-01-31' }),
    ending({ model: 'c' }),
    ending({ model: 'a', requests_30d: 41 }),
  ]
  assert.deepEqual(
    endingsOf(rows, undefined, NOW_MS).map(({ model, daysLeft }) => [model, daysLeft]),
    [
      ['a', 14],
      ['c', 14],
      ['b', 75],
    ],
  )
})

test('an end within 30 days of a model that is used is marked', () => {
  assert.equal(only({ ends_on: '2026-12-17' }).kind, 'soon')
  assert.equal(only({ ends_on: '2026-12-18' }).kind, 'used')
  assert.equal(only({ requests_30d: 0, used_by: [] }).kind, 'unused')
})

test('with a project, only its keys and their requests count', () => {
  const { used_by: users, requests_30d: requests, kind } = only({}, 'ads')
  assert.deepEqual([users.map(({ key }) => key), requests, kind], [['ads/website'], 10, 'soon'])
  assert.equal(only({}, 'ad').kind, 'unused')
})

test('a date of the catalog is old after 120 days; those of upstreams and operators are not', () => {
  assert.equal(only({ source_at: '2026-07-20' }).oldDays, undefined)
  assert.equal(only({ source_at: '2026-07-19' }).oldDays, 121)
  assert.equal(only({ source: 'configuration', source_at: 'torana.yaml:61' }).oldDays, undefined)
  assert.equal(only({ source: 'upstream', source_at: '2026-01-01' }).oldDays, undefined)
})

test('dates were checked when an upstream was last asked', () => {
  assert.equal(checkedAt([ending({})]), undefined)
  const asked = ['2026-11-16', '2026-11-17', '2026-11-15']
  assert.equal(checkedAt(asked.map((at) => ending({ source: 'upstream', source_at: at }))), asked[1])
})
