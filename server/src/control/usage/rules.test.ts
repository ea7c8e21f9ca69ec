import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { UsageCell } from './queries.ts'
import {
  added,
  besideBody,
  groupsOf,
  isNothing,
  namesOf,
  NOTHING,
  spanBefore,
  spanOf,
  sumBody,
  without,
} from './rules.ts'

const NOW = '2026-12-12T15:30:00.000Z'
const NOW_MS = Date.parse(NOW)

function daysBefore(days: number): string {
  return new Date(NOW_MS - days * 86_400_000).toISOString()
}

type Asked = Parameters<typeof spanOf>
const SPANS: readonly (readonly [
  name: string,
  asked: [Asked[0], Asked[1]],
  span: readonly [slot: string, from: string, end: string],
])[] = [
  ['thirty days with today', [{}, undefined], ['day', '2026-11-13T00:00', '2026-12-13T00:00']],
  [
    '48 hours are hours',
    [{ from: daysBefore(2) }, undefined],
    ['hour', '2026-12-10T15:00', '2026-12-12T16:00'],
  ],
  [
    'a moment more is days',
    [{ from: '2026-12-10T15:29:59.999Z' }, undefined],
    ['day', '2026-12-10T00:00', '2026-12-13T00:00'],
  ],
  ['days if asked', [{ from: daysBefore(1) }, 'day'], ['day', '2026-12-11T00:00', '2026-12-13T00:00']],
  [
    'whole hours stay as they are',
    [{ from: '2026-12-01T03:00:00.000Z', to: '2026-12-01T05:00:00.000Z' }, undefined],
    ['hour', '2026-12-01T03:00', '2026-12-01T05:00'],
  ],
  ['366 days', [{ from: daysBefore(366) }, undefined], ['day', '2025-12-11T00:00', '2026-12-13T00:00']],
]

for (const [name, [asked, slot], expected] of SPANS)
  test(`the span of a question: ${name}`, () => {
    const span = spanOf(asked, slot, NOW_MS)
    const ends = [span.fromMs, span.endMs].map((ms) => new Date(ms).toISOString().slice(0, 16))
    assert.deepEqual([span.slot, ...ends], expected)
  })

const BEFORE: readonly (readonly [
  name: string,
  asked: [string, string],
  before: [string, string] | undefined,
])[] = [
  [
    'a period that is over',
    ['2026-12-08T00:00', '2026-12-10T00:00'],
    ['2026-12-06T00:00', '2026-12-08T00:00'],
  ],
  [
    'one with today, to the nearest hour',
    ['2026-12-06T00:00', '2026-12-13T00:00'],
    ['2026-11-29T00:00', '2026-12-05T16:00'],
  ],
  ['hours with this one', ['2026-12-12T12:00', '2026-12-12T16:00'], ['2026-12-12T08:00', '2026-12-12T12:00']],
  ['one that begins now', ['2026-12-12T16:00', '2026-12-12T17:00'], undefined],
]

for (const [name, [from, end], expected] of BEFORE)
  test(`a period is compared with the same part of the one before: ${name}`, () => {
    const ms = (time: string): number => Date.parse(`${time}:00.000Z`)
    const before = spanBefore({ fromMs: ms(from), endMs: ms(end) }, NOW_MS)
    assert.deepEqual(before && [before.fromMs, before.endMs], expected?.map(ms))
  })

test('a span ends after it begins, and has at most 366 days or hours', () => {
  for (const [asked, slot, words] of [
    [{ from: NOW, to: NOW }, undefined, /before/],
    [{ from: new Date(NOW_MS - 366 * 86_400_000 - 1).toISOString() }, undefined, /366 days/],
    [{ from: new Date(NOW_MS - 366 * 3_600_000 - 1).toISOString() }, 'hour', /366 hours/],
  ] as const)
    assert.throws(() => spanOf(asked, slot, NOW_MS), words)
  assert.equal(
    spanOf({ from: new Date(NOW_MS - 366 * 3_600_000).toISOString() }, 'hour', NOW_MS).slot,
    'hour',
  )
})

test('names of one kind are alternatives, and a question has the values of one label', () => {
  assert.deepEqual(namesOf({ by: 'model' }), { only: {}, labelled: undefined })
  assert.deepEqual(namesOf({ by: 'model', only: ['model:a', 'key:p/k:x', 'model:b', 'tag:team:red:hot'] }), {
    only: { model: ['a', 'b'], key: ['p/k:x'] },
    labelled: { label: 'tag:team', values: ['red:hot'] },
  })
  assert.deepEqual(namesOf({ by: 'user', only: ['user:a', 'user:b'] }).labelled, {
    label: 'user',
    values: ['a', 'b'],
  })
  assert.equal(namesOf({ by: 'user' }).labelled, undefined)
  for (const asked of [
    { by: 'user', only: 'tag:team:red' },
    { by: 'model', only: ['user:a', 'tag:team:red'] },
  ] as const)
    assert.throws(() => namesOf(asked), /counted one by one/)
})

function cell(name: string | null, nano: bigint, requests = 1n): UsageCell {
  return { ...NOTHING, name, nano, requests, at: new Date(NOW_MS) }
}

test('groups come by spending, then by requests, then by name, and those not listed separately last', () => {
  const cells = [
    cell(null, 90n),
    cell('b', 1n),
    cell('a', 1n),
    cell('busy', 1n, 2n),
    cell('dear', 2n),
    cell('dear', 3n),
  ]
  assert.deepEqual(
    groupsOf(cells).map(({ group, total }) => [group, total.nano]),
    [
      ['dear', 5n],
      ['busy', 1n],
      ['a', 1n],
      ['b', 1n],
      [null, 90n],
    ],
  )
})

test('what is left of a whole and its parts add up to the whole, in every column', () => {
  const part = { ...NOTHING, requests: 1n, posts: 2n, unknowns: 3n, tokens: 4n, images: 5n, nano: 6n }
  const whole = { ...part, requests: 9n, unknown_nano: 7n, unpriced: 8n, hits: 9n, saved_nano: 10n }
  assert.deepEqual(added([part, without(whole, [part])]), whole)
  assert.ok(isNothing(without(whole, [whole])))
  assert.deepEqual(sumBody(whole), {
    requests: 9,
    posts: 2,
    unknowns: 3,
    tokens: 4,
    images: 5,
    usd: '0.000000006',
    unknown_usd: '0.000000007',
    unpriced: 8,
    hits: 9,
    saved_usd: '0.000000010',
  })
})

test('calls beside a label are shown if there are any, now or in the period before', () => {
  const nothing = { ...NOTHING, name: null, at: new Date(NOW_MS) }
  assert.equal(besideBody([nothing], undefined), null)
  assert.equal(besideBody([nothing], NOTHING), null)
  assert.deepEqual(besideBody([nothing], { ...NOTHING, nano: 1n })?.slots, [])
  assert.deepEqual(
    besideBody([nothing, cell(null, 1n)], undefined)?.slots.map(({ usd }) => usd),
    ['0.000000001'],
  )
})
