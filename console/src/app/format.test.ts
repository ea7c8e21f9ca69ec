import { test } from 'node:test'
import assert from 'node:assert/strict'
import * as format from './format.ts'

/** Each rule of the table in docs/console.md with its examples. */
const EXAMPLES: readonly (readonly [rule: string, shown: string, expected: string])[] = [
  ['money in detail has nine decimals', format.moneyExact('0.000651920'), '$0.000651920'],
  ['money in detail has nine decimals', format.moneyExact('1234.000000000'), '$1,234.000000000'],
  ['money in lists: six decimals below a cent', format.moneyInList('0.000651920'), '$0.000652'],
  ['money in lists: four below a dollar', format.moneyInList('0.052400000'), '$0.0524'],
  ['money in lists: two above', format.moneyInList('12.770000000'), '$12.77'],
  ['money in lists: nothing', format.moneyInList('0.000000000'), '$0'],
  ['money that is missing', format.moneyInList(null), '–'],
  ['money in reports: two decimals', format.money('1617.920000000'), '$1,617.92'],
  ['money below zero', format.money('-0.500000000'), '−$0.50'],
  ['money is rounded half up, not by a double', format.money('1.005000000'), '$1.01'],
  ['money in short', format.moneyShort('90.000000000'), '$90'],
  ['money in short', format.moneyShort('41.500000000'), '$41.50'],
  ['money in short: no decimals from a thousand', format.moneyShort('1617.920000000'), '$1,618'],
  ['duration below 10 ms', format.duration(0.6), '0.6 ms'],
  ['duration below 1 s', format.duration(212), '212 ms'],
  ['duration that rounds up into the next rule', format.duration(999.7), '1.00 s'],
  ['duration below 10 s', format.duration(9120), '9.12 s'],
  ['duration above 10 s', format.duration(60_200), '60.2 s'],
  ['duration above 90 s', format.duration(92_000), '1 min 32 s'],
  ['duration that is missing', format.duration(null), '–'],
  ['age in minutes', format.age(4 * 60_000 + 59_000), '4 min'],
  ['age in hours up to two days', format.age(47 * 3_600_000), '47 h'],
  ['age in days', format.age(94 * 86_400_000), '94 d'],
  ['rate', format.rate(171), '171.0'],
  ['count below ten thousand', format.count(3182), '3,182'],
  ['count in thousands', format.count(88_100), '88.1 k'],
  ['count in millions, never a thousand thousands', format.count(999_990), '1.00 M'],
  ['count in billions', format.count(2_450_000_000), '2.45 B'],
  ['bytes', format.bytes(287_744), '281 KB'],
  ['bytes', format.bytes(4_089_446), '3.9 MB'],
  ['bytes', format.bytes(12), '12 B'],
  ['share', format.share(0.382), '38.2 %'],
  ['a share of something is never nothing', format.share(0.0001), '< 0.1 %'],
  ['a share of nothing', format.share(0), '0.0 %'],
  ['change', format.change(0.118), '+12 %'],
  ['change', format.change(-0.09), '−9 %'],
  ['change from nothing', format.change(Number.POSITIVE_INFINITY), '–'],
  ['cosine is cut, not rounded up to one', format.cosine(0.99999999), '0.9999999'],
  ['cosine', format.cosine(0.9999961), '0.9999961'],
  ['cosine far from one', format.cosine(0.41271), '0.4127'],
  ['clock', format.clockExact('2026-11-15T16:31:07.359Z', 'UTC'), '16:31:07.359'],
  [
    'time of today',
    format.moment('2026-11-15T11:28:05Z', Date.parse('2026-11-15T20:00:00Z'), 'UTC'),
    '11:28:05',
  ],
  [
    'time of another day',
    format.moment('2026-11-14T11:28:05Z', Date.parse('2026-11-15T20:00:00Z'), 'UTC'),
    '14 Nov 11:28',
  ],
  ['September', format.day('2026-09-01T00:00:00Z', 'UTC'), '1 Sep'],
  ['midnight', format.clock('2026-09-01T00:00:00Z', 'UTC'), '00:00'],
  ['id in running text', format.shortId('01a1e008-2f4c-7d1e-b0aa-4c27d0be9c1e'), '01a1e008…9c1e'],
  ['initials', format.initials('Maria Keller'), 'MK'],
]

for (const [rule, shown, expected] of EXAMPLES)
  test(`${rule}: ${expected}`, () => {
    assert.equal(shown, expected)
  })
