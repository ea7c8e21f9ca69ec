/** What `torana doctor` finds: each fault is planted on real nodes and servers, and healthy nodes are green throughout. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { Client } from 'pg'
import { openDatabaseStores } from '#node/database.ts'
import { bindListeners } from '#node/listeners.ts'
import { readEnvironment } from '#config/environment.ts'
import { readText } from '#config/file/variable.ts'
import { startNode } from '#main'
import { openPostgres } from '#stores/postgres/database.ts'
import { makeDatedCertificate } from '#test/support/certificates.ts'
import {
  configText,
  GATEWAY_KEY,
  gatewayEnvironment,
  send,
  type GatewayOptions,
} from '#test/support/gateway.ts'
import { eventually, temporaryFolder } from '#test/support/process.ts'
import { hasPgbouncer, startPgbouncer } from '#test/support/pgbouncer.ts'
import { startRedis } from '#test/support/redis.ts'
import { freePort, startPostgresServer, startRedisServer, testPostgres } from '#test/support/servers.ts'
import { databaseOn, preparedTemplate } from '#test/support/template-database.ts'
import { startFakeProvider } from '../../../../lab/fake-provider/server.ts'

const ADMIN = 'admin-token-of-these-tests-0001'
const MODEL = 'plain-w16'
const PLAIN: GatewayOptions = { models: { [MODEL]: { on: 'plain', price: { usdPerMillionTokens: 1 } } } }
const DAY_MS = 86_400_000

const folder = temporaryFolder()
/** Shared by the nodes of an install, unless a test plants another. */
const pictures = `file:${join(folder, 'pictures')}`
// Unlike the server of other tests it waits for the disk, as an operator's does.
const postgres = await startPostgresServer()
const provider = await startFakeProvider()
/** With settings that an operator should not choose. */
const careless = await startPostgresServer({ settings: ['full_page_writes=off', 'autovacuum=off'] })
after(() => Promise.all([postgres.stop(), careless.stop(), provider.close()]))
const template = await preparedTemplate(postgres.url, 'partitions')

/** It begins before the other tests, so that it is old when its own test looks. */
const forgotten = await newDatabase()
const transaction = new Client(forgotten.url)
transaction.on('error', () => {})
await transaction.connect()
await transaction.query('begin')
await transaction.query('select 1')
after(() => transaction.end())

async function newDatabase(): Promise<{ readonly url: string; readonly name: string }> {
  const name = `doctor_${randomUUID().replaceAll('-', '')}`
  await sql(postgres.url, `create database ${name} template ${template}`)
  return { url: databaseOn(postgres.url, name), name }
}

async function sql(url: string, text: string, values: readonly unknown[] = []): Promise<void> {
  const database = openPostgres(url, { poolSize: 1 })
  try {
    await database.query(text, values)
  } finally {
    await database.close()
  }
}

interface Finding {
  readonly name: string
  readonly verdict: string
  readonly says: string
}

interface TestNode {
  /** The status of `POST /v1/embeddings`. */
  embed(key?: string): Promise<number>
  /** All checks of the report, by name. */
  doctor(): Promise<Readonly<Record<string, Finding>>>
  metrics(): Promise<string>
}

async function start(databaseUrl: string, { env, ...options }: GatewayOptions = PLAIN): Promise<TestNode> {
  const home = mkdtempSync(join(folder, 'node-'))
  writeFileSync(join(home, 'torana.yaml'), configText(options, provider.url))
  const environment = gatewayEnvironment(home, {
    LOG_LEVEL: 'silent',
    DATABASE_URL: databaseUrl,
    TORANA_SECRET: 'the secret of these tests, long',
    TORANA_ADMIN_TOKEN: ADMIN,
    ASSETS_URL: pictures,
    ...env,
  })
  const settings = readEnvironment(environment, home, readText)
  const node = await startNode(settings, environment, await bindListeners(settings), openDatabaseStores)
  after(() => node.stop())
  return {
    async embed(key = GATEWAY_KEY) {
      const body = JSON.stringify({ model: MODEL, input: 'a text' })
      const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
      return (await send(`${node.url}/v1/embeddings`, { method: 'POST', headers, body })).status
    },
    async doctor() {
      const { checks } = JSON.parse(await get(`${node.controlUrl}/api/v1/doctor`)) as { checks: Finding[] }
      return Object.fromEntries(checks.map((one) => [one.name, one]))
    },
    metrics: () => get(`${node.controlUrl}/metrics`),
  }
}

async function get(url: string): Promise<string> {
  const headers = { authorization: `Bearer ${ADMIN}` }
  if (url.startsWith('http:')) return (await fetch(url, { headers })).text()
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const asking = request(url, { headers, rejectUnauthorized: false }, (answer) => {
    let text = ''
    answer.setEncoding('utf8').on('data', (part: string) => (text += part))
    answer.on('end', () => resolve(text))
  })
  asking.on('error', reject).end()
  return promise
}

/** A certificate with this many days left. */
function certificate(daysLeft: number, lifeDays: number): Readonly<Record<string, string>> {
  const toMs = Date.now() + daysLeft * DAY_MS
  const { certFile, keyFile } = makeDatedCertificate(folder, randomUUID(), {
    fromMs: toMs - lifeDays * DAY_MS,
    toMs,
  })
  return { TORANA_TLS_CERT: certFile, TORANA_TLS_KEY: keyFile }
}

test('every check is green on two nodes that are well', async () => {
  const { url } = await newDatabase()
  const cache = await startRedisServer()
  const limits = await startRedisServer()
  const env = { CACHE_URL: cache.url, REDIS_URL: limits.url, ...certificate(80, 90) }
  const plain = await start(url)
  const node = await start(url, { ...PLAIN, env })
  for (let request = 0; request < 12; request += 1) assert.equal(await plain.embed(), 200)
  await eventually(async () => {
    const { space: _, ...found } = await node.doctor()
    assert.equal(found['store']?.says, 'PostgreSQL answers')
    assert.equal(found['configuration']?.says, 'the configuration file is in use')
    assert.match(found['agreement']?.says ?? '', /^2 nodes compared/)
    assert.match(found['requests']?.says ?? '', /^0 of the newest 12 requests/)
    assert.deepEqual(
      Object.values(found).filter(({ verdict }) => verdict !== 'ok'),
      [],
    )
    const always = 'durability connections transactions slots autovacuum schema pooler places models'
    for (const name of [...always.split(' '), 'certificate', 'cache', 'redis']) assert.ok(found[name], name)
    assert.equal(found['redis']?.says, 'answers: Redis counts the rate limits')
  })
  assert.match(await node.metrics(), /^torana_tls_certificate_end_timestamp_seconds \d{10}$/m)
})

interface Fault {
  readonly fault: string
  readonly check: string
  readonly verdict: 'warn' | 'fail'
  readonly says: RegExp
  /** Plants the fault, and returns the node that runs the checks. */
  readonly plant: () => Promise<TestNode>
}

const onNewDatabase = async (options: GatewayOptions): Promise<TestNode> =>
  start((await newDatabase()).url, options)

async function withSetting(setting: string): Promise<TestNode> {
  const { url, name } = await newDatabase()
  await sql(postgres.url, `alter database ${name} set ${setting}`)
  return start(url)
}

/** The schema lacks something after the start. */
async function without(statement: string): Promise<TestNode> {
  const { url } = await newDatabase()
  const node = await start(url)
  await sql(url, statement)
  return node
}

async function beside(other: GatewayOptions): Promise<TestNode> {
  const { url } = await newDatabase()
  await start(url, other)
  return start(url)
}

/** Its first node knows the model; the second one cannot compare its own deployment with it. */
async function heldBack(): Promise<TestNode> {
  const { url } = await newDatabase()
  const guarded = (on: string): GatewayOptions => ({ models: { [MODEL]: { on, spaceGuard: true } } })
  const first = await start(url, guarded('plain'))
  assert.equal(await first.embed(), 200)
  const held = await start(url, guarded('status-500'))
  for (let request = 0; request < 12; request += 1) assert.equal(await held.embed(), 503)
  return held
}

const FAULTS: readonly Fault[] = [
  {
    fault: 'PostgreSQL acknowledges commits before they are on disk',
    check: 'durability',
    verdict: 'fail',
    says: /^PostgreSQL has synchronous_commit = off/,
    plant: () => withSetting('synchronous_commit = off'),
  },
  {
    fault: 'PostgreSQL does not wait for the disk at all',
    check: 'durability',
    verdict: 'fail',
    says: /^PostgreSQL has fsync = off/,
    plant: async () => start((await testPostgres()).url),
  },
  {
    fault: 'PostgreSQL does not write whole pages',
    check: 'durability',
    verdict: 'fail',
    says: /^PostgreSQL has full_page_writes = off/,
    plant: () => start(careless.url),
  },
  {
    fault: 'autovacuum is off',
    check: 'autovacuum',
    verdict: 'warn',
    says: /^autovacuum or track_counts is off: tables grow/,
    plant: () => start(careless.url),
  },
  {
    fault: 'autovacuum is off for a table',
    check: 'autovacuum',
    verdict: 'warn',
    says: /^autovacuum is off for keys: tables grow/,
    async plant() {
      const { url } = await newDatabase()
      const node = await start(url)
      await sql(url, 'ALTER TABLE keys SET (autovacuum_enabled = off)')
      return node
    },
  },
  {
    fault: 'a replication slot has no reader',
    check: 'slots',
    verdict: 'warn',
    says: /^slot forgotten has no reader and keeps \d+\.\d MiB of WAL: .*pg_drop_replication_slot\('forgotten'\)$/,
    async plant() {
      await sql(careless.url, `select pg_create_physical_replication_slot('forgotten', true)`)
      return start(careless.url)
    },
  },
  {
    fault: 'an index of the request log was dropped',
    check: 'schema',
    verdict: 'warn',
    says: /: CREATE INDEX requests_by_project ON requests USING btree \(project, request_id DESC\)$/,
    plant: () => without('DROP INDEX requests_by_project'),
  },
  {
    fault: 'a trigger is turned off',
    check: 'schema',
    verdict: 'warn',
    says: /: trigger \w+ ON sealed_hours(;|$)/,
    plant: () => without('ALTER TABLE sealed_hours DISABLE TRIGGER USER'),
  },
  {
    fault: 'a check of a table was dropped',
    check: 'schema',
    verdict: 'warn',
    says: /: constraint usage_events_kind_check ON usage_events$/,
    plant: () => without('ALTER TABLE usage_events DROP CONSTRAINT usage_events_kind_check'),
  },
  {
    fault: 'nodes can open more connections than PostgreSQL allows',
    check: 'connections',
    verdict: 'warn',
    says: /^2 nodes can open 514 connections, PostgreSQL allows 397:/,
    async plant() {
      const { url } = await newDatabase()
      const node = await start(url)
      const setup = { configuration: {}, keyedBy: 'another', blobPlace: null, connections: 500 }
      const text = `INSERT INTO nodes (node_id, host, version, setup) VALUES ($1, 'elsewhere', '1.0.0', $2)`
      await sql(url, text, [randomUUID(), JSON.stringify(setup)])
      return node
    },
  },
  {
    fault: 'two nodes bill different prices',
    check: 'agreement',
    verdict: 'warn',
    says: /^node \S+ on \S+ has other models, prices than .*the same torana\.yaml$/,
    plant: () => beside({ models: { [MODEL]: { on: 'plain', price: { usdPerMillionTokens: 2 } } } }),
  },
  {
    fault: 'two nodes know different keys',
    check: 'agreement',
    verdict: 'warn',
    says: /^node \S+ on \S+ has other keys, projects than /,
    plant: () =>
      beside({
        ...PLAIN,
        projects: { other: { keys: [{ name: 'k', secret: 'a-key-of-one-node-000001' }] } },
      }),
  },
  {
    fault: 'two nodes keep their images in folders of their own',
    check: 'places',
    verdict: 'fail',
    says: /^nodes keep images and batch files in 2 places /,
    plant: () => beside({ ...PLAIN, env: { ASSETS_URL: `file:${join(folder, 'other-pictures')}` } }),
  },
  {
    fault: 'every request is refused',
    check: 'requests',
    verdict: 'fail',
    says: /^12 of the newest 13 requests of 15 minutes failed: 12 space_unprobed\./,
    plant: heldBack,
  },
  {
    fault: 'the only deployment of a model is held back',
    check: 'models',
    verdict: 'fail',
    says: /^this node refuses every request for plain-w16: plain-w16\/status-500 is held-back \(.+\)\./,
    plant: heldBack,
  },
  {
    fault: 'one of two deployments of a model is quarantined',
    check: 'models',
    verdict: 'warn',
    says: /^plain-w16\/other-space is quarantined \(.+\); other deployments serve its requests/,
    plant: () => onNewDatabase({ models: { [MODEL]: { on: ['plain', 'other-space'], spaceGuard: true } } }),
  },
  {
    fault: 'the certificate ends in ten days',
    check: 'certificate',
    verdict: 'warn',
    says: /, in 10\.0 days: renew TORANA_TLS_CERT$/,
    plant: () => onNewDatabase({ ...PLAIN, env: certificate(10, 90) }),
  },
  {
    fault: 'the certificate ends in two days',
    check: 'certificate',
    verdict: 'fail',
    says: /, in 2\.0 days: renew TORANA_TLS_CERT$/,
    plant: () => onNewDatabase({ ...PLAIN, env: certificate(2, 90) }),
  },
  {
    fault: 'the certificate has ended',
    check: 'certificate',
    verdict: 'fail',
    says: /^ended at /,
    plant: () => onNewDatabase({ ...PLAIN, env: certificate(-1, 90) }),
  },
  {
    fault: 'nothing answers at CACHE_URL',
    check: 'cache',
    verdict: 'warn',
    says: /^the vector cache \(CACHE_URL\) can not be used, .*ECONNREFUSED/,
    plant: async () =>
      onNewDatabase({ ...PLAIN, env: { CACHE_URL: `redis://127.0.0.1:${await freePort()}` } }),
  },
]

for (const { fault, check, verdict, says, plant } of FAULTS)
  test(`the doctor finds that ${fault}`, async () => {
    const node = await plant()
    // Nodes describe themselves with their next heartbeat, and the request log is written in batches.
    await eventually(async () => {
      const found = (await node.doctor())[check]
      assert.equal(found?.verdict, verdict, found?.says ?? 'no such check')
      assert.match(found?.says ?? '', says)
    })
  })

test('a Redis without memory is reported as that, however often it has refused a command', async () => {
  const redis = await startRedis()
  const secret = 'a-key-with-a-limit-0000001'
  const projects = { limited: { limits: { requestsPerMinute: 1000 }, keys: [{ name: 'k', secret }] } }
  const node = await onNewDatabase({ ...PLAIN, projects, env: { REDIS_URL: redis.url } })
  const says = async () => (await node.doctor())['redis']?.says ?? ''
  assert.match(await says(), /^answers/)
  await redis.command('CONFIG', 'SET', 'maxmemory', '1')
  for (let look = 0; look < 6; look += 1) {
    assert.match(await says(), /^out of memory: /)
    assert.equal(await node.embed(secret), 200)
    assert.match(await says(), /^out of memory: /)
  }
  await redis.command('CONFIG', 'SET', 'maxmemory', '0')
  await eventually(async () => assert.match(await says(), /^answers/))
  await redis.kill9()
  await eventually(async () => assert.match(await says(), /^unreachable: .*\(.+\)$/))
})

const pooled = { skip: hasPgbouncer ? false : 'PgBouncer is not installed' }

test(
  'a node that is behind PgBouncer says so when its mode becomes that of transactions',
  pooled,
  async () => {
    const pooler = await startPgbouncer((await newDatabase()).url, 'session', { servers: 100 })
    after(() => pooler.stop())
    const node = await start(pooler.url)
    assert.equal((await node.doctor())['pooler']?.verdict, 'ok')
    pooler.change('transaction')
    await eventually(async () => {
      const found = (await node.doctor())['pooler']
      assert.equal(found?.verdict, 'fail')
      assert.match(found?.says ?? '', /^the pooler of DATABASE_URL .*set pool_mode = session$/)
    })
    pooler.change('session')
    await eventually(async () => assert.equal((await node.doctor())['pooler']?.verdict, 'ok'))
  },
)

test('behind PgBouncer in transaction mode no node starts', pooled, async () => {
  const pooler = await startPgbouncer((await newDatabase()).url, 'transaction')
  after(() => pooler.stop())
  await assert.rejects(
    start(pooler.url),
    /^ConfigError.*DATABASE_URL: its pooler .*`pool_mode = session`.*docs\/many-nodes/s,
  )
})

test('a transaction that is open for a minute is named with its session', async () => {
  const node = await start(forgotten.url)
  const [{ pid } = { pid: 0 }] = (await transaction.query<{ pid: number }>('select pg_backend_pid() as pid'))
    .rows
  await eventually(async () => {
    const { verdict, says } = (await node.doctor())['transactions'] ?? {}
    assert.equal(verdict, 'warn')
    assert.match(
      says ?? '',
      new RegExp(
        `^session ${pid} has a transaction open for .* and is idle: .*pg_terminate_backend\\(${pid}\\)`,
      ),
    )
  }, 90_000)
})

test('a short-lived certificate that is renewed in time is never reported', async () => {
  const node = await onNewDatabase({ ...PLAIN, env: certificate(3, 6) })
  assert.equal((await node.doctor())['certificate']?.verdict, 'ok')
})
