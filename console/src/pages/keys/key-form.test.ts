import assert from 'node:assert/strict'
import { test } from 'node:test'
import { changeOf, commandOf, endOf, newForm, newKeyOf, spanOf } from './key-form.ts'

const NOW = Date.parse('2026-11-15T16:31:00Z')
const form = {
  ...newForm('search', NOW),
  name: 'reranker-eval',
  models: ['text-embedding-3-small', 'BAAI/bge-m3'],
  requests: 600,
  tokens: 1_000_000,
  usd: '20',
}

test('the command does what the form does', () => {
  assert.equal(
    commandOf(form),
    [
      'torana keys create search/reranker-eval \\',
      '  --models text-embedding-3-small,BAAI/bge-m3 \\',
      '  --requests-per-minute 600 --tokens-per-minute 1000000 \\',
      '  --budget 20 --hard --expires 2027-02-13',
    ].join('\n'),
  )
  assert.equal(commandOf({ ...newForm('', NOW), ends: '' }), 'torana keys create <project>/<name>')
})

test('what is left empty is no limit, and money stays text', () => {
  assert.deepEqual(newKeyOf({ ...form, addresses: '10.0.0.0/8,  192.0.2.7', scopes: ['images'] }), {
    project: 'search',
    name: 'reranker-eval',
    models: ['text-embedding-3-small', 'BAAI/bge-m3'],
    limits: { requests_per_minute: 600, tokens_per_minute: 1_000_000, images_per_minute: null },
    budget: { usd: '20', per: 'month', hard: true },
    expires_at: '2027-02-13',
    scopes: ['images'],
    max_calls_at_once: null,
    addresses: ['10.0.0.0/8', '192.0.2.7'],
  })
})

test('a change sends only what changed, and null where something is taken away', () => {
  assert.deepEqual(changeOf(form, form), {})
  assert.deepEqual(changeOf(form, { ...form, usd: '', ends: '' }), { budget: null, expires_at: null })
})

test('a span is known again by its day', () => {
  assert.equal(spanOf(endOf('d90', NOW), NOW), 'd90')
  assert.equal(spanOf('', NOW), 'never')
  assert.equal(spanOf('2027-03-01', NOW), undefined)
})
