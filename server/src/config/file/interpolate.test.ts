import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { holdsReference, interpolate } from './interpolate.ts'
import { lookUp } from './variable.ts'
import type { Environment } from './variable.ts'

function fill(text: string, env: Environment = {}, files: Readonly<Record<string, string>> = {}) {
  const result = interpolate(text, (name) =>
    lookUp(name, env, (path) => {
      const content = files[path]
      if (content === undefined) throw Object.assign(new Error(), { code: 'ENOENT' })
      return content
    }),
  )
  return 'text' in result ? result.text : result.problems
}

const NOT_SET = 'VAR is not set: set VAR or VAR_FILE, or write a default as in ${VAR:-default}'

for (const [text, env, expected] of [
  ['${VAR}', { VAR: 'x' }, 'x'],
  ['a ${VAR}${VAR} b', { VAR: 'x' }, 'a xx b'],
  ['${VAR}', { VAR: '' }, ''],
  ['${VAR}', {}, [NOT_SET]],
  ['${VAR} ${VAR}', {}, [NOT_SET, NOT_SET]],
  ['${VAR:-default, with: marks}', {}, 'default, with: marks'],
  ['${VAR:-default}', { VAR: '' }, 'default'],
  ['${VAR:-default}', { VAR: 'x' }, 'x'],
  ['${VAR:-}', {}, ''],
  ['${VAR:?ask the platform team}', {}, ['VAR is not set: ask the platform team']],
  ['${VAR:?}', { VAR: '' }, ['VAR is not set: it must be']],
  ['${VAR:?needed}', { VAR: 'x' }, 'x'],
  ['$$', {}, '$'],
  ['$${VAR}', { VAR: 'x' }, '${VAR}'],
  ['$$${VAR}', { VAR: 'x' }, '$x'],
  ['$5 pa$word $', {}, '$5 pa$word $'],
  ['${VAR}', { VAR: '${OTHER} $$' }, '${OTHER} $$'],
] as const) {
  test(`${text} with ${JSON.stringify(env)}`, () => assert.deepEqual(fill(text, env), expected))
}

test('what only looks like a reference is an error, never passed on', () => {
  for (const text of ['${', '${}', '${VAR', '${1A}', '${VAR-x}', '${VAR:=x}', '${A B}', '${A:-${VAR}}']) {
    assert.ok(Array.isArray(fill(text, { VAR: 'x' })), text)
  }
})

test('a variable may stand in a file', () => {
  assert.equal(fill('${VAR}', { VAR_FILE: '/run/v' }, { '/run/v': 'secret\n' }), 'secret')
  assert.deepEqual(fill('${VAR:-x}', { VAR_FILE: '/run/v' }), [
    'VAR_FILE names /run/v, which cannot be read (ENOENT)',
  ])
})

test('text without a dollar is itself, and doubling dollars undoes their meaning', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom('$', '{', '}', ':', '-', '?', 'A', ' ', 'é') }), (text) => {
      const plain = text.replaceAll('$', '')
      assert.equal(fill(plain), plain)
      const escaped = text.replaceAll('$', '$$$$')
      assert.equal(holdsReference(escaped), false)
      assert.equal(fill(escaped), text)
    }),
  )
})

test('values go in as they are, in order, whatever they hold', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.string(), fc.string())), (parts) => {
      const env = Object.fromEntries(parts.map(([, value], index) => [`V${index}`, value]))
      const template = parts.map(([text], index) => `${text.replaceAll('$', '$$$$')}\${V${index}}`).join('')
      assert.equal(fill(template, env), parts.map(([text, value]) => text + value).join(''))
    }),
  )
})
