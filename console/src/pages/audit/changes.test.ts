import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fieldChanges, inShort } from './changes.ts'

const budget = (dollars: number) => ({ limitNanoUsd: `${dollars}000000000`, per: 'month', hard: true })

test('a change is told by the fields that differ', () => {
  const detail = {
    before: { limits: {}, budget: budget(20), models: null },
    after: { limits: { requestsPerMinute: 60 }, budget: budget(50), models: null },
  }
  assert.equal(inShort(detail), 'limits – → requests per minute 60 · budget $20 month hard → $50 month hard')
  assert.deepEqual(
    fieldChanges(detail)?.map(({ field, isChanged }) => [field, isChanged]),
    [
      ['limits', true],
      ['budget', true],
      ['models', false],
    ],
  )
})

test('a reload says how many of what came, went and changed', () => {
  const none = { added: [], removed: [], changed: [] }
  const changed = {
    models: { ...none, added: ['a', 'b'] },
    keys: { ...none, changed: ['p/k'] },
    projects: none,
  }
  assert.equal(inShort({ digest: 'x', changed }), '+2 models, ±1 keys')
})

test('what is nothing is not told, and what is more than three is counted', () => {
  assert.equal(inShort({}), '')
  assert.equal(inShort({ keys: 3, none: null, empty: {} }), 'keys 3')
  assert.equal(inShort({ a: 1, b: 2, c: 3, d: 4 }), 'a 1 · b 2 · c 3 · +1')
  assert.equal(fieldChanges({ secret: '…90b7' }), undefined)
})
