/**
 * `npm run lab -- check/monitoring`: a real Prometheus scrapes two nodes with traffic. Each query of the dashboards
 * must answer, and each alert is made to fire by its own fault and must be seen in Alertmanager. Takes some
 * five minutes. Reports what it can't do here.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { openPostgres } from '#stores/postgres/database.ts'
import { askAt, startNodeProcess } from '#test/support/cluster.ts'
import { GATEWAY_KEY, type GatewayOptions } from '#test/support/gateway.ts'
import { freePort, startPostgresServer, startRedisServer, temporaryFolder } from '#test/support/servers.ts'
import { DASHBOARDS } from '../../../lab/monitoring/dashboards.ts'
import { startFakeProvider } from '../../../lab/fake-provider/server.ts'
import { missingPrograms, startMonitoring } from './prometheus.ts'

const DEPLOY = join(import.meta.dirname, '../../../deploy/monitoring')
const FAKETIME = '/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1'
const SEEN_WITHIN_MS = 150_000
const BUDGET_KEY = 'budget-test-key-00000001'

const missing = missingPrograms()
if (missing.length > 0) {
  console.log(`SKIPPED: this machine has no ${missing.join(', ')}`)
  process.exit(0)
}
for (const args of [
  ['check', 'rules', 'alerts.yaml'],
  ['test', 'rules', 'alerts.test.yaml'],
]) {
  const { status, stdout, stderr } = spawnSync('promtool', args, { cwd: DEPLOY, encoding: 'utf8' })
  console.log(`promtool ${args.join(' ')}: ${status === 0 ? 'passed' : `FAILED\n${stdout}${stderr}`}`)
  if (status !== 0) process.exit(1)
}

const folder = temporaryFolder('monitoring')
const small = join(folder, 'b')
mkdirSync(small)
const hasSmallDisk = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=24m', 'tmpfs', small]).status === 0
const hasFaketime = existsSync(FAKETIME)
mkdirSync(join(folder, 'a'))

const provider = await startFakeProvider()
const postgres = await startPostgresServer()
const redis = await startRedisServer()
const options: GatewayOptions = {
  models: {
    'up-w16': { on: 'plain', price: { usdPerMillionTokens: 1000 }, cache: { ttl: '1h' } },
    'down-w16': { on: 'status-500' },
    'slow-w16': { on: 'slow-20000', price: { usdPerMillionTokens: 1 } },
    'moved-w16': { on: ['plain', 'other-space'], spaceGuard: true },
  },
  images: {
    'picture-1': { on: 'plain', price: { usdPerImage: 0.01 } },
  },
  projects: {
    poor: {
      keys: [{ name: 'k', secret: BUDGET_KEY }],
      budget: { usd: 0.3, per: 'total', hard: true },
    },
  },
  limits: { maxConnections: 40 },
}
const ports = { a: await freePort(), b: await freePort() }
const shared = { DATABASE_URL: postgres.url, REDIS_URL: redis.url, LOG_LEVEL: 'warn' }
const bucket = 's3://pictures/here?region=eu-central-1&endpoint=http://127.0.0.1:9'
const startA = () =>
  startNodeProcess(options, provider.url, {
    folder: join(folder, 'a'),
    env: {
      ...shared,
      CONTROL_PORT: String(ports.a),
      ASSETS_URL: bucket,
      AWS_ACCESS_KEY_ID: 'nobody',
      AWS_SECRET_ACCESS_KEY: 'nothing',
    },
  })
let a = await startA()
// Another configuration than the first node's, a clock that is ahead, and a disk that is soon full.
const b = await startNodeProcess({ ...options, limits: { maxConnections: 41 } }, provider.url, {
  folder: small,
  env: {
    ...shared,
    CONTROL_PORT: String(ports.b),
    ...(hasFaketime && { LD_PRELOAD: FAKETIME, FAKETIME: '+30s', DONT_FAKE_MONOTONIC: '1' }),
  },
})
const monitoring = await startMonitoring(folder, [`127.0.0.1:${ports.a}`, `127.0.0.1:${ports.b}`])
const database = openPostgres(postgres.url, { poolSize: 2 })

const over = new AbortController()
let count = 0
/** Traffic of every kind, on both nodes, until the end. */
async function traffic(): Promise<void> {
  while (!over.signal.aborted) {
    count += 1
    const text = `text ${count}`
    const asks = [
      askAt(a.url, { model: 'up-w16', input: [text, 'again'] }, { key: GATEWAY_KEY }),
      askAt(b.url, { model: 'up-w16', input: text }, { key: GATEWAY_KEY }),
      askAt(a.url, { model: 'down-w16', input: text }, { key: GATEWAY_KEY }),
    ]
    if (count < 200) asks.push(askAt(a.url, { model: 'up-w16', input: text.repeat(3) }, { key: BUDGET_KEY }))
    if (count % 10 === 1)
      asks.push(
        askAt(
          a.url,
          { model: 'picture-1', prompt: text },
          { key: GATEWAY_KEY, path: '/v1/images/generations' },
        ),
      )
    await Promise.allSettled(asks)
    await pause(200)
  }
}
const running = traffic()
const rows: string[][] = []

/** Causes the fault, and waits until each of the alerts has reached Alertmanager. */
async function expectAlerts(fault: string, names: readonly string[], make?: () => unknown): Promise<void> {
  const startedMs = performance.now()
  await make?.()
  for (const name of names) {
    while (!(await monitoring.alerts()).has(name) && performance.now() - startedMs < SEEN_WITHIN_MS)
      await pause(500)
    const isSeen = (await monitoring.alerts()).has(name)
    const seconds = Math.round((performance.now() - startedMs) / 1000)
    rows.push([name, fault, isSeen ? `seen after ${seconds} s` : 'NOT SEEN'])
    console.log(`${name}: ${rows.at(-1)?.[2]}`)
  }
}

await pause(5000)
// Before the first comparison, a minute after the start.
await database.query('UPDATE usage_hours SET posts = posts + 1')
await expectAlerts('the only deployment of a model answers 500', ['ToranaDeploymentEjected', 'ToranaErrors'])
await expectAlerts('a deployment with the vectors of another model', ['ToranaDeploymentQuarantined'])
if (hasFaketime) await expectAlerts('a node whose clock is 30 s ahead', ['ToranaClockSkew'])
await expectAlerts('two nodes with different files', ['ToranaNodesDiffer'])
await expectAlerts('a bucket that does not answer', ['ToranaImageSpoolStuck'])
await expectAlerts('a torana.yaml that is wrong', ['ToranaConfigRefused'], () =>
  writeFileSync(join(folder, 'a', 'torana.yaml'), 'models: 7\n'),
)
await expectAlerts('more connections than allowed', ['ToranaOverloaded'], async () => {
  const { hostname, port } = new URL(a.url)
  for (let round = 0; round < 20; round += 1) {
    const sockets: Socket[] = Array.from({ length: 80 }, () =>
      connect(Number(port), hostname).on('error', () => {}),
    )
    await pause(300)
    for (const socket of sockets) socket.destroy()
  }
})
await expectAlerts('sums of the ledger that somebody changed', ['ToranaLedgerDiffers'])
await expectAlerts('a hard budget that is spent', ['ToranaBudgetNearEnd'])

let queries = 0
let empty = 0
for (const { title, panels } of DASHBOARDS)
  for (const panel of panels)
    for (const { expr } of panel.queries) {
      queries += 1
      const series = await monitoring.ask(expr.replaceAll('$__rate_interval', '1m'))
      if (series > 0) continue
      empty += 1
      console.log(`NO DATA: ${title}, ${panel.title}: ${expr}`)
    }
console.log(`dashboards: ${queries - empty} of ${queries} queries answer with data`)

await expectAlerts('a table that is locked while PostgreSQL answers', ['ToranaSpoolStuck'], () => {
  void database
    .transaction(async (sql) => {
      await sql.query('LOCK TABLE usage_events IN ACCESS EXCLUSIVE MODE')
      await pause(20_000)
    })
    .catch(() => {})
})
await expectAlerts('Redis is gone', ['ToranaLimiterLocal'], () => redis.kill9())
await pause(20_000)
await expectAlerts('PostgreSQL is gone', ['ToranaStoreAway'], () => postgres.kill9())
await postgres.restart()
if (hasSmallDisk)
  await expectAlerts('a full disk', ['ToranaDiskAlmostFull', 'ToranaDiskFailing'], () =>
    spawnSync('dd', ['if=/dev/zero', `of=${join(small, 'full')}`, 'bs=64k'], { stdio: 'ignore' }),
  )
await expectAlerts('a node that was killed', ['ToranaNodeDown'], () => b.child.kill('SIGKILL'))
await expectAlerts('a node that was killed in the middle of a call', ['ToranaUnknownCalls'], async () => {
  void askAt(a.url, { model: 'slow-w16', input: 'slow' }, { key: GATEWAY_KEY }).catch(() => {})
  await pause(3000)
  a.child.kill('SIGKILL')
  await a.exit
  a = await startA()
})
await expectAlerts('a node that did not come back', ['ToranaNodeSilent'])

over.abort()
await running
for (const row of rows) console.log(`| ${row.join(' | ')} |`)
if (!hasFaketime) console.log('SKIPPED: ToranaClockSkew, this machine has no libfaketime')
if (!hasSmallDisk) console.log('SKIPPED: ToranaDiskFailing, a small disk cannot be mounted here')
const unseen = rows.filter(([, , seen]) => seen === 'NOT SEEN').length
console.log(`${rows.length - unseen} of ${rows.length} alerts seen in Alertmanager`)
monitoring.stop()
a.child.kill('SIGKILL')
await a.exit
await Promise.allSettled([database.close(), provider.close(), postgres.stop(), redis.stop()])
if (hasSmallDisk) spawnSync('umount', [small])
rmSync(folder, { recursive: true, force: true })
process.exit(unseen > 0 || empty > 0 ? 1 : 0)
