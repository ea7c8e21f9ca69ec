import assert from 'node:assert/strict'
import { test } from 'node:test'
import { daysLeft, endedOf, endNotice, endWords, hasEnded, isNear, lastEnd, modelEnd } from './model-end.ts'

const END = modelEnd({ on: '2026-12-01', successor: 'gpt-image-2.5-sunburst' })
const at = (moment: string): number => Date.parse(moment)

test('a model ends as its day begins in UTC, and days are counted by the calendar', () => {
  const seen = [
    ['2026-08-31T00:00:00Z', 92, false, 'ends on 2026-12-01, in 92 days'],
    ['2026-09-01T23:59:59Z', 91, false, 'ends on 2026-12-01, in 91 days'],
    ['2026-09-02T00:00:00Z', 90, true, 'ends on 2026-12-01, in 90 days'],
    ['2026-11-30T23:59:59Z', 1, true, 'ends on 2026-12-01, in 1 day'],
    ['2026-12-01T00:00:00Z', 0, true, 'ended on 2026-12-01'],
    ['2026-12-02T12:00:00Z', -1, true, 'ended on 2026-12-01'],
    ['2027-12-02T12:00:00Z', -366, true, 'ended on 2026-12-01'],
  ] as const
  for (const [moment, days, near, words] of seen) {
    const nowMs = at(moment)
    assert.equal(daysLeft(END, nowMs), days, moment)
    assert.equal(isNear(END, nowMs), near, moment)
    assert.equal(endWords(END, nowMs), words)
    assert.equal(hasEnded(END, nowMs), days <= 0)
  }
})

test('answers tell of an end that is 90 days away or nearer, and of one that is past', () => {
  const notice = (moment: string, end = END) => endNotice(end, () => at(moment))
  assert.equal(notice('2026-09-01T12:00:00Z'), undefined)
  assert.equal(notice('2026-09-02T12:00:00Z'), '2026-12-01; successor=gpt-image-2.5-sunburst')
  assert.equal(notice('2026-12-02T12:00:00Z'), '2026-12-01; ended; successor=gpt-image-2.5-sunburst')
  assert.equal(notice('2026-12-02T12:00:00Z', modelEnd({ on: '2026-12-01' })), '2026-12-01; ended')
})

test('a model without an end costs an answer no look at the clock', () => {
  assert.equal(endNotice(undefined, assert.fail), undefined)
})

test('a model ends with the last of its deployments, and never where one has no end', () => {
  const later = modelEnd({ on: '2027-04-07' })
  assert.equal(lastEnd([{ end: END }, { end: later }]), later)
  assert.equal(lastEnd([{ end: later }, { end: END }]), later)
  assert.equal(lastEnd([{ end: END }, {}]), undefined)
  assert.equal(lastEnd([]), undefined)
})

test('only the deployment whose day has come has ended', () => {
  const model = {
    deployments: [
      { id: 'm/openai', end: END },
      { id: 'm/azure', end: modelEnd({ on: '2026-12-16' }) },
      { id: 'm/own' },
    ],
  }
  const ended = (id: string) => endedOf(model, id, at('2026-12-02'))
  assert.deepEqual(['m/openai', 'm/azure', 'm/own', 'm/other'].map(ended), [
    END,
    undefined,
    undefined,
    undefined,
  ])
})
