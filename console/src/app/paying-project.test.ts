import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defaultProject } from './paying-project.ts'

const NAMES = ['ads', 'search', 'shop']

for (const [title, names, scope, last, expected] of [
  ['the project in scope', NAMES, 'shop', 'search', 'shop'],
  ['else the last one used', NAMES, undefined, 'search', 'search'],
  ['else the only one', ['ads'], undefined, null, 'ads'],
  ['and never just the first', NAMES, undefined, null, undefined],
  ['a project that is gone is not used', NAMES, 'old', 'older', undefined],
] as const)
  test(`the project that pays: ${title}`, () => {
    assert.equal(defaultProject(names, scope, last), expected)
  })
