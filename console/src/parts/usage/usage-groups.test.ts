import assert from 'node:assert/strict'
import { USAGE_GROUPS } from '../../api/usage-groups.ts'
import { test } from 'node:test'
import {
  averageOf,
  averageText,
  changeOf,
  groupRows,
  hasAverage,
  seriesOf,
  type Sum,
} from './usage-groups.ts'
import { startOf } from '../../time/day.ts'
import { usageRange } from './usage-range.ts'

const NOTHING: Sum = {
  requests: 0,
  posts: 0,
  unknowns: 0,
  tokens: 0,
  images: 0,
  usd: '0.000000000',
  unknown_usd: '0.000000000',
  unpriced: 0,
  hits: 0,
  saved_usd: '0.000000000',
}
const sum = (over: Partial<Sum>): Sum => ({ ...NOTHING, ...over })
const day = (date: string, over: Partial<Sum>) => ({ at: `${date}T00:00:00.000Z`, ...sum(over) })

const usage = {
  slot: 'day' as const,
  from: '2026-11-01T00:00:00.000Z',
  to: '2026-11-03T00:00:00.000Z',
  total: NOTHING,
  before: null,
  before_span: null,
  forecast: null,
  others: null,
  overflow: null,
  none: null,
  left_out_tags: null,
  tag_keys: [],
  data: Array.from({ length: 8 }, (_, index) => ({
    group: `m${index}`,
    total: sum({ usd: `${8 - index}.000000000`, tokens: index }),
    before: null,
    slots: [day('2026-11-02', { usd: `${8 - index}.000000000`, tokens: index })],
  })),
}
const slots = [Date.UTC(2026, 10, 1), Date.UTC(2026, 10, 2)]

test('six groups have a colour by rank, and all others are one grey series', () => {
  const rows = groupRows(usage, 'usd')
  assert.deepEqual(
    rows.map(({ colour }) => colour),
    ['s1', 's2', 's3', 's4', 's5', 's6', 'rest', 'rest'],
  )
  const series = seriesOf(rows, slots, 'usd', (groups) => `${groups} others`)
  assert.equal(series.length, 7)
  assert.deepEqual(series.at(-1), { label: '2 others', colour: 'rest', values: [0, 3] })
  assert.equal(groupRows(usage, 'tokens')[0]?.name, 'm7', 'the rank is by what is shown')
})

test('calls beside the values of a tag are rows of their own, and in no colour of a value', () => {
  const beside = { total: sum({ usd: '2.000000000' }), before: null, slots: [] }
  const rows = groupRows({ ...usage, overflow: beside, none: beside }, 'usd')
  assert.deepEqual(
    rows.slice(-2).map(({ name, beside: kind, colour }) => [name, kind, colour]),
    [
      [undefined, 'overflow', 'rest'],
      [undefined, 'none', 'rest'],
    ],
  )
})

test('what was paid on average is for a picture, or for a million tokens, and free is not unpriced', () => {
  assert.deepEqual(averageOf(sum({ usd: '742.310000000', images: 14_180 })), {
    kind: 'picture',
    usd: '0.052349083',
  })
  assert.equal(averageText('0.052349083'), '$0.0523')
  assert.equal(averageText('0.130000000'), '$0.13')
  assert.equal(averageText('0.117571428'), '$0.1176')
  assert.equal(averageText('0.000000500'), '$0.0000005')
  assert.deepEqual(averageOf(sum({ tokens: 5 })), { kind: 'free' })
  assert.deepEqual(averageOf(sum({ tokens: 5, unpriced: 1 })), { kind: 'unpriced' })
})

test('a group that mixes texts and images has no average price', () => {
  assert.deepEqual([...USAGE_GROUPS, 'tag:team' as const].filter(hasAverage), ['model', 'deployment'])
})

test('a change against nothing is no change', () => {
  assert.equal(changeOf('1.100000000', '1.000000000'), 0.1)
  assert.equal(changeOf('1.100000000', '0.000000000'), undefined)
  assert.equal(changeOf('1.100000000', undefined), undefined)
})

test('picked days are the days of the ledger with the same names, in every zone', () => {
  for (const zone of ['UTC', 'Asia/Kolkata', 'America/Los_Angeles']) {
    const [from, to] = [startOf('2026-10-30', zone), startOf('2026-11-03', zone)]
    const search = { from: new Date(from).toISOString(), to: new Date(to).toISOString() }
    const { slots } = usageRange(search, to, zone)
    assert.deepEqual(
      slots.map((ms) => new Date(ms).toISOString().slice(0, 10)),
      ['2026-10-30', '2026-10-31', '2026-11-01', '2026-11-02'],
      zone,
    )
  }
})

test('thirty days are today and the 29 before, and two days are hours', () => {
  const now = Date.UTC(2026, 10, 15, 16, 31)
  const month = usageRange({}, now)
  assert.deepEqual(
    [month.slots.length, new Date(month.fromMs).toISOString(), new Date(month.toMs).toISOString()],
    [30, '2026-10-17T00:00:00.000Z', '2026-11-16T00:00:00.000Z'],
  )
  const dayRange = usageRange({ since: '24h' }, now)
  assert.deepEqual([dayRange.slot, dayRange.slots.length], ['hour', 24])
  assert.equal(usageRange({ since: '15m' }, now).slots.length, 1)
})
