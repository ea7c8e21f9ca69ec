import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { DAY_MS, HOUR_MS, MINUTE_MS } from './day.ts'
import { timeTicks } from './ticks.ts'

const at = (time: string): number => Date.parse(time)
const texts = (from: string, to: string, max: number, zone: string): string[] =>
  timeTicks({ fromMs: at(from), toMs: at(to) }, max, zone).map(({ text }) => text)

test('an axis names round times of its zone, and days where they begin', () => {
  assert.deepEqual(texts('2026-11-16T21:53:00Z', '2026-11-17T21:53:00Z', 6, 'UTC'), [
    '17 Nov',
    '04:00',
    '08:00',
    '12:00',
    '16:00',
    '20:00',
  ])
  assert.deepEqual(texts('2026-11-17T00:15:00Z', '2026-11-17T01:15:00Z', 3, 'Asia/Kolkata'), [
    '06:00',
    '06:20',
    '06:40',
  ])
  assert.deepEqual(texts('2026-11-10T21:53:00Z', '2026-11-17T21:53:00Z', 8, 'America/Los_Angeles'), [
    '11 Nov',
    '12 Nov',
    '13 Nov',
    '14 Nov',
    '15 Nov',
    '16 Nov',
    '17 Nov',
  ])
})

test('on the days on which clocks change, hours are those of the clock', () => {
  assert.deepEqual(texts('2026-03-08T08:00:00Z', '2026-03-09T07:00:00Z', 5, 'America/Los_Angeles'), [
    '8 Mar',
    '06:00',
    '12:00',
    '18:00',
    '9 Mar',
  ])
  assert.deepEqual(texts('2026-11-01T07:00:00Z', '2026-11-02T08:00:00Z', 5, 'America/Los_Angeles'), [
    '1 Nov',
    '06:00',
    '12:00',
    '18:00',
    '2 Nov',
  ])
})

test('seconds are shown where a step is shorter than a minute', () => {
  assert.deepEqual(texts('2026-11-17T10:00:01Z', '2026-11-17T10:00:21Z', 3, 'UTC'), ['10:00:10', '10:00:20'])
})

test('at most as many as fit, in order, in the range, and no two neighbours read the same', () => {
  const zone = fc.constantFrom('UTC', 'Asia/Kolkata', 'America/Los_Angeles')
  fc.assert(
    fc.property(
      fc.integer({ min: Date.UTC(2025, 0, 1), max: Date.UTC(2028, 0, 1) }),
      fc.oneof(
        fc.constantFrom(15 * MINUTE_MS, HOUR_MS, DAY_MS, 7 * DAY_MS, 30 * DAY_MS),
        fc.integer({ min: 1000, max: 400 * DAY_MS }),
      ),
      fc.integer({ min: 2, max: 10 }),
      zone,
      (fromMs, lengthMs, max, name) => {
        const span = { fromMs, toMs: fromMs + lengthMs }
        const ticks = timeTicks(span, max, name)
        assert.ok(ticks.length <= max)
        if (lengthMs >= 15 * MINUTE_MS) assert.ok(ticks.length >= 1, 'an axis without a time')
        for (const [index, { atMs, text }] of ticks.entries()) {
          assert.ok(atMs >= span.fromMs && atMs <= span.toMs && atMs > (ticks[index - 1]?.atMs ?? 0))
          assert.notEqual(text, ticks[index - 1]?.text)
        }
      },
    ),
    { numRuns: 2000 },
  )
})
