import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { DAY_MS, dayOf, daysAfter, HOUR_MS, isStartOfDay, MINUTE_MS, roundMoments, startOf } from './day.ts'

/** Node has it, browsers not all: it judges the console's own code. */
interface ZonedTime {
  readonly epochMilliseconds: number
  toPlainDate(): { toString(): string }
  startOfDay(): ZonedTime
  add(duration: { readonly days: number }): ZonedTime
}
const { Temporal } = globalThis as unknown as {
  readonly Temporal: {
    readonly Instant: { fromEpochMilliseconds(ms: number): { toZonedDateTimeISO(zone: string): ZonedTime } }
  }
}
const judged = (ms: number, zone: string): ZonedTime =>
  Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(zone)

/** Half hours ahead, daylight saving by an hour, by half an hour, and at midnight. */
const ZONES = [
  'UTC',
  'Asia/Kolkata',
  'America/Los_Angeles',
  'Europe/Berlin',
  'Australia/Lord_Howe',
  'Africa/Cairo',
] as const
/** Of Los Angeles in 2026: the day of 23 hours, and that of 25. */
const CHANGES = { shorter: '2026-03-08', longer: '2026-11-01' }

const zone = fc.constantFrom(...ZONES)
const moment = fc.oneof(
  fc.integer({ min: Date.UTC(2020, 0, 1), max: Date.UTC(2040, 0, 1) }),
  // Around the changes of the clock.
  fc
    .constantFrom(
      ...Object.values(CHANGES),
      '2026-03-29',
      '2026-10-25',
      '2026-04-05',
      '2026-04-24',
      '2026-10-30',
    )
    .chain((day) => fc.integer({ min: Date.parse(day) - DAY_MS, max: Date.parse(day) + 2 * DAY_MS })),
)

test('the day of a moment, and the first moment of a day, are those of Temporal in every zone', () => {
  fc.assert(
    fc.property(moment, zone, (ms, name) => {
      const day = dayOf(ms, name)
      assert.equal(day, judged(ms, name).toPlainDate().toString())
      assert.equal(startOf(day, name), judged(ms, name).startOfDay().epochMilliseconds)
      assert.ok(isStartOfDay(startOf(day, name), name))
    }),
    { numRuns: 2000 },
  )
})

test('days are counted by the calendar, also over a change of the clock', () => {
  fc.assert(
    fc.property(moment, zone, fc.integer({ min: -400, max: 400 }), (ms, name, days) => {
      const later = judged(ms, name).startOfDay().add({ days }).startOfDay()
      assert.equal(startOf(daysAfter(dayOf(ms, name), days), name), later.epochMilliseconds)
    }),
    { numRuns: 2000 },
  )
  const hoursOf = (day: string): number =>
    (startOf(daysAfter(day, 1), 'America/Los_Angeles') - startOf(day, 'America/Los_Angeles')) / HOUR_MS
  assert.deepEqual([hoursOf(CHANGES.shorter), hoursOf(CHANGES.longer), hoursOf('2026-11-15')], [23, 25, 24])
})

test('round moments lie in their range in order, and the clocks show a multiple of the step', () => {
  const step = fc.constantFrom(
    15 * MINUTE_MS,
    HOUR_MS,
    3 * HOUR_MS,
    12 * HOUR_MS,
    DAY_MS,
    2 * DAY_MS,
    7 * DAY_MS,
  )
  fc.assert(
    fc.property(moment, zone, step, fc.integer({ min: 2, max: 9 }), (fromMs, name, stepMs, steps) => {
      const span = { fromMs, toMs: fromMs + steps * stepMs + HOUR_MS }
      const moments = roundMoments(span, stepMs, name)
      assert.ok(moments.length >= steps - 1 && moments.length <= steps + 5, `${moments.length} of ${steps}`)
      for (const [index, ms] of moments.entries()) {
        assert.ok(ms >= span.fromMs && ms <= span.toMs && ms > (moments[index - 1] ?? 0))
        const sinceMidnight = ms - judged(ms, name).startOfDay().epochMilliseconds
        if (stepMs >= DAY_MS) assert.equal(sinceMidnight, 0)
      }
    }),
    { numRuns: 1000 },
  )
})
