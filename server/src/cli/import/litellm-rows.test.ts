import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { csvRecords, namesOf, readRows } from './litellm-rows.ts'

test('what is written as CSV is read back, with the line each record begins in', () => {
  const cell = fc.string({ unit: fc.constantFrom('a', ' ', ',', '"', '\n', 'ö') })
  const table = fc.array(fc.array(cell, { minLength: 2, maxLength: 4 }), { maxLength: 5 })
  fc.assert(
    fc.property(table, fc.constantFrom('\n', '\r\n'), (rows, end) => {
      const text = rows
        .map((row) => row.map((value) => `"${value.replaceAll('"', '""')}"`).join(',') + end)
        .join('')
      const records = csvRecords(text)
      const kept = rows.filter((row) => row.some((value) => value !== ''))
      assert.deepEqual(
        records.map(({ cells }) => cells),
        kept,
      )
      const lines = text.split('\n')
      for (const { line, cells } of records) {
        const [start = ''] = (cells[0] ?? '').split('\n')
        assert.ok(lines[line - 1]?.startsWith(`"${start.replaceAll('"', '""')}`))
      }
    }),
  )
})

test('rows of a table are told by their line, entries of an answer by their index', () => {
  const csv = readRows('keys.csv', '\uFEFFtoken,models\nabc,"{a,""b, c""}"\n\ndef,{}\n')
  assert.deepEqual(csv, [
    { place: 'keys.csv:2', fields: { token: 'abc', models: '{a,"b, c"}' } },
    { place: 'keys.csv:4', fields: { token: 'def', models: '{}' } },
  ])
  const json = readRows('keys.json', '{"keys": [{"token": "abc"}, "def"], "total_count": 2}')
  assert.deepEqual(json, [
    { place: 'keys.json[0]', fields: { token: 'abc' } },
    { place: 'keys.json[1]', fields: { token: 'def' } },
  ])
  assert.deepEqual(readRows('one.json', '{"key": "sk-1"}'), [
    { place: 'one.json[0]', fields: { key: 'sk-1' } },
  ])
})

test('a file that is neither is refused', () => {
  assert.throws(() => readRows('keys.json', '{"keys": ['), SyntaxError)
  assert.throws(() => readRows('keys.csv', 'token\n"abc'), SyntaxError)
})

test('lists of names are read as JSON, as PostgreSQL writes them, and as they are', () => {
  assert.deepEqual(namesOf('{a,"b, c","d\\"e"}'), ['a', 'b, c', 'd"e'])
  assert.deepEqual(namesOf('["a", "b", 3]'), ['a', 'b'])
  assert.deepEqual(namesOf(['a', null]), ['a'])
  assert.deepEqual(namesOf('a'), ['a'])
  for (const nothing of ['', '{}', '[]', undefined, null, 7, '[broken'])
    assert.deepEqual(namesOf(nothing), [])
})
