import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { DAY_MS } from '../../time/day.ts'
import { monthsOn, noticesOn, timelineX } from './timeline-layout.ts'

const fromMs = Date.UTC(2026, 10, 17)
/** 450 of them for 180 days: 2.5 for each. */
const scale = { fromMs, days: 180, width: 554 }
const ALL = [90, 30, 14, 7, 1]
const notices = (sent: readonly number[]) => ALL.map((days) => ({ days, isSent: sent.includes(days) }))
const endIn = (days: number): number => fromMs + days * DAY_MS

test('a later day is never further left, and no day is outside of the chart', () => {
  const days = fc.integer({ min: -400, max: 4000 })
  fc.assert(
    fc.property(days, days, fc.integer({ min: 0, max: 2000 }), (one, other, width) => {
      const [early, late] = [Math.min(one, other), Math.max(one, other)].map((day) =>
        timelineX(endIn(day), { ...scale, width }),
      ) as [number, number]
      assert.ok(early >= 0 && early <= late && late <= width)
    }),
  )
})

test('every month that begins within the range has a line, and a name where it touches no other', () => {
  assert.deepEqual(
    monthsOn(scale).map(({ ms, x, isNamed }) => [new Date(ms).toISOString().slice(0, 7), x, isNamed]),
    [
      ['2026-12', 35, true],
      ['2027-01', 112.5, true],
      ['2027-02', 190, true],
      ['2027-03', 260, true],
      ['2027-04', 337.5, true],
      ['2027-05', 412.5, true],
    ],
  )
  const late = monthsOn({ ...scale, fromMs: Date.UTC(2026, 10, 25) })
  assert.deepEqual(late[0], { ms: Date.UTC(2026, 11), x: 15, isNamed: false })
  const narrow = monthsOn({ ...scale, width: 254 })
  assert.deepEqual(
    narrow.map(({ isNamed }) => isNamed),
    [false, true, false, true, false, true],
  )
})

test('a notice to come is hollow at its day; those sent before are one circle at today', () => {
  assert.deepEqual(noticesOn(endIn(75), notices([90]), scale), [
    { x: 0, isSent: true },
    { x: 112.5, isSent: false },
    { x: 152.5, isSent: false },
    { x: 170, isSent: false },
  ])
  assert.deepEqual(noticesOn(endIn(14), notices([90, 30, 14]), scale), [
    { x: 0, isSent: true },
    { x: 17.5, isSent: false },
  ])
})

test('a notice of the past that was not sent has no circle', () => {
  assert.deepEqual(noticesOn(endIn(29), notices([]), scale), [
    { x: 37.5, isSent: false },
    { x: 55, isSent: false },
  ])
})
