import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openPostgres } from '../../server/src/stores/postgres/database.ts'
import { storeClockOf } from '../../server/src/stores/postgres/store-clock.ts'
import { PostgresReconciler } from '../../server/src/stores/postgres/ledger/reconciler.ts'
import { NODE_TOKEN, startConsoleNode } from '../../server/test/support/console-node.ts'
import { testPostgres } from '../../server/test/support/servers.ts'
import { fillConsoleData, samplesIn, TINY_INSTALL } from './console-data.ts'
import { consoleQuestions, measure } from './console-questions.ts'

test('every GET route of the contract is asked or left out by name, and answers beside invented data that adds up', async () => {
  const { url } = await testPostgres()
  const database = openPostgres(url)
  try {
    const nowMs = Date.now()
    await fillConsoleData(database, TINY_INSTALL, nowMs)
    const { differences, entries } = await new PostgresReconciler(database, storeClockOf(database)).reconcile(
      'all',
    )
    assert.deepEqual(differences, [])
    assert.ok(entries >= TINY_INSTALL.events * 0.99)
    const node = await startConsoleNode({ env: { DATABASE_URL: url } })
    const questions = consoleQuestions({
      ...(await samplesIn(database, nowMs)),
      model: 'plain-w16',
      deployment: 'plain-w16/plain',
    })
    const measured = await measure(node.controlUrl, NODE_TOKEN, questions)
    assert.deepEqual(
      measured.filter(({ status }) => status !== 200).map(({ path, status }) => `${status} ${path}`),
      [],
    )
    assert.ok(measured.length > 40)
  } finally {
    await database.close()
  }
})
