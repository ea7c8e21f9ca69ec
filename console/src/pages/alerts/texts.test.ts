import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Channel, Rule } from '../../api/queries/alerts.ts'
import {
  conditionText,
  endText,
  lastText,
  markOf,
  neverHeld,
  numbersOf,
  quietFact,
  quietOf,
  quietText,
  scopeText,
  shortDuration,
  spanText,
  timeText,
  type Quiet,
} from './texts.ts'

const NOW = Date.UTC(2026, 10, 18, 11, 26)
const MINUTE_MS = 60_000

const CONDITIONS: readonly (readonly [Pick<Rule, 'kind' | 'condition'>, string])[] = [
  [{ kind: 'budget', condition: { percent: [80, 100] } }, '80% and 100%'],
  [{ kind: 'budget', condition: { percent: [100] } }, '100%'],
  [{ kind: 'budget', condition: { percent: [50, 80, 100] } }, '50%, 80% and 100%'],
  [{ kind: 'ejected', condition: { minutes: 1 } }, 'for more than 1 min'],
  [{ kind: 'ejected', condition: { minutes: 0 } }, 'immediately'],
  [{ kind: 'space', condition: {} }, 'immediately'],
  [{ kind: 'error_rate', condition: { percent: 5, minutes: 5 } }, 'over 5% for 5 min'],
  [{ kind: 'latency', condition: { p95_ms: 2000, minutes: 10 } }, 'p95 over 2 s for 10 min'],
  [{ kind: 'latency', condition: { p95_ms: 350, minutes: 10 } }, 'p95 over 350 ms for 10 min'],
  [{ kind: 'unknowns', condition: { hours: 24 } }, 'older than 24 h'],
  [{ kind: 'spool', condition: { entries: 1000, minutes: 5 } }, '1,000 records for 5 min'],
  [{ kind: 'certificate', condition: { days: 21 } }, '21 days before'],
  [{ kind: 'node_down', condition: { minutes: 2 } }, 'for more than 2 min'],
  [{ kind: 'ledger_stalled', condition: { hours: 2 } }, 'for more than 2 h'],
]

for (const [rule, text] of CONDITIONS)
  test(`a condition of ${rule.kind} reads “${text}”`, () => assert.equal(conditionText(rule), text))

test('a scope is the installation, each project or one of them', () => {
  assert.equal(scopeText({ installation: true }), 'Installation')
  assert.equal(scopeText({ project: '*' }), 'Each project')
  assert.equal(scopeText({ project: 'ads' }), 'Project ads')
})

test('only an open incident has the mark of its severity', () => {
  assert.equal(markOf({ severity: 'critical', ended_at: null }), 'bad')
  assert.equal(markOf({ severity: 'drift', ended_at: null }), 'odd')
  assert.equal(markOf({ severity: 'warning', ended_at: null }), 'warn')
  assert.equal(markOf({ severity: 'critical', ended_at: '2026-11-18T10:47:00Z' }), 'good')
})

test('a span has its two largest units', () => {
  for (const [ms, text] of [
    [12_000, '12 s'],
    [12 * MINUTE_MS, '12 min'],
    [142 * MINUTE_MS, '2 h 22 min'],
    [120 * MINUTE_MS, '2 h'],
    [76 * 60 * MINUTE_MS, '3 d 4 h'],
    [-5, '0 s'],
  ] as const)
    assert.equal(spanText(ms), text)
  assert.equal(shortDuration(1800), '1.8 s')
})

test('a time of today is the clock, another one has its day, and an end of the same day as its start has none', () => {
  assert.equal(timeText('2026-11-18T11:14:00Z', NOW), '11:14')
  assert.equal(timeText('2026-11-16T16:20:00Z', NOW), '16 Nov 16:20')
  assert.equal(endText('2026-11-16T17:25:00Z', '2026-11-16T16:20:00Z', NOW), '17:25')
  assert.equal(endText('2026-11-17T00:25:00Z', '2026-11-16T16:20:00Z', NOW), '17 Nov 00:25')
  assert.equal(lastText('2026-11-16T16:20:00Z', NOW), '16 Nov')
})

const NIGHT: Quiet = { days: [1, 2, 3, 4, 5, 6, 7], from: '22:00', to: '07:00', zone: 'Europe/Berlin' }
const WEEKEND: Quiet = { days: [7, 6], from: '00:00', to: '24:00', zone: 'Europe/Berlin' }

test('quiet hours are hours, days, or both, and each is listed once', () => {
  assert.equal(quietText(NIGHT), '22:00–07:00')
  assert.equal(quietText(WEEKEND), 'Sat, Sun')
  assert.equal(quietText({ ...NIGHT, days: [1] }), 'Mon 22:00–07:00')
  assert.deepEqual(quietFact(NIGHT), ['Every day', '22:00–07:00, Europe/Berlin'])
  assert.deepEqual(quietFact(WEEKEND), ['Weekends', 'Sat and Sun, all day, Europe/Berlin'])
  assert.deepEqual(quietFact({ ...NIGHT, days: [1, 2, 3, 4, 5] }), ['Weekdays', '22:00–07:00, Europe/Berlin'])
  const rules = [NIGHT, { ...NIGHT, days: [7, 6, 5, 4, 3, 2, 1] }, WEEKEND].map(
    (quiet) => ({ quiet }) as Rule,
  )
  assert.equal(quietOf(rules).length, 2)
})

test('channels that quiet hours never hold are named by their kind where it is all of a kind', () => {
  const channel = (name: string, kind: Channel['kind'], held: boolean) =>
    ({ name, kind, quiet_hours: held }) as Channel
  const mixed = [
    channel('ops', 'slack', true),
    channel('on-call', 'pagerduty', false),
    channel('night', 'slack', false),
  ]
  assert.deepEqual(neverHeld(mixed), ['PagerDuty', 'night'])
})

test('a typed list is whole numbers, whatever divides them, or nothing', () => {
  assert.deepEqual(numbersOf('80, 100'), [80, 100])
  assert.deepEqual(numbersOf('90 30,14'), [90, 30, 14])
  for (const text of ['', ' , ', 'eighty', '1.5', '-1', '80%']) assert.equal(numbersOf(text), undefined)
})
