import assert from 'node:assert/strict'
import { test } from 'node:test'
import { dayOf, endsOf, listedUnder } from './listed.ts'

test('a day is read from Unix seconds and from ISO dates, and nothing else is guessed', () => {
  const cases: readonly (readonly [value: unknown, day: string | undefined])[] = [
    [1_796_083_200, '2026-12-01'],
    // A moment of a day is that day, in UTC.
    [1_796_169_599, '2026-12-01'],
    ['2026-12-01', '2026-12-01'],
    ['2026-12-01T00:00:00Z', '2026-12-01'],
    ['2026-12-01T23:30:00-08:00', '2026-12-02'],
    ['2026-12-01T00:00:00.000+00:00', '2026-12-01'],
    // Milliseconds.
    [1_796_083_200_000, undefined],
    [0, undefined],
    [Number.NaN, undefined],
    // Without an offset a moment has no day.
    ['2026-12-01T00:00:00', undefined],
    ['2026-02-30', undefined],
    ['2026-13-01', undefined],
    ['1 December 2026', undefined],
    ['12/01/2026', undefined],
    ['1796083200', undefined],
    ['', undefined],
    [true, undefined],
    [{ on: '2026-12-01' }, undefined],
  ]
  for (const [value, day] of cases) assert.equal(dayOf(value), day, JSON.stringify(value))
})

test('a list tells the day of each model that has one, and which days it could not read', () => {
  const items = listedUnder(
    {
      data: [
        { id: 'ends', shutdown_date: '2026-12-01' },
        { id: 'lasts', shutdown_date: null },
        { id: 'silent' },
        { id: 'odd', shutdown_date: 'soon' },
        { name: 'no id' },
      ],
    },
    'data',
    'id',
  )
  assert.deepEqual(
    items.map(({ id }) => id),
    ['ends', 'lasts', 'silent', 'odd'],
  )
  assert.deepEqual(endsOf(items), { ends: new Map([['ends', '2026-12-01']]), unreadEnds: ['odd'] })
})
