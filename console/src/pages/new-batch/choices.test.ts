import { test } from 'node:test'
import assert from 'node:assert/strict'
import type { BatchDraft } from '../../api/queries/batch-drafts.ts'
import { choicesOf, optionsOf, outputBytes, shellCommand, widthsOf, type EmbeddingModel } from './choices.ts'

const model = (id: string, narrower: EmbeddingModel['embedding']['narrower'] = 'any') =>
  ({ id, embedding: { width: 1024, narrower } }) as EmbeddingModel
const draft = {
  columns: ['id', 'title', 'body'].map((name) => ({ name })),
  text_column: 'body',
  id_column: 'id',
} as BatchDraft

test('the file suggests its columns, and the only model is chosen', () => {
  const { textColumn, idColumn, model: chosen, badRows, hours, output } = choicesOf({}, draft, [model('m')])
  assert.deepEqual(
    [textColumn, idColumn, chosen?.id, badRows, hours, output],
    ['body', 'id', 'm', 'skip', '24', 'parquet'],
  )
})

test('of several models none is chosen without the person', () => {
  assert.equal(choicesOf({}, draft, [model('m'), model('n')]).model, undefined)
})

test('the address wins over the suggestion, but not with a column or width that is not there', () => {
  const models = [model('m', [512, 256])]
  const chosen = choicesOf({ text: 'title', id: 'gone', dimensions: 512 }, draft, models)
  assert.deepEqual([chosen.textColumn, chosen.idColumn, chosen.dimensions], ['title', 'id', 512])
  assert.equal(choicesOf({ dimensions: 300 }, draft, models).dimensions, undefined)
  assert.equal(choicesOf({ numbered: true, id: 'id' }, draft, models).idColumn, null)
})

test('options need a text column and a model', () => {
  assert.equal(optionsOf(choicesOf({}, undefined, [model('m')]), null), undefined)
  assert.deepEqual(optionsOf(choicesOf({ hours: '6' }, draft, [model('m')]), 'search/indexer'), {
    model: 'm',
    text_column: 'body',
    id_column: 'id',
    bad_rows: 'skip',
    dimensions: null,
    key: 'search/indexer',
    window_hours: 6,
    output: 'parquet',
  })
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
    shellCommand(choicesOf({}, draft, [model('m')]), 'support-articles.csv'),
    'torana batch run support-articles.csv \\\n  --model m --text body --id id \\\n  --out support-articles.parquet',
  )
  const odd = { ...draft, columns: [{ name: "it's" }], text_column: "it's", id_column: null } as BatchDraft
  assert.match(
    shellCommand(choicesOf({ dimensions: 256, output: 'npy' }, odd, [model('m')]), 'a b.csv'),
    /run 'a b.csv' \\\n {2}--model m --dimensions 256 \\\n {2}--text 'it'\\''s' --out 'a b.npy'$/,
  )
})
