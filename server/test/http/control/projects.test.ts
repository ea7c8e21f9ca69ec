import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startControl } from '#test/support/control.ts'
import { postgresDirectory } from '#test/support/directory.ts'
import { assertFault } from '#test/support/errors.ts'

const { ask, keyStore } = await startControl(await postgresDirectory()())

test('a project is made, changed and deleted', async () => {
  const made = await ask('POST', '/projects', { name: 'search', budget: { usd: 200.000000001, hard: true } })
  assert.equal(made.status, 201, made.text)
  assert.deepEqual(made.body['budget'], { usd: '200.000000001', per: 'month', hard: true })
  assertFault(await ask('POST', '/projects', { name: 'search' }), 'conflict', { words: /already/ })
  const set = await ask('PATCH', '/projects/search', { limits: { requests_per_minute: 6000 } })
  assert.deepEqual(
    [set.body['limits'], set.body['budget']],
    [{ requests_per_minute: 6000 }, { usd: '200.000000001', per: 'month', hard: true }],
  )
  assert.equal((await ask('POST', '/keys', { project: 'search', name: 'ci' })).status, 201)
  const deleted = await ask('DELETE', '/projects/search')
  assert.deepEqual([deleted.status, deleted.text], [204, ''])
  const [key] = await keyStore.listKeys({ projects: ['search'], limit: 1 })
  assert.ok(key?.revokedAtMs)
  assertFault(await ask('POST', '/keys', { project: 'search', name: 'new' }), 'conflict', {
    words: /being deleted/,
  })
  assertFault(await ask('PATCH', '/projects/missing', {}), 'not_found', { words: /no project missing/ })
  assertFault(await ask('DELETE', '/projects/missing'), 'not_found')
})

test('a NUL in a query or a path is the caller’s mistake', async () => {
  for (const path of ['/projects?after=%00', '/keys?after=a%00', '/keys?project=%00'])
    assertFault(await ask('GET', path), 'invalid_parameter')
  assertFault(await ask('PUT', '/credentials/a%00', { secret: 'x' }), 'unknown_path')
  assertFault(await ask('GET', `/projects?after=${'x'.repeat(501)}`), 'invalid_parameter')
})

test('a project of the configuration is listed with its terms, and can only be changed there', async () => {
  await ask('POST', '/keys', { project: 'declared', name: 'more' })
  const { data, has_more: hasMore } = (await ask('GET', '/projects')).body
  assert.deepEqual(
    [data, hasMore],
    [
      [
        {
          name: 'declared',
          managed_by: 'configuration',
          managed_at: 'torana.yaml:8',
          limits: { requests_per_minute: 100 },
          budget: { usd: '12.500000000', per: 'day', hard: true },
          spent: {
            usd: '0.000000000',
            window_start: `${new Date().toISOString().slice(0, 10)}T00:00:00.000Z`,
          },
          keys: 2,
          members: 0,
          webhooks: [],
          created_at: null,
        },
      ],
      false,
    ],
  )
  assertFault(await ask('POST', '/projects', { name: 'declared' }), 'conflict')
  assertFault(await ask('PATCH', '/projects/declared', {}), 'conflict', { words: /torana\.yaml/ })
  assertFault(await ask('DELETE', '/projects/declared'), 'conflict', { words: /torana\.yaml/ })
  assertFault(await ask('POST', '/projects', { name: 'system' }), 'conflict', { words: /built-in/ })
})
