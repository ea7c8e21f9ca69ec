/**
 * `npm run lab -- bench/scale`: the cost of one request in CPU time, commands of Redis and bytes of PostgreSQL; its growth with a
 * second process, ten times the keys and ten times the models; whether the model of docs/sizing.md predicts two processes
 * within 20 %. The figures of PostgreSQL and of the whole machine count everything that runs: it must be quiet. `--
 * --write` puts the tables into docs/sizing.md.
 */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { openPostgres } from '../../server/src/stores/postgres/database.ts'
import { startNginx } from './parts.ts'
import { cpuMicroseconds, type Started } from '../processes.ts'
import { pinTo, Workplace } from '../workplace.ts'
import { benchKey, loadScript, wrk, type Load } from '../wrk.ts'
import { mostPerSecond, planFor, type Measured } from './scale-model.ts'
import { scaleDocument } from './scale-document.ts'
import { BENCH_SECRET, manyModels, startTorana } from './torana.ts'
import { startProvider } from '../provider.ts'
import { loadText, median, print } from '../report.ts'

const { values: options } = parseArgs({
  options: {
    seconds: { type: 'string', default: '4' },
    windows: { type: 'string', default: '7' },
    write: { type: 'boolean', default: false },
  },
})
const ALL_CORES = `0-${availableParallelism() - 1}`
const CONNECTIONS = 64
const MAX_WRONG = 0.2
const IMAGE_BYTES = 1_000_000
const STEAL = 7

await using place = new Workplace('scale')
const { folder } = place
const postgres = await place.postgres()
const redis = await place.redis()
const database = openPostgres(postgres.url, { poolSize: 1 })

const IMAGE_MODEL = {
  kind: 'image',
  price: { usdPerImage: 0.01 },
  deployments: [{ upstream: 'own', model: 'large' }],
}

/** One way to ask. */
interface Case {
  readonly name: string
  readonly route: 'embeddings' | 'images/generations'
  readonly processes: number
  readonly keys: number
  readonly models: number
}

const ONE: Case = {
  name: 'embeddings, one process',
  route: 'embeddings',
  processes: 1,
  keys: 100,
  models: 1,
}
const CASES: readonly Case[] = [
  ONE,
  { ...ONE, name: 'two processes', processes: 2 },
  { ...ONE, name: 'ten times the keys', keys: 1000 },
  { ...ONE, name: 'ten times the models', models: 10 },
  { ...ONE, name: 'images of 1 MB, one process', route: 'images/generations' },
]

const upstreams = { nginx: await startNginx(folder, 0), provider: await startProvider(0, folder) }
pinTo(
  ALL_CORES,
  Object.values(upstreams).map(({ pid }) => pid),
)
const stages: CaseStage[] = []
for (const one of CASES) stages.push(await startCase(one, upstreams))
for (const stage of stages) await stage.run()
// In turns: the speed of a shared machine changes from minute to minute, and falls on all of them alike.
for (let window = 0; window < Number(options.windows); window += 1)
  for (const stage of stages) stage.windows.push(await stage.window())
const measured = stages.map(middleOf)
print([
  [
    'case',
    'requests/s',
    'gateway µs',
    'PostgreSQL µs',
    'Redis µs',
    'all µs',
    'Redis commands',
    'WAL bytes',
    'rows',
  ],
  ...measured.map((one) => [
    one.name,
    one.perSecond.toFixed(0),
    one.gatewayUs.toFixed(0),
    one.postgresUs.toFixed(0),
    one.redisUs.toFixed(1),
    one.wholeUs.toFixed(0),
    one.redisCommands.toFixed(2),
    one.walBytes.toFixed(0),
    one.ledgerRows.toFixed(2),
  ]),
])
const [single, double] = measured as [Measured, Measured]
const [ofOne, ofTwo] = stages as [CaseStage, CaseStage]
// Each window is predicted from the one just before it, for the share of the cores that the host left.
const pairs = ofOne.windows.map((one, window) => {
  const two = ofTwo.windows[window] as Window
  return mostPerSecond(2, availableParallelism() * (1 - two.stolen), one) / two.perSecond
})
const wrong = median(pairs) - 1
const predicted = double.perSecond * (1 + wrong)
console.log(
  `\ntwo processes: ${predicted.toFixed(0)}/s predicted, ${double.perSecond.toFixed(0)}/s measured: ${(wrong * 100).toFixed(0)} % off; ${loadText()}`,
)
const plans = [1000, 100_000, 1_000_000].map((perSecond) => planFor(perSecond, single))
if (options.write) scaleDocument(measured, plans, { predicted, wrong })
if (Math.abs(wrong) > MAX_WRONG) process.exitCode = 1
await database.close()

/** `stolen`: the share of all cores that a host gave to others. */
type Window = Omit<Measured, 'name'> & { readonly stolen: number }

/** The processes of a case, ready to be asked. */
interface CaseStage {
  readonly name: string
  readonly windows: Window[]
  run(): Promise<readonly Load[]>
  window(): Promise<Window>
}

async function startCase(
  one: Case,
  { nginx, provider }: { readonly nginx: Started; readonly provider: Started },
): Promise<CaseStage> {
  const isImages = one.route !== 'embeddings'
  const baseUrl = isImages ? `${provider.origin}/bytes-${IMAGE_BYTES}/v1` : `${nginx.origin}/base64/v1`
  const gateways: Started[] = []
  for (let index = 0; index < one.processes; index += 1) gateways.push(await startGateway(one, baseUrl))
  const script = loadScript(folder, {
    key: one.keys,
    model: one.models,
    answer: isImages ? 'image' : 'base64',
  })
  const run = (): Promise<Load[]> =>
    Promise.all(
      gateways.map(({ origin }) =>
        wrk({
          url: `${origin}/v1/${one.route}`,
          script,
          connections: (isImages ? 8 : CONNECTIONS) / one.processes,
          seconds: Number(options.seconds),
          core: ALL_CORES,
        }),
      ),
    )
  return {
    name: one.name,
    windows: [],
    run,
    async window() {
      const before = await figures(gateways)
      const ticksBefore = machineTicks()
      const loads = await run()
      const ticks = machineTicks().map((after, kind) => after - (ticksBefore[kind] ?? 0))
      const after = await figures(gateways)
      const stolen = (ticks[STEAL] ?? 0) / ticks.reduce((sum, each) => sum + each, 0)
      const requests = loads.reduce((sum, load) => sum + load.requests, 0)
      if (loads.some(({ errors }) => errors > 0)) throw new Error(`${one.name}: failed requests`)
      const perSecond = loads.reduce((sum, load) => sum + load.requests / load.seconds, 0)
      return { perSecond, stolen, ...eachOf(after, (field) => (after[field] - before[field]) / requests) }
    },
  }
}

function middleOf({ name, windows }: CaseStage): Measured {
  const [first] = windows as [Window]
  return { name, ...eachOf(first, (field) => median(windows.map((window) => window[field]))) }
}

/** The same fields, with other numbers. */
function eachOf<Fields extends object>(
  fields: Fields,
  number: (field: keyof Fields) => number,
): Record<keyof Fields, number> {
  const entries = (Object.keys(fields) as (keyof Fields)[]).map((field) => [field, number(field)])
  return Object.fromEntries(entries) as Record<keyof Fields, number>
}

/** Sums since the beginning. */
type Figures = Omit<Measured, 'name' | 'perSecond'>

async function figures(gateways: readonly Started[]): Promise<Figures> {
  const sum = (pids: readonly number[]): number => pids.reduce((all, pid) => all + cpuMicroseconds(pid), 0)
  const info = execFileSync('redis-cli', ['-u', redis.url, 'INFO'], { encoding: 'utf8' })
  const figure = (field: string): number => Number(new RegExp(`^${field}:([\\d.]+)`, 'm').exec(info)?.[1])
  const [books] = await database.query<{ wal: string; rows: string }>(
    `SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::text AS wal, count(*)::text AS rows FROM usage_events`,
  )
  return {
    gatewayUs: sum(gateways.map(({ pid }) => pid)),
    postgresUs: sum(postgres.pids()),
    redisUs: (figure('used_cpu_user') + figure('used_cpu_sys')) * 1_000_000,
    wholeUs: machineUs(),
    redisCommands: figure('total_commands_processed'),
    redisBytes: figure('total_net_input_bytes') + figure('total_net_output_bytes'),
    walBytes: Number(books?.wal),
    ledgerRows: Number(books?.rows),
  }
}

/** Hundredths of a second of all cores: user, nice, system, idle, waiting, interrupts, soft ones, stolen by the host. */
function machineTicks(): readonly number[] {
  const [line = ''] = readFileSync('/proc/stat', 'utf8').split('\n', 1)
  return line.split(/\s+/).slice(1, 9).map(Number)
}

/** Of all processes and of the system itself. */
function machineUs(): number {
  const [user = 0, nice = 0, system = 0, , , interrupts = 0, soft = 0] = machineTicks()
  return (user + nice + system + interrupts + soft) * 10_000
}

function startGateway({ keys, models, route }: Case, baseUrl: string): Promise<Started> {
  return startTorana({
    core: ALL_CORES,
    folder,
    config: {
      ...manyModels(models, baseUrl, route === 'embeddings' ? undefined : IMAGE_MODEL),
      projects: {
        bench: {
          keys: Array.from({ length: keys }, (_, index) => ({
            name: `key-${index}`,
            secret: benchKey(index),
            limits: { requestsPerMinute: 10_000_000 },
          })),
        },
      },
    },
    env: {
      TORANA_SECRET: BENCH_SECRET,
      DATABASE_URL: postgres.url,
      REDIS_URL: redis.url,
      LOG_LEVEL: 'warn',
    },
  })
}
