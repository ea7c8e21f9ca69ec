import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bodyOf, countOf, NO_CHANGES, rebased, withChange, type Change } from './draft.ts'

const change: Change = {
  object: 'model',
  name: 'bge-m3',
  base: 'r1',
  before: { cache: { ttl: '12h' }, deployments: [{ upstream: 'one' }] },
  entry: { cache: { ttl: '30d' }, deployments: [{ upstream: 'one', weight: 2 }] },
}

test('a draft counts fields, and a change that is undone leaves it', () => {
  const draft = withChange(NO_CHANGES, change)
  assert.equal(countOf(draft), 2)
  assert.equal(countOf(withChange(draft, { ...change, entry: change.before })), 0)
  assert.equal(countOf(withChange(draft, { ...change, entry: change.before, renameTo: 'other' })), 1)
  assert.equal(countOf(withChange(draft, { ...change, entry: null })), 1)
})

test('what is sent names the revision that the change began from', () => {
  const renamed: Change = { ...change, object: 'upstream', name: 'one', renameTo: 'other' }
  assert.deepEqual(bodyOf(withChange(withChange(NO_CHANGES, change), renamed)), [
    { object: 'model', name: 'bge-m3', base: 'r1', entry: change.entry },
    { object: 'upstream', name: 'one', base: 'r1', entry: change.entry, rename_to: 'other' },
  ])
})

test('after a save of another admin, a rebased change keeps both', () => {
  const entry = { cache: { ttl: '12h' }, aliases: ['house'], deployments: [{ upstream: 'one' }] }
  const next = rebased(change, { base: 'r2', entry })
  assert.deepEqual([next.base, next.before], ['r2', entry])
  assert.deepEqual(next.entry, { ...change.entry, aliases: ['house'] })
})

test('a deleted object stays deleted when it was changed elsewhere', () => {
  assert.equal(rebased({ ...change, entry: null }, { base: 'r2', entry: { aliases: [] } }).entry, null)
})
