import { test } from 'node:test'
import assert from 'node:assert/strict'
import type { ColumnProfile } from '../../workers/corpus/profile.ts'
import { choicesOf, outputBytes, shellCommand, widthsOf, type EmbeddingModel } from './choices.ts'

const model = (id: string, narrower: EmbeddingModel['embedding']['narrower'] = 'any') =>
  ({ id, embedding: { width: 1024, narrower } }) as EmbeddingModel
const columnsOf = (...names: readonly string[]) => names.map((name) => ({ name }) as ColumnProfile)
const profile = { columns: columnsOf('id', 'title', 'body'), usual: { text: 'body', id: 'id' } }

test('the file suggests its columns, and the only model is chosen', () => {
  const { textColumn, idColumn, model: chosen, badRows, hours, output } = choicesOf({}, profile, [model('m')])
  assert.deepEqual(
    [textColumn, idColumn, chosen?.id, badRows, hours, output],
    ['body', 'id', 'm', 'skip', '24', 'parquet'],
  )
})

test('of several models none is chosen without the person', () => {
  assert.equal(choicesOf({}, profile, [model('m'), model('n')]).model, undefined)
})

test('the address wins over the suggestion, but not with a column or width that is not there', () => {
  const models = [model('m', [512, 256])]
  const chosen = choicesOf({ text: 'title', id: 'gone', dimensions: 512 }, profile, models)
  assert.deepEqual([chosen.textColumn, chosen.idColumn, chosen.dimensions], ['title', 'id', 512])
  assert.equal(choicesOf({ dimensions: 300 }, profile, models).dimensions, undefined)
  assert.equal(choicesOf({ numbered: true, id: 'id' }, profile, models).idColumn, null)
})

test('widths below the full one, the widest first', () => {
  assert.deepEqual(widthsOf(model('m', 'none')), [])
  assert.deepEqual(widthsOf(model('m', [256, 1024, 512])), [512, 256])
  assert.deepEqual(widthsOf(model('m', 'any')), [768, 512, 256, 128])
})

test('JSON takes three times the bytes of the numbers', () => {
  assert.equal(outputBytes('npy', 1000), 1000)
  assert.equal(outputBytes('jsonl', 1000), 3000)
})

test('the command does the same as the page, and quotes what a shell would split', () => {
  assert.equal(
    shellCommand(choicesOf({}, profile, [model('m')]), 'support-articles.csv'),
    'torana batch run support-articles.csv \\\n  --model m --text body --id id \\\n  --out support-articles.parquet',
  )
  const odd = { columns: columnsOf("it's"), usual: { text: "it's", id: undefined } }
  assert.match(
    shellCommand(choicesOf({ dimensions: 256, output: 'npy' }, odd, [model('m')]), 'a b.csv'),
    /run 'a b.csv' \\\n {2}--model m --dimensions 256 \\\n {2}--text 'it'\\''s' --out 'a b.npy'$/,
  )
})
