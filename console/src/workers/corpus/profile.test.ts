import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { DistinctTexts } from './distinct.ts'
import { formatOf } from './format.ts'
import { CorpusProfiler, MAX_COLUMNS, TooManyColumns, type CorpusProfile } from './profile.ts'

const bytesOf = (text: string): number => new TextEncoder().encode(text).length
const none = { text: undefined, id: undefined }

function profiled(rows: readonly Readonly<Record<string, unknown>>[]): CorpusProfile {
  const profiler = new CorpusProfiler(bytesOf)
  for (const row of rows) profiler.add(row)
  return profiler.result({ kind: 'jsonl' }, () => none)
}

test('a profile counts what is there: rows, texts, bytes and what repeats', () => {
  const value = fc.constantFrom('', 'a', 'ü', 'a long text', 'a', '7')
  fc.assert(
    fc.property(fc.array(fc.record({ one: value, two: value }), { maxLength: 60 }), (rows) => {
      const { columns, rows: count, isWhole } = profiled(rows)
      assert.deepEqual([count, isWhole], [rows.length, true])
      for (const { name, filled, bytes, duplicates, lengths } of columns) {
        const texts = rows.map((row) => row[name as 'one' | 'two']).filter((text) => text !== '')
        assert.equal(filled, texts.length)
        assert.equal(
          bytes,
          texts.reduce((sum, text) => sum + bytesOf(text), 0),
        )
        assert.equal(duplicates, texts.length - new Set(texts).size)
        assert.equal(
          lengths.reduce((sum, step) => sum + step.texts, 0),
          filled,
        )
        assert.ok(
          texts.every((text) =>
            lengths.some(
              ({ fromBytes, belowBytes }) => bytesOf(text) >= fromBytes && bytesOf(text) < belowBytes,
            ),
          ),
        )
      }
    }),
  )
})

test('values that are no texts are shown as a table would, and null is empty', () => {
  const { preview, columns } = profiled([{ a: 1, b: null, c: [1, { d: true }], e: false }])
  assert.deepEqual(preview, [['1', '', '[1,{"d":true}]', 'false']])
  assert.equal(columns.find(({ name }) => name === 'b')?.filled, 0)
})

test('the values of Parquet are shown too: large integers, times and lists', () => {
  const time = new Date(Date.UTC(2026, 10, 18))
  const row = { a: 2n ** 60n, b: time, c: Float32Array.of(1, 0.5), d: { e: 1n } }
  const { preview } = profiled([row])
  assert.deepEqual(preview, [['1152921504606846976', '2026-11-18T00:00:00.000Z', '[1,0.5]', '{"e":"1"}']])
})

test('the sample of a large corpus is bounded, and follows no pattern of its rows', () => {
  const rows = Array.from({ length: 10_000 }, (_, row) => ({ row: String(row) }))
  const { sample, isWhole } = profiled(rows)
  assert.ok(sample.length > 200 && sample.length <= 500, String(sample.length))
  assert.equal(isWhole, false)
  for (const period of [2, 4, 7, 16]) {
    const first = sample.filter(([cell]) => Number(cell) % period === 0).length
    assert.ok(Math.abs(first / sample.length - 1 / period) < 0.1, `${first} of ${sample.length}`)
  }
  const long = profiled(Array.from({ length: 400 }, () => ({ text: 'x'.repeat(50_000) })))
  assert.ok(long.sample.reduce((sum, [text = '']) => sum + text.length, 0) <= 2 * 1024 * 1024)
  assert.equal(long.isWhole, false)
})

test('the column with the most text is suggested where none has its usual name', () => {
  assert.equal(profiled([{ sku: 'A-1', words: 'a long description' }]).usual.text, 'words')
})

test('more columns than a page can show are refused', () => {
  const row = Object.fromEntries(Array.from({ length: MAX_COLUMNS + 1 }, (_, at) => [`c${at}`, 'x']))
  assert.throws(() => profiled([row]), TooManyColumns)
})

test('different texts count as different, however many there are', () => {
  const distinct = new DistinctTexts()
  for (let row = 0; row < 200_000; row += 1) distinct.add(`text ${row % 150_000}`)
  assert.deepEqual([distinct.size, distinct.repeated], [150_000, 50_000])
})

const STARTS: readonly (readonly [name: string, start: string, expected: string])[] = [
  ['a.jsonl', 'id,text', 'jsonl'],
  ['a.NDJSON', '', 'jsonl'],
  ['a.csv', '{"a":1}', ','],
  ['a.tsv', 'a,b\tc', '\t'],
  ['a.txt', '  {"a":1}', 'jsonl'],
  ['pasted', 'a;b;c\n1,5;2,5;3', ';'],
  ['pasted', '"a,b,c";d\n', ';'],
  ['pasted', 'a|b', '|'],
  ['pasted', 'one column', ','],
  ['a.parquet', '', 'parquet'],
  ['download', 'PAR1\u0015', 'parquet'],
]

test('the format follows from the ending, and from the first record where it has none', () => {
  for (const [name, start, expected] of STARTS) {
    const format = formatOf(name, start)
    assert.equal(format.kind === 'csv' ? format.separator : format.kind, expected, `${name}: ${start}`)
  }
})
