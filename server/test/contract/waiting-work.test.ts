/** What a heartbeat says of the work that waits in the store: what it leaves out, no node does. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { WaitingWork } from '#ports/ledger.ts'
import { MAX_CLOCK_SKEW_MS } from '#ports/upkeep.ts'
import { PostgresLedger } from '#stores/postgres/ledger/ledger.ts'
import { pgliteStores, postgresStores, type LedgerStores } from '#test/support/ledger-stores.ts'
import { hasPostgres } from '#test/support/servers.ts'

/** Values for columns that a row needs and the test does not care about. */
const ANY: Readonly<Record<string, string>> = {
  text: `'x'`,
  uuid: 'gen_random_uuid()',
  'timestamp with time zone': 'now()',
  jsonb: `'{}'`,
  boolean: 'false',
  integer: '1',
  smallint: '1',
  bigint: '1',
  bytea: `'\\x00000000'`,
  ARRAY: `'{}'`,
}

async function insert({ rows }: LedgerStores, table: string, given: Readonly<Record<string, string>>) {
  const columns = await rows<{ name: string; type: string }>(
    `SELECT column_name AS name, data_type AS type FROM information_schema.columns
     WHERE table_name = $1 AND is_nullable = 'NO' AND column_default IS NULL`,
    [table],
  )
  const values = { ...Object.fromEntries(columns.map(({ name, type }) => [name, ANY[type]])), ...given }
  await rows(`INSERT INTO ${table} (${Object.keys(values).join()}) VALUES (${Object.values(values).join()})`)
}

interface Case {
  readonly topic: keyof WaitingWork
  readonly table: string
  /** Of a row with work. */
  readonly row: Readonly<Record<string, string>>
  /** What leaves the row without work. */
  readonly done: string
}

const LATER = `now() + interval '1 hour'`
const EARLIER = `now() - interval '1 hour'`

const cases: readonly Case[] = [
  { topic: 'webhooks', table: 'webhook_events', row: {}, done: `due_at = ${LATER}` },
  { topic: 'webhooks', table: 'webhook_events', row: { due_at: EARLIER }, done: 'ended_at = now()' },
  { topic: 'notices', table: 'alert_notices', row: {}, done: 'ended_at = now()' },
  { topic: 'alerts', table: 'alert_rules', row: { is_on: 'true' }, done: 'is_on = false' },
  { topic: 'alerts', table: 'alert_incidents', row: {}, done: 'ended_at = now()' },
  { topic: 'batches', table: 'batches', row: { state: `'in_progress'` }, done: 'ended_at = now()' },
  { topic: 'files', table: 'files', row: { ends_at: EARLIER }, done: `ends_at = 'infinity'` },
  { topic: 'imageJobs', table: 'image_jobs', row: { state: `'leased'` }, done: `state = 'failed'` },
  { topic: 'imageJobs', table: 'image_jobs', row: { state: `'dispatched'` }, done: `state = 'settled'` },
  {
    topic: 'suspects',
    table: 'suspect_windows',
    row: { next_listing_at: LATER },
    done: 'until_at = now()',
  },
  {
    topic: 'suspects',
    table: 'suspect_windows',
    row: { until_at: 'now()', next_listing_at: EARLIER },
    done: 'next_listing_at = NULL',
  },
  { topic: 'news', table: 'node_news_wanted', row: { at: 'now()' }, done: `at = ${EARLIER}` },
]

const STATES = [
  { topic: 'standings', table: 'space_standings', row: {}, change: 'is_quarantined = true' },
] as const

const ENGINES = [
  ['PostgreSQL', postgresStores()],
  ['PGlite', pgliteStores()],
] as const

for (const [engine, open] of ENGINES)
  test(`${engine}: a heartbeat says where work waits, and where none does`, async () => {
    const stores = await open()
    const { ledger, nodeId, rows } = stores
    const work = async (): Promise<WaitingWork> => {
      const said = await ledger.heartbeat(nodeId)
      assert.ok(said.work)
      return said.work
    }
    const idle = await work()
    for (const [topic, said] of Object.entries(idle))
      if (typeof said === 'boolean') assert.equal(said, topic === 'isEldest', topic)

    for (const { topic, table, row, done } of cases) {
      const given = table === 'alert_notices' ? await anIncident(stores) : {}
      assert.equal((await work())[topic], false, `${topic} before`)
      await insert(stores, table, { ...row, ...given })
      assert.equal((await work())[topic], true, `${topic} with a row of ${table}`)
      await rows(`UPDATE ${table} SET ${done}`)
      assert.equal((await work())[topic], false, `${topic} with ${done}`)
      await rows(`DELETE FROM ${table}`)
    }

    for (const { topic, table, row, change } of STATES) {
      const seen = [(await work())[topic]]
      const steps = [
        () => insert(stores, table, row),
        () => rows(`UPDATE ${table} SET ${change}`),
        () => rows(`DELETE FROM ${table}`),
      ]
      for (const step of steps) {
        await step()
        const said = (await work())[topic]
        assert.notEqual(said, seen.at(-1))
        assert.equal((await work())[topic], said, 'it stays while nothing changes')
        seen.push(said)
      }
    }

    await rows('UPDATE directory_version SET version = version + 1')
    assert.equal(BigInt((await work()).directory), BigInt(idle.directory) + 1n)
  })

for (const [engine, open] of ENGINES)
  test(`${engine}: a heartbeat counts with what it writes when it says which node is the eldest`, async () => {
    const { ledger, nodeId, identifiers, upkeep, rows } = await open()
    const isEldest = async (id: string, clockSkewMs?: number): Promise<boolean | undefined> => {
      const said = (await ledger.heartbeat(id, { clockSkewMs })).work?.isEldest
      assert.equal(said, await upkeep.isEldest(id))
      return said
    }
    const [younger, gateway] = [identifiers.next(), identifiers.next()]
    await ledger.startNode({ id: younger, host: 'there', version: '1.0.0' })
    await ledger.startNode({ id: gateway, host: 'there', version: '1.0.0', role: 'gateway' })
    assert.equal(await isEldest(younger), false)
    assert.equal(await isEldest(younger, 0), false)
    assert.equal(await isEldest(nodeId), true)
    assert.equal(await isEldest(nodeId, MAX_CLOCK_SKEW_MS + 1), false)
    assert.equal(await isEldest(younger), true)
    assert.equal(await isEldest(nodeId, 0), true, 'its clock is right again')
    assert.equal(await isEldest(younger), false)
    await rows(`UPDATE nodes SET seen_at = now() - interval '1 minute' WHERE node_id = $1`, [nodeId])
    assert.equal(await isEldest(younger), true)
    assert.equal(await isEldest(nodeId), true, 'it was silent, and is back')
    assert.equal(await isEldest(gateway, 0), false)
  })

test(
  'a node lives while a table in which work waits is locked, and its workers ask by themselves',
  { skip: hasPostgres ? false : 'needs PostgreSQL' },
  async () => {
    const { database, ledger, nodeId } = await postgresStores()()
    const impatient = new PostgresLedger({
      ...database,
      query: (text, values, name) =>
        database.transaction(async (sql) => {
          await sql.query(`SET LOCAL lock_timeout = '50ms'`)
          return sql.query(text, values, name)
        }),
    })
    await database.transaction(async (sql) => {
      await sql.query('LOCK TABLE batches IN ACCESS EXCLUSIVE MODE')
      const said = await impatient.heartbeat(nodeId)
      assert.deepEqual([said.liveNodes, said.work], [1, undefined])
    })
    assert.notEqual((await ledger.heartbeat(nodeId)).work, undefined)
  },
)

/** The incident that a notice is about, without work of its own. */
async function anIncident(stores: LedgerStores): Promise<Readonly<Record<string, string>>> {
  await insert(stores, 'alert_incidents', { ended_at: 'now()' })
  const [row] = await stores.rows<{ id: string }>('SELECT incident_id AS id FROM alert_incidents')
  return { incident_id: `'${row?.id}'` }
}
