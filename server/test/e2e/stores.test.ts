/** Nodes and their database: started before it, together on an empty one, beside a newer one, and killed upon it. */
import assert from 'node:assert/strict'
import { cpSync, existsSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { openPostgres, type Database } from '#stores/postgres/database.ts'
import { migrate } from '#stores/postgres/migrate.ts'
import { openPglite } from '#stores/postgres/pglite.ts'
import { askAt, doorTo, startNodeProcess, type NodeProcess } from '#test/support/cluster.ts'
import { GATEWAY_KEY, type Asked, type GatewayOptions } from '#test/support/gateway.ts'
import { eventually, temporaryFolder } from '#test/support/process.ts'
import { testPostgres } from '#test/support/servers.ts'
import { startFakeProvider } from '../../../lab/fake-provider/server.ts'

const FILE_KEY = 'key-of-torana-yaml-for-stores'
const BUDGET_KEY = 'key-of-torana-yaml-with-budget'
const MIGRATIONS = join(import.meta.dirname, '../../src/stores/postgres/migrations')
const price = { usdPerMillionTokens: 1 }
const options: GatewayOptions = {
  models: { 'plain-w16': { on: 'plain', price }, 'slow-w16': { on: 'slow-30', price } },
  projects: {
    open: { keys: [{ name: 'k', secret: FILE_KEY }] },
    hard: { keys: [{ name: 'k', secret: BUDGET_KEY }], budget: { usd: 1, per: 'total', hard: true } },
  },
}
const provider = await startFakeProvider()
after(() => provider.close())

const ask = (node: NodeProcess, key: string, model = 'plain-w16'): Promise<Asked> =>
  askAt(node.url, { model, input: 'a text' }, { key })
const start = (env: Readonly<Record<string, string>>, folder?: string): Promise<NodeProcess> =>
  startNodeProcess(options, provider.url, { env, ...(folder !== undefined && { folder }) })

function opened(url: string): Database {
  const database = openPostgres(url, { poolSize: 2 })
  after(() => database.close())
  return database
}

async function postedIn(database: Database): Promise<string[]> {
  const rows = await database.query<{ request_id: string }>(
    `SELECT request_id FROM usage_events WHERE kind = 'post' ORDER BY request_id`,
  )
  return rows.map((row) => row.request_id)
}

async function assertPosted(database: Database, answers: readonly Asked[]): Promise<void> {
  const posted = await postedIn(database)
  for (const { status, headers, text } of answers) {
    assert.equal(status, 200, text)
    const requestId = headers.get('x-request-id') ?? ''
    assert.equal(posted.filter((id) => id === requestId).length, 1, requestId)
  }
}

test('PostgreSQL away at a restart: keys of torana.yaml are served, records wait on disk and are written when it comes', async () => {
  const { url } = await testPostgres()
  const behind = new URL(url)
  const door = await doorTo(Number(behind.port))
  behind.port = String(door.port)
  await door.open()
  const before = await start({ DATABASE_URL: behind.href })
  // Without its copy of the stored keys, the next process would not be ready.
  await eventually(async () => assert.ok(existsSync(join(before.folder, 'data/keys.packed'))))
  before.child.kill('SIGINT')
  assert.equal(await before.exit, 0)
  door.shut()
  const node = await start({ DATABASE_URL: behind.href }, before.folder)
  assert.equal((await fetch(`${node.url}/readyz`)).status, 200)
  const answers = await Promise.all(Array.from({ length: 5 }, () => ask(node, FILE_KEY)))
  answers.push(await ask(node, GATEWAY_KEY))
  for (const { status, text } of answers) assert.equal(status, 200, text)
  const refused = await ask(node, BUDGET_KEY)
  assert.deepEqual([refused.status, refused.body.error.code], [503, 'budget_store_unreachable'])
  assert.ok(spoolFiles(node).length > 0, 'nothing waits on disk')

  await door.open()
  const database = opened(url)
  await eventually(() => assertPosted(database, answers))
  await eventually(async () => assert.deepEqual(spoolFiles(node), []))
  assert.equal((await ask(node, BUDGET_KEY)).status, 200)
})

test('two nodes that start at once on an empty database: each migration runs once, and both serve', async () => {
  const { url } = await testPostgres()
  const database = opened(url)
  const nodes = await Promise.all([start({ DATABASE_URL: url }), start({ DATABASE_URL: url })])
  const migrations = await database.query<{ name: string }>(
    'SELECT name FROM torana_migrations ORDER BY version',
  )
  assert.deepEqual(
    migrations.map(({ name }) => name),
    readdirSync(MIGRATIONS)
      .filter((name) => name.endsWith('.sql'))
      .toSorted(),
  )
  const answers = await Promise.all(
    nodes.flatMap((node) => [FILE_KEY, BUDGET_KEY].map((key) => ask(node, key))),
  )
  await eventually(() => assertPosted(database, answers))
  assert.deepEqual((await migrate(database)).applied, [], 'a migration ran twice')

  // A newer version starts while these two work: its migrations only ever add.
  const newer = temporaryFolder()
  cpSync(MIGRATIONS, newer, { recursive: true })
  writeFileSync(
    join(newer, '9001-of-a-newer-version.sql'),
    `${['usage_events', 'budgets', 'leases', 'nodes', 'keys', 'requests'].map((table) => `ALTER TABLE ${table} ADD COLUMN newer text;`).join('\n')}
     CREATE TABLE newer_things (id int PRIMARY KEY);`,
  )
  assert.deepEqual((await migrate(database, { folder: newer })).applied, ['9001-of-a-newer-version.sql'])
  const started = await start({ DATABASE_URL: url })
  await eventually(async () =>
    assert.match(started.stdout(), /"unknown":\[9001\].*schema is newer than this node/),
  )
  const later = await Promise.all(
    [...nodes, started].flatMap((node) => [FILE_KEY, BUDGET_KEY].map((key) => ask(node, key))),
  )
  await eventually(() => assertPosted(database, later))
  for (const { stdout } of [...nodes, started]) assert.doesNotMatch(stdout(), /"level":"error"/)
})

test('the built-in database: one process has it, a second one names it and ends', async () => {
  const node = await start({ DATABASE_URL: '' })
  const words = `it ended with 1: [^]*torana: .*/data/postgres is in use by process ${node.child.pid} on .*, since \\d{4}-`
  await assert.rejects(start({ DATABASE_URL: '' }, node.folder), { message: new RegExp(words) })
  assert.equal((await ask(node, FILE_KEY)).status, 200)

  // Killed in the middle of its work: its answers are recorded, and what it had begun is known.
  const answers: Asked[] = []
  const client = async (): Promise<void> => {
    for (;;) answers.push(await ask(node, FILE_KEY, 'slow-w16'))
  }
  const clients = Array.from({ length: 8 }, () => client().catch(() => {}))
  await eventually(async () => assert.ok(answers.length > 40))
  node.child.kill('SIGKILL')
  await Promise.all(clients)

  const again = await start({ DATABASE_URL: '' }, node.folder)
  assert.equal((await ask(again, FILE_KEY)).status, 200)
  again.child.kill('SIGTERM')
  assert.equal(await again.exit, 0)
  const database = await openPglite(join(node.folder, 'data/postgres'))
  try {
    await assertPosted(database, answers)
    const rows = await database.query<{ call_id: string }>('SELECT call_id FROM usage_events')
    const known = new Set(rows.map((row) => row.call_id))
    const calls = provider.entries().filter(({ served, model }) => served && model === 'slow-w16')
    for (const { callId } of calls)
      assert.ok(known.has(callId ?? ''), `${callId} was served and is in no row`)
  } finally {
    await database.close()
  }
})

/** Entries that wait on the disk of a node. */
/** Those that hold something: the next one is open before it is needed. */
function spoolFiles({ folder }: NodeProcess): string[] {
  const parent = join(folder, 'data/nodes')
  if (!existsSync(parent)) return []
  return readdirSync(parent, { recursive: true, encoding: 'utf8' }).filter(
    (path) => /spool-\d+$/.test(path) && statSync(join(parent, path)).size > 0,
  )
}
