/** A node that an operator ends although it lives. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { openPostgres } from '#stores/postgres/database.ts'
import { askAt, startNodeProcess, type NodeProcess } from '#test/support/cluster.ts'
import type { GatewayOptions } from '#test/support/gateway.ts'
import { eventually } from '#test/support/process.ts'
import { testPostgres } from '#test/support/servers.ts'
import { startFakeProvider } from '../../../lab/fake-provider/server.ts'

const KEY = 'key-of-torana-yaml-for-ended'
const options: GatewayOptions = {
  models: { 'slow-w16': { on: 'slow-2000', price: { usdPerMillionTokens: 1 } } },
  projects: { p: { keys: [{ name: 'k', secret: KEY }] } },
}
const provider = await startFakeProvider()
const { url } = await testPostgres()
const database = openPostgres(url, { poolSize: 2 })
after(() => Promise.all([provider.close(), database.close()]))
const env = { DATABASE_URL: url }

/** Resolves when there was a node to end. */
async function endNodes(): Promise<void> {
  const ended = await database.query(
    'UPDATE nodes SET ended_at = now() WHERE ended_at IS NULL RETURNING node_id',
  )
  assert.equal(ended.length, 1)
}

async function assertStopsOnce({ exit, stdout, stderr }: NodeProcess): Promise<void> {
  assert.equal(await exit, 1)
  const count = (words: string): number => stdout().split(words).length - 1
  assert.equal(count('"message":"another node or an operator ended this node: it stops"'), 1, stdout())
  assert.equal(count('"message":"stopped"'), 1, stdout())
  assert.doesNotMatch(stderr(), /Error:|^ +at /m)
}

test('it answers what it has begun, stops once, and leaves its record for the next start', async () => {
  const node = await startNodeProcess(options, provider.url, { env })
  const begun = askAt(node.url, { model: 'slow-w16', input: 'a text' }, { key: KEY })
  await eventually(async () => assert.equal(provider.counters().inFlight, 1))
  await endNodes()
  const { status, headers } = await begun
  assert.equal(status, 200)
  await assertStopsOnce(node)
  const posted = (): Promise<readonly unknown[]> =>
    database.query(`SELECT * FROM usage_events WHERE kind = 'post' AND request_id = $1`, [
      headers.get('x-request-id'),
    ])
  assert.equal((await posted()).length, 0, 'nothing is taken in the name of an ended node')
  const next = await startNodeProcess(options, provider.url, { env, folder: node.folder })
  assert.equal((await posted()).length, 1)
  next.child.kill('SIGTERM')
  assert.equal(await next.exit, 0)
})

test('so it does when it is ended while it starts', async () => {
  // A start waits two seconds for the first probe of a guarded deployment. By then the node is known in the database.
  const guarded = { models: { 'slow-w16': { on: 'slow-5000', spaceGuard: true } } }
  const starting = startNodeProcess(guarded, provider.url, { env })
  await eventually(endNodes)
  await assertStopsOnce(await starting)
})

test('so it does when it is ended before its first heartbeat', async () => {
  await database.query(
    `CREATE FUNCTION end_node() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.ended_at = now(); RETURN NEW; END'`,
  )
  await database.query(
    'CREATE TRIGGER end_node BEFORE INSERT ON nodes FOR EACH ROW EXECUTE FUNCTION end_node()',
  )
  await assertStopsOnce(await startNodeProcess(options, provider.url, { env }))
})
