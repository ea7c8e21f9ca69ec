import assert from 'node:assert/strict'
import { test } from 'node:test'
import { quietUntilMs, zoneProblem, type QuietHours } from './quiet-hours.ts'

const ALL_DAYS = [1, 2, 3, 4, 5, 6, 7]
const NIGHT: QuietHours = { days: ALL_DAYS, from: '22:00', to: '07:00', zone: 'Europe/Berlin' }
const WEEKEND: QuietHours = { days: [6, 7], from: '00:00', to: '24:00', zone: 'Europe/Berlin' }
const FRIDAY_NIGHT: QuietHours = { ...NIGHT, days: [5] }

/** 2026-11-18 is a Wednesday; Berlin is an hour ahead of UTC in winter. */
const CASES: readonly [string, QuietHours, string, string | undefined][] = [
  ['a minute before the night', NIGHT, '2026-11-18T20:59:59Z', undefined],
  ['the first minute of the night', NIGHT, '2026-11-18T21:00:00Z', '2026-11-19T06:00:00Z'],
  ['before midnight', NIGHT, '2026-11-18T22:30:00Z', '2026-11-19T06:00:00Z'],
  ['after midnight', NIGHT, '2026-11-19T02:10:30Z', '2026-11-19T06:00:00Z'],
  ['the first minute of the day', NIGHT, '2026-11-19T06:00:00Z', undefined],
  ['the night in which the clocks go back', NIGHT, '2026-10-24T21:00:00Z', '2026-10-25T06:00:00Z'],
  ['the night in which the clocks go forward', NIGHT, '2026-03-28T22:00:00Z', '2026-03-29T05:00:00Z'],
  ['a Saturday', WEEKEND, '2026-11-21T11:00:00Z', '2026-11-22T23:00:00Z'],
  ['a Friday before a quiet weekend', WEEKEND, '2026-11-20T11:00:00Z', undefined],
  ['a night that began on Friday', FRIDAY_NIGHT, '2026-11-21T03:00:00Z', '2026-11-21T06:00:00Z'],
  ['a night that began on Saturday', FRIDAY_NIGHT, '2026-11-22T03:00:00Z', undefined],
]

for (const [what, quiet, at, until] of CASES)
  test(`${what} is ${until === undefined ? 'not quiet' : `quiet until ${until}`}`, () => {
    const untilMs = quietUntilMs(quiet, Date.parse(at))
    assert.equal(untilMs, until === undefined ? undefined : Date.parse(until))
  })

test('a week that is quiet at all times still ends, so that nothing waits for ever', () => {
  const always = { ...NIGHT, from: '00:00', to: '24:00' }
  const nowMs = Date.parse('2026-11-18T12:00:00Z')
  const untilMs = quietUntilMs(always, nowMs) ?? Infinity
  assert.ok(untilMs > nowMs && untilMs < nowMs + 16 * 86_400_000)
})

test('an unknown time zone is named', () => {
  assert.match(zoneProblem('Mars/Base') ?? '', /Mars\/Base/)
  assert.equal(zoneProblem('Europe/Berlin'), undefined)
})
