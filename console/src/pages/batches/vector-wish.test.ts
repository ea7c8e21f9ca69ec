import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nameFile, wantVectors } from './vector-wish.ts'

const batch = {
  id: 'batch_1',
  model: 'm',
  space: 'm@16:0123abcd',
  metadata: {},
  output: { id: 'file-1', bytes: 100 },
  errors: { id: 'file-2', bytes: 20 },
}
const metadata = { file: 'support.articles.csv', rows: '5', text_column: 'body' }

test('a batch of a file of rows has its rows and its name; of another, lines that failed keep their place', () => {
  const made = wantVectors({ ...batch, metadata }, 'npy')
  assert.deepEqual([made.rows, made.files.length], [5, 1])
  assert.equal(nameFile({ ...batch, metadata }, 'npy'), 'support.articles.npy')
  const other = wantVectors(batch, 'parquet')
  assert.deepEqual([other.rows, other.files.map(({ bytes }) => bytes)], [undefined, [100, 20]])
  assert.equal(nameFile(batch, 'parquet'), 'batch_1.parquet')
})

test('notes that a caller wrote are no file of rows', () => {
  for (const notes of [{ rows: '5' }, { rows: '0-4', text_column: 'x' }, { rows: '1e3', text_column: 'x' }])
    assert.equal(wantVectors({ ...batch, metadata: notes }, 'npy').rows, undefined)
})

test('the space names the type of the numbers', () => {
  const typeOf = (space: string | null) => wantVectors({ ...batch, space }, 'npy').type
  assert.deepEqual(
    [null, 'm@16:0123abcd', 'a/b@16:0123abcd/float16', 'm@16:0123abcd/int8:cal-89abcdef'].map(typeOf),
    ['float32', 'float32', 'float16', 'int8'],
  )
})
