import { test } from 'node:test'
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { flag, oneOf, parseSearch, searchOf, size, stringifySearch, text, texts, time } from './search.ts'

const read = searchOf({
  outcome: oneOf('failed', 'limited'),
  only: texts(),
  before: flag(),
  slower: size(),
  q: text(),
  from: time(),
})

test('wrong values become undefined, unknown parameters stay', () => {
  assert.deepEqual(
    read({ outcome: 'great', slower: 'x', from: 'yesterday', before: 'yes', other: 'a', q: '' }),
    { outcome: undefined, slower: undefined, from: undefined, before: undefined, other: 'a', q: undefined },
  )
})

test('what was read is read again as the same', () => {
  const once = read({
    outcome: 'failed',
    only: 'a',
    before: '1',
    slower: '500',
    q: '7',
    from: '2026-11-15T00:00:00Z',
  })
  assert.deepEqual(once, {
    outcome: 'failed',
    only: ['a'],
    before: true,
    slower: 500,
    q: '7',
    from: '2026-11-15T00:00:00Z',
  })
  assert.deepEqual(read(once), once)
})

test('every search survives the address bar', () => {
  const value = fc.oneof(
    fc.string({ minLength: 1 }),
    fc.array(fc.string({ minLength: 1 }), { minLength: 2, maxLength: 4 }),
  )
  const name = fc.string({ minLength: 1 }).filter((one) => one !== '__proto__')
  fc.assert(
    fc.property(fc.dictionary(name, value, { noNullPrototype: true }), (search) => {
      assert.deepEqual(parseSearch(stringifySearch(search)), search)
    }),
  )
})

test('ids keep their slashes in the address', () => {
  assert.equal(
    stringifySearch({ key: 'search/indexer', from: '2026-11-15T00:00:00Z' }),
    '?key=search/indexer&from=2026-11-15T00:00:00Z',
  )
})
