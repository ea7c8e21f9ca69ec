import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { addressOf, curlOf, exampleOf, matches, operationsOf, typeText, type Document } from './operations.ts'

const documentOf = (name: string): Document =>
  JSON.parse(
    readFileSync(join(import.meta.dirname, '../../../../contract', `${name}.openapi.json`), 'utf8'),
  ) as Document
const control = documentOf('control')
const gateway = documentOf('gateway')
const all = [...operationsOf(control), ...operationsOf(gateway)]

test('every operation of a contract has an id of its own, a group, a sentence and answers', () => {
  for (const document of [control, gateway]) {
    const ids = operationsOf(document).map(({ id }) => id)
    assert.deepEqual(ids, [...new Set(ids)])
  }
  for (const { id, group, summary, answers } of all) {
    assert.match(group, /^[\w-]+$/, id)
    assert.ok(summary.length > 3 && answers.length > 0, id)
  }
  assert.ok(operationsOf(control).every(({ permission }) => permission !== undefined))
})

test('every body has an example that is JSON, and every schema a text', () => {
  for (const document of [control, gateway])
    for (const { id, bodies, answers, parameters } of operationsOf(document)) {
      for (const [, schema] of bodies)
        assert.notEqual(JSON.stringify(exampleOf(schema, document)), undefined, id)
      for (const schema of [...bodies.map(([, one]) => one), ...answers.map(([, , one]) => one ?? {})])
        assert.notEqual(typeText(schema), '', id)
      for (const { schema = {} } of parameters) assert.notEqual(typeText(schema), '', id)
    }
})

test('an operation is found by words of its method, path, sentence and id', () => {
  const found = (typed: string) => all.filter((one) => matches(one, typed)).map(({ id }) => id)
  assert.ok(found('post embeddings').includes('createEmbeddings'))
  assert.ok(found('rotate key').length > 0)
  assert.deepEqual(found('no such words'), [])
})

test('an address has what was typed, encoded, and nothing that was left empty', () => {
  const operation = all.find(({ id }) => id === 'listKeys')!
  assert.equal(
    addressOf(operation, { q: 'a b', limit: '', state: 'active' }),
    '/api/v1/keys?q=a+b&state=active',
  )
  const one = { path: '/api/v1/keys/{project}/{name}', parameters: [] }
  assert.equal(addressOf(one, { project: 'a/b', name: 'x' }), '/api/v1/keys/a%2Fb/x')
})

test('the call in a shell survives quotes', () => {
  const operation = all.find(({ id }) => id === 'createProject')!
  assert.equal(
    curlOf(operation, 'http://x/api/v1/projects', '$TORANA_TOKEN', `{"name": "it's"}`),
    `curl -X POST 'http://x/api/v1/projects' \\\n  -H "Authorization: Bearer $TORANA_TOKEN" \\\n  -H 'Content-Type: application/json' \\\n  -d '{"name": "it'\\''s"}'`,
  )
})
