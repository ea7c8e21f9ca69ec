/**
 * Three real nodes on one PostgreSQL. Admins change the same pairs of models at the same time, at any node, while nodes are killed,
 * connections of PostgreSQL are cut within transactions and PostgreSQL itself is killed. Afterwards the history, the objects, the
 * audit and every node must agree. `--seconds 60 --seed 1`. Exits with 1 when anything differs.
 */
import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { Client } from 'pg'
import { seeded } from '../../../server/test/support/seeded.ts'
import { startFakeProvider } from '../../fake-provider/server.ts'
import { until } from '../../processes.ts'
import { Report } from '../../report.ts'
import { newTorana, type Torana } from '../../torana.ts'
import { Workplace } from '../../workplace.ts'
import { ADMIN, asked, change, modelsOf, routingAt, type Attempt } from './admins.ts'
import { judge } from './judge.ts'

const { values } = parseArgs({
  options: { seconds: { type: 'string', default: '60' }, seed: { type: 'string', default: '1' } },
})
const PAIRS = 3
const ADMINS = 6
/** Changes whose way to every node is timed, after the storm. */
const TIMED = 20
const PATIENCE_MS = 60_000

const random = seeded(Number(values.seed))
const one = <Value>(of: readonly Value[]): Value => of[Math.floor(random() * of.length)] as Value

await using place = new Workplace('config-changes')
const postgres = await place.postgres()
const provider = await startFakeProvider()
const embedding = { kind: 'embedding', embedding: { dimensions: 8 }, price: 'free', spaceGuard: false }
const config = {
  upstreams: { plain: { dialect: 'openai', baseUrl: `${provider.url}/plain/v1`, apiKey: 'sk-lab' } },
  models: { 'declared-w8': { ...embedding, deployments: [{ upstream: 'plain' }] } },
}
const env = {
  DATABASE_URL: postgres.url,
  TORANA_SECRET: 'the secret of the lab'.repeat(3),
  TORANA_ADMIN_TOKEN: ADMIN,
}
const nodes: readonly Torana[] = await Promise.all(
  ['one', 'two', 'three'].map((name) => newTorana({ folder: place.folder, name, config, env })),
)
await Promise.all(nodes.map((node) => node.start()))

const upstream = { dialect: 'openai', baseUrl: `${provider.url}/plain/v1` }
const deployments = [{ upstream: 'one', weight: 1 }, { upstream: 'two' }]
const first = await asked(nodes[0] as Torana, 'POST', '/configuration/changes', {
  changes: [
    ...['one', 'two'].map((name) => ({ object: 'upstream', name, entry: upstream, base: null })),
    ...Array.from({ length: PAIRS }, (_, pair) => modelsOf(pair)).flatMap((models) =>
      models.map((name) => ({ object: 'model', name, entry: { ...embedding, deployments }, base: null })),
    ),
  ],
})
if (first.status !== 201) throw new Error(await first.text())

const attempts: Attempt[] = []
const counts = { killedNodes: 0, cutTransactions: 0, killedPostgres: 0 }
const endMs = Date.now() + Number(values.seconds) * 1000
const alive = (): readonly Torana[] => nodes.filter((node) => !node.hasEnded)

async function admin(): Promise<void> {
  while (Date.now() < endMs) {
    const attempt: Attempt = {
      stamp: attempts.length + 2,
      pair: Math.floor(random() * PAIRS),
      outcome: 'unknown',
      id: undefined,
    }
    attempts.push(attempt)
    await change(one(alive()), one(alive()), attempt)
    await wait(random() * 20)
  }
}

/** One node at a time, so that admins always find two. */
async function killNodes(): Promise<void> {
  while (Date.now() < endMs) {
    await wait(2000 + random() * 3000)
    const node = one(nodes)
    await node.kill9()
    counts.killedNodes += 1
    await wait(random() * 1000)
    await node.start()
  }
}

/** Ends connections while a change is being made: its transaction is lost midway. */
async function cutTransactions(): Promise<void> {
  while (Date.now() < endMs) {
    await wait(random() * 400)
    try {
      counts.cutTransactions += await withDatabase(async (client) => {
        const { rowCount } = await client.query(
          `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
           WHERE state = 'idle in transaction' AND query LIKE '%configuration_%' AND pid <> pg_backend_pid()`,
        )
        return rowCount ?? 0
      })
    } catch {
      // PostgreSQL is down just now.
    }
  }
}

async function killPostgres(): Promise<void> {
  while (Date.now() < endMs) {
    await wait(8000 + random() * 4000)
    await postgres.kill9()
    await wait(500 + random() * 1500)
    await postgres.restart()
    counts.killedPostgres += 1
  }
}

async function withDatabase<Result>(run: (client: Client) => Promise<Result>): Promise<Result> {
  const client = new Client({ connectionString: postgres.url })
  client.on('error', () => {})
  await client.connect()
  try {
    return await run(client)
  } finally {
    await client.end()
  }
}

await Promise.all([...Array.from({ length: ADMINS }, admin), killNodes(), cutTransactions(), killPostgres()])
for (const node of nodes) if (node.hasEnded) await node.start()
for (const node of nodes)
  await until(`${node.name} answers`, PATIENCE_MS, async () => {
    const answer = await asked(node, 'GET', `/routing/${modelsOf(0)[0]}`).catch(() => undefined)
    return answer?.status === 200
  })

const arrivals: number[] = []
for (let turn = 0; turn < TIMED; turn += 1) {
  const attempt: Attempt = {
    stamp: attempts.length + 2,
    pair: turn % PAIRS,
    outcome: 'unknown',
    id: undefined,
  }
  attempts.push(attempt)
  await change(one(nodes), one(nodes), attempt)
  if (attempt.outcome !== 'saved') throw new Error(`a change in peace ended as ${attempt.outcome}`)
  const savedMs = performance.now()
  const isThere = async (node: Torana, model: string) =>
    (await routingAt(node, model)).deployments[0]?.weight === attempt.stamp
  for (const node of nodes)
    for (const model of modelsOf(attempt.pair))
      await until(`${node.name} has ${attempt.stamp}`, PATIENCE_MS, () => isThere(node, model))
  arrivals.push(performance.now() - savedMs)
}

const { problems, committed, recovered } = await withDatabase((client) => judge(client, attempts, PAIRS))
const chain = (await (await asked(nodes[0] as Torana, 'GET', '/audit?limit=1')).json()) as {
  chain: { intact: boolean; entries: number; verified: number }
}
const of = (outcome: Attempt['outcome']): string =>
  String(attempts.filter((attempt) => attempt.outcome === outcome).length)
const slowest = Math.max(...arrivals)
const report = new Report()
report.figure('attempts of several admins', String(attempts.length))
report.figure('saved, and answered so', of('saved'))
report.figure('refused: another admin was first', of('stale'))
report.figure('lost answers, of which were saved', `${of('unknown')}, ${recovered}`)
report.figure('nodes killed', String(counts.killedNodes))
report.figure('transactions cut midway', String(counts.cutTransactions))
report.figure('PostgreSQL killed', String(counts.killedPostgres))
report.figure('changes in the history', String(committed))
report.aim(
  'partial changes, lost updates, forgotten changes',
  String(problems.length),
  '0',
  problems.length === 0,
)
report.aim('audit chain', chain.chain.intact ? 'intact' : 'BROKEN', 'intact', chain.chain.intact)
report.aim('slowest way to all nodes', `${Math.round(slowest)} ms`, '2000 ms', slowest <= 2000)
report.print('Changes of the configuration under failures')
for (const problem of problems.slice(0, 20)) console.log(problem)
await provider.close()
process.exitCode = report.isKept ? 0 : 1
