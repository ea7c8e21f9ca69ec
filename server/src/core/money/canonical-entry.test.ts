import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CANONICAL_COLUMNS, canonicalLine, canonicalOrder, type CanonicalRow } from './canonical-entry.ts'

const ROW: CanonicalRow = {
  request_id: '01936b2c-0000-7000-8000-000000000001',
  attempt: 0,
  kind: 'post',
  call_id: '01936b2c-0000-7000-8000-000000000002',
  node_id: '01936b2c-0000-7000-8000-000000000003',
  project: 'search',
  key_id: 'search/ci',
  model: 'small',
  deployment: 'small/openai',
  usage: 'upstream',
  tokens: 10n,
  images: 0,
  amount_nano: 9_007_199_254_740_993n,
  requests: 1,
  hits: null,
  saved_nano: undefined,
  unknown_nano: null,
  batch_id: null,
  inputs: null,
}

test('the canonical text never changes: sealed hours are checked against it for years', () => {
  const columns = canonicalLine(ROW).split('\t')
  assert.equal(columns.length, CANONICAL_COLUMNS.length)
  assert.deepEqual(columns.slice(2, 4), ['post', '01936b2c-0000-7000-8000-000000000002'])
  const values = 'search,search/ci,small,small/openai,upstream,10,0,9007199254740993,1,,,,,'
  assert.deepEqual(columns.slice(5), values.split(','))
})

test('entries are ordered by request id, then by attempt as a number, then by kind', () => {
  const rows = [
    { ...ROW, attempt: 10 },
    { ...ROW, attempt: 2, kind: 'void' },
    { ...ROW, attempt: 2, kind: 'post' },
    { ...ROW, request_id: '01936b2b-0000-7000-8000-000000000001', attempt: 11 },
  ]
  assert.deepEqual(
    rows.toSorted(canonicalOrder).map(({ attempt, kind }) => `${attempt} ${kind}`),
    ['11 post', '2 post', '2 void', '10 post'],
  )
})
