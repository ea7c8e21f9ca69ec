/** Files that an earlier version stored with a scan of any size: listing them does not read it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openPostgres } from '#stores/postgres/database.ts'
import { BatchCaller, embeddingLines } from '#test/support/batches.ts'
import { assertFault } from '#test/support/errors.ts'
import { startGateway } from '#test/support/gateway.ts'
import { testPostgres } from '#test/support/servers.ts'

const { url } = await testPostgres()
const gateway = await startGateway({
  models: { 'plain-w8': { on: 'plain' } },
  env: { DATABASE_URL: url, TORANA_SECRET: 'the secret of these tests, long' },
})
const caller = new BatchCaller(gateway.url)

test('a file whose scan is larger than a scan may be is found and read as before, and makes no batch', async () => {
  const database = openPostgres(url, { poolSize: 1 })
  const id = await caller.upload(embeddingLines('plain-w8', ['a']))
  // Not JSON: reading it fails.
  await database.query('UPDATE files SET scan = $2 WHERE file_id = $1', [id, `{${'m'.repeat(32_000_000)}`])
  for (const path of [`/v1/files/${id}`, '/v1/files', `/v1/files/${id}/content`]) {
    const response = await fetch(`${gateway.url}${path}`, {
      headers: { authorization: `Bearer ${gateway.key}` },
    })
    assert.equal(response.status, 200, await response.text())
  }
  const wish = { input_file_id: id, endpoint: '/v1/embeddings', completion_window: '24h' }
  assertFault(await gateway.ask(wish, { path: '/v1/batches' }), 'invalid_parameter', {
    param: 'input_file_id',
    words: /earlier version.*again/,
  })
  const held = await database.query('SELECT 1 FROM file_holds WHERE file_id = $1', [id])
  assert.equal(held.length, 0)
  await database.close()
})
