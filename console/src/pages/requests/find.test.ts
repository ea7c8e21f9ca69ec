import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findingsFor } from './find.ts'

const ID = '01a1e008-2f4c-7d1e-b0aa-4c27d0be9c1e'
const FACETS = {
  outcome: {},
  kind: {},
  model: { 'text-embedding-3-small': 3 },
  key: { 'search/ci': 2 },
  fault: { upstream_failed: 1 },
  user: { 'anna@example.com': 4 },
  tag: { 'team:red': 5 },
}

const CASES: readonly (readonly [typed: string, first: string, others: readonly string[]])[] = [
  [ID.toUpperCase(), `request ${ID}`, [`client ${ID.toUpperCase()}`]],
  ['10.0.0.7', 'address 10.0.0.7', ['client 10.0.0.7', 'user 10.0.0.7']],
  ['2001:db8::7', 'address 2001:db8::7', []],
  ['team=blue', 'tag team:blue', []],
  ['team:red', 'tag team:red', []],
  ['rate_limit_exceeded', 'fault rate_limit_exceeded', []],
  ['anna', 'user anna@example.com', ['client anna', 'user anna']],
  ['embedding-3', 'model text-embedding-3-small', []],
  ['search', 'key search/ci', []],
  [' batch-0417 ', 'client batch-0417', ['user batch-0417']],
]

for (const [typed, first, others] of CASES)
  test(`${typed.trim()} is looked for as: ${first}`, () => {
    const found = findingsFor(typed, FACETS).map((one) =>
      one.kind === 'request' ? `request ${one.id}` : `${one.name} ${one.value}`,
    )
    assert.equal(found[0], first)
    for (const other of others) assert.ok(found.includes(other), other)
    assert.equal(new Set(found).size, found.length)
  })

test('nothing is found for nothing', () => {
  assert.deepEqual(findingsFor('  ', FACETS), [])
  assert.equal(findingsFor('x', undefined).length, 2)
})
