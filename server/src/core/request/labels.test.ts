import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { Fault } from '../fault/fault.ts'
import { labelsOf, MAX_TAGS } from '../money/labels.ts'
import { tagsIn, tagsInHeader, TAGS_HEADER, userIn, withBatchTags, withHeaderTags } from './labels.ts'

const many = (count: number): Record<string, string> =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`key-${index}`, 'x']))

const refused: [title: string, read: () => unknown, param: string][] = [
  ['a tag without a value', () => tagsInHeader('team'), TAGS_HEADER],
  ['an empty value', () => tagsInHeader('team='), TAGS_HEADER],
  ['an empty key', () => tagsInHeader('=red'), TAGS_HEADER],
  ['a key with a colon', () => tagsInHeader('a:b=red'), TAGS_HEADER],
  ['a key that is too long', () => tagsInHeader(`${'k'.repeat(65)}=red`), TAGS_HEADER],
  ['a value that is too long', () => tagsInHeader(`team=${'v'.repeat(129)}`), TAGS_HEADER],
  ['characters that a header cannot carry', () => tagsInHeader('team=rød'), TAGS_HEADER],
  ['a key twice', () => tagsInHeader(['team=red', 'team=blue']), TAGS_HEADER],
  ['nine tags', () => tagsInHeader(Object.entries(many(9)).map(([key]) => `${key}=x`)), TAGS_HEADER],
  ['metadata that is a text', () => tagsIn('team=red'), 'metadata'],
  ['a number', () => tagsIn({ team: 7 }), 'metadata'],
  ['a NUL', () => tagsIn({ team: 'a\0' }), 'metadata'],
  ['half of a character', () => tagsIn({ team: '\ud83d' }), 'metadata'],
  ['a line break', () => tagsIn({ team: 'a\nb' }), 'metadata'],
  ['nine tags in metadata', () => tagsIn(many(9)), 'metadata'],
  ['a prototype', () => tagsIn(JSON.parse('{"__proto__": "x"}')), 'metadata'],
  ['two values of one tag', () => withHeaderTags({ team: 'red' }, { team: 'blue' }), TAGS_HEADER],
  ['nine tags in both', () => withHeaderTags(many(8), { other: 'x' }), TAGS_HEADER],
  ['nine tags with those of the batch', () => withBatchTags(many(8), { other: 'x' }), 'metadata'],
  ['a user that is too long', () => userIn('u'.repeat(513)), 'user'],
  ['a user with a NUL', () => userIn('a\0'), 'user'],
]

for (const [title, read, param] of refused)
  test(`${title} is refused, and the refusal names where it was sent`, () => {
    assert.throws(read, (error) => {
      assert.ok(error instanceof Fault)
      assert.deepEqual([error.code, error.param], ['invalid_parameter', param])
      return true
    })
  })

test('a header is read as a list, whatever stands around its commas, and a repeated one goes on', () => {
  const expected = { team: 'red', job: 'nightly = 2' }
  for (const header of [
    'team=red, job=nightly = 2',
    ' team = red ,,job=nightly = 2,',
    ['team=red', 'job=nightly = 2'],
  ])
    assert.deepEqual(tagsInHeader(header), expected)
  for (const header of [undefined, '', ' , ']) assert.equal(tagsInHeader(header), undefined)
})

test('a line of a batch overrides the tags of the batch, and the same tag twice is one', () => {
  assert.deepEqual(withBatchTags({ team: 'blue' }, { team: 'red', job: 'x' }), { team: 'blue', job: 'x' })
  assert.deepEqual(withHeaderTags({ team: 'red' }, { team: 'red' }), { team: 'red' })
})

test('an empty user names no one', () => {
  assert.equal(labelsOf({ user: '' }), undefined)
  assert.deepEqual(labelsOf({ user: '', tags: { a: 'b' } }), { tags: { a: 'b' } })
})

test('whatever a header accepts, metadata accepts and reads alike', () => {
  const key = fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/)
  const value = fc.stringMatching(/^[!-+\--~]{1,128}$/)
  fc.assert(
    fc.property(
      fc.dictionary(key, value, { minKeys: 1, maxKeys: MAX_TAGS, noNullPrototype: true }),
      (tags) => {
        const header = Object.entries(tags).map(([name, text]) => `${name}=${text}`)
        assert.deepEqual(tagsInHeader(header.join(', ')), tags)
        assert.deepEqual(tagsIn(tags), tags)
      },
    ),
  )
})
