import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Project } from '#core/catalog/catalog.ts'
import type { SpentBudget, SpentSlot } from './queries.ts'
import { budgetsIn, lineOf, passedMarks, standingOf } from './rules.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const START_MS = Date.UTC(2026, 11, 1)

function slot(hour: number, nano: bigint): SpentSlot {
  return { at: new Date(START_MS + hour * HOUR_MS), nano }
}

function notified(percent: number, url: string, hour: number) {
  return { percent, url, at: new Date(START_MS + hour * HOUR_MS) }
}

const MARKS: readonly (readonly [name: string, of: Parameters<typeof passedMarks>, marks: unknown[]])[] = [
  ['none is passed before half is spent', [100n, [slot(0, 49n)], []], []],
  ['a mark is passed at exactly its share', [100n, [slot(3, 50n)], []], [[50, 3, []]]],
  [
    'each mark is passed in the hour that reaches it',
    [100n, [slot(0, 40n), slot(2, 40n), slot(5, 30n)], []],
    [
      [50, 2, []],
      [80, 2, []],
      [100, 5, []],
    ],
  ],
  [
    'a budget of nothing is used up at once',
    [0n, [slot(1, 0n)], []],
    [50, 80, 100].map((one) => [one, 1, []]),
  ],
  [
    'the first notification tells the time, and each host is named once',
    [
      100n,
      [slot(3, 50n)],
      [
        notified(50, 'https://a.example/x', 4),
        notified(50, 'https://b.example:8443/', 5),
        notified(50, 'https://a.example/y', 6),
      ],
    ],
    [[50, 4, ['a.example', 'b.example:8443']]],
  ],
  [
    'a notification counts although sums have changed since',
    [100n, [], [notified(80, 'https://a.example', 2)]],
    [[80, 2, ['a.example']]],
  ],
]

for (const [name, of, marks] of MARKS)
  test(`marks of a budget: ${name}`, () =>
    assert.deepEqual(
      passedMarks(...of).map(({ percent, at, hosts }) => [
        percent,
        (Date.parse(at) - START_MS) / HOUR_MS,
        hosts,
      ]),
      marks,
    ))

const LINES: readonly (readonly [name: string, slots: SpentSlot[], nowHour: number, line: unknown[]])[] = [
  [
    'it is flat where nothing was spent',
    [],
    5,
    [
      [0, 0],
      [5, 0],
    ],
  ],
  [
    'it begins one slot before the first spending',
    [slot(3, 7n)],
    4,
    [
      [2, 0],
      [3, 0],
      [4, 7],
    ],
  ],
  [
    'it begins no earlier than the window',
    [slot(0, 7n)],
    1,
    [
      [0, 0],
      [1, 7],
    ],
  ],
  [
    'it is level between two slots and until now',
    [slot(0, 1n), slot(3, 2n)],
    6,
    [
      [0, 0],
      [1, 1],
      [3, 1],
      [4, 3],
      [6, 3],
    ],
  ],
  [
    'the current slot ends now',
    [slot(0, 1n), slot(1, 2n)],
    1.5,
    [
      [0, 0],
      [1, 1],
      [1.5, 3],
    ],
  ],
]

for (const [name, slots, nowHour, line] of LINES)
  test(`the line of a budget: ${name}`, () => {
    const nowMs = START_MS + nowHour * HOUR_MS
    const points = lineOf(slots, { startMs: START_MS, slotMs: HOUR_MS, nowMs })
    assert.deepEqual(
      points.map(({ at, spent_usd: spent }) => [
        (Date.parse(at) - START_MS) / HOUR_MS,
        Number(spent.replace('.', '')),
      ]),
      line,
    )
  })

const MONTHLY = { limitNanoUsd: 9n, per: 'month', hard: true } as const
const PROJECTS: readonly Project[] = [
  { name: 'ads', managedAt: 'torana.yaml:3', budget: MONTHLY, keys: [{ name: 'web', secret: 'x' }] },
  { name: 'shop', keys: [{ name: 'ci', secret: 'y', managedAt: 'torana.yaml:9', budget: MONTHLY }] },
]

test('projects and keys of a configuration declare budgets under their names', () => {
  assert.deepEqual(
    budgetsIn(PROJECTS).map(({ id }) => id),
    ['project:ads', 'key:shop/ci'],
  )
})

const NOW_MS = START_MS + 10 * DAY_MS

function standing(overrides: Partial<SpentBudget>, dayNanoUsd = 1n) {
  const budget = {
    id: 'project:ads',
    per: 'month',
    limit_nano: 10n,
    spent_nano: 4n,
    hard: true,
    fullness: '0.4',
  } as const
  return standingOf(
    { ...budget, ...overrides },
    Array.from({ length: 7 }, () => dayNanoUsd),
    PROJECTS,
    NOW_MS,
  )
}

test('a budget names the line of torana.yaml that sets it, and none if the store has it', () => {
  const places = ['project:ads', 'key:shop/ci', 'key:ads/web', 'key:ads/none', 'project:other'].map(
    (id) => standing({ id }).managed_at,
  )
  assert.deepEqual(places, ['torana.yaml:3', 'torana.yaml:9', null, null, null])
})

test('a budget without an end has a forecast of when it is used up, and none of its end', () => {
  const month = standing({})
  assert.deepEqual(month.window, { start: '2026-12-01T00:00:00.000Z', end: '2027-01-01T00:00:00.000Z' })
  assert.equal(month.forecast?.at_end_usd, '0.000000025')
  assert.deepEqual([month.limit_usd, month.spent_usd], ['0.000000010', '0.000000004'])
  const total = standing({ per: 'total' })
  assert.deepEqual([total.window.end, total.forecast?.at_end_usd], [null, null])
  assert.equal(total.forecast?.used_up_at, month.forecast?.used_up_at)
  // Nothing was spent in the last days: there is no pace to go by.
  assert.equal(standing({}, 0n).forecast, null)
})
