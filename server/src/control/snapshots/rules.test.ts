import { test } from 'node:test'
import assert from 'node:assert/strict'
import { addressOf, projectOf, withoutPeople } from './rules.ts'

test('a list in a snapshot is its first rows, and no more than 100', () => {
  for (const [query, address] of [
    ['', '/api/v1/requests?limit=100'],
    ['limit=1000&after=x&outcome=failed', '/api/v1/requests?limit=100&outcome=failed'],
    ['limit=20', '/api/v1/requests?limit=20'],
    ['limit=-1', '/api/v1/requests?limit=-1'],
    ['limit=x', '/api/v1/requests?limit=100'],
  ] as const)
    assert.equal(addressOf('/requests', query), address)
  assert.equal(addressOf('/usage', 'by=model&only=a&only=b'), '/api/v1/usage?by=model&only=a&only=b')
})

test('a snapshot is of one project only if all its parts are', () => {
  assert.equal(projectOf(['project=ads', 'x=1&project=ads']), 'ads')
  for (const queries of [['project=ads', ''], ['project=ads', 'project=search'], [''], []])
    assert.equal(projectOf(queries), undefined)
})

test('a snapshot names no person behind a request', () => {
  const row = {
    id: 1,
    user: 'li',
    tags: { team: 'red' },
    detail: [{ client_address: '10.0.0.1', key: 'a/b' }],
  }
  assert.deepEqual(withoutPeople({ data: [row] }), {
    data: [{ id: 1, user: null, tags: {}, detail: [{ client_address: null, key: 'a/b' }] }],
  })
})
