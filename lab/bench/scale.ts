/**
 * `npm run lab -- bench/scale`: the CPU time, commands of Redis and bytes of PostgreSQL of one request, in several configurations at
 * the loads that a plan uses. One and two processes give the model of `scale/model.ts`; three processes at another rate check it,
 * which misses its aim above 20 %. Then the bytes that a call leaves on PostgreSQL's disk, and the cost of reading a ledger row again.
 * What the processes of the other configurations take from PostgreSQL and Redis while they rest is measured first, and not counted.
 * `--write` keeps the figures for docs/sizing.md, `--quick` is a short look.
 */
import { execFileSync } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { setTimeout } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { openPostgres } from '../../server/src/stores/postgres/database.ts'
import { startNginx } from './parts.ts'
import type { Started } from '../processes.ts'
import { cpuOf } from './peers/family.ts'
import { pinTo, Workplace } from '../workplace.ts'
import { benchKey, loadScript, rateOf, wrk, type Load } from '../wrk.ts'
import { measuredRun } from '../book/publish.ts'
import { errorText } from './scale/document.ts'
import { keepScale } from './scale/figures.ts'
import { errorsOf, type Measured } from './scale/model.ts'
import { BENCH_SECRET, manyModels, startTorana } from './torana.ts'
import { startProvider } from '../provider.ts'
import { INCOMPLETE, loadText, median, print } from '../report.ts'

const { values: options } = parseArgs({
  options: {
    seconds: { type: 'string', default: '5' },
    windows: { type: 'string', default: '7' },
    quick: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
  },
})
const [seconds, rounds] = options.quick ? [2, 1] : [Number(options.seconds), Number(options.windows)]
const ALL_CORES = `0-${availableParallelism() - 1}`
const CONNECTIONS = 64
/** Images of 1 MB in progress: more of them would measure the memory of the machine. */
const IMAGE_CONNECTIONS = 8
const MAX_WRONG = 0.2
/** Until the records of the first requests are written. */
const SETTLE_MS = 5000
/** At rest: several rounds of the reconciler's and the reaper's polls. */
const RESTING_SECONDS = 20
const IMAGE_BYTES = 1_000_000

await using place = new Workplace('scale')
const { folder } = place
const postgres = await place.postgres({ memory: '128MB' })
const redis = await place.redis()
const database = openPostgres(postgres.url, { poolSize: 1, queryTimeoutMs: 120_000 })

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
  /** Share of what one process serves at most. Undefined: as much as this one serves. */
  readonly share?: number
}

const FULL: Case = {
  name: 'one process, as many as the shared cores serve',
  route: 'embeddings',
  processes: 1,
  keys: 100,
  models: 1,
}
const CALM: Case = { ...FULL, name: 'one process, fewer requests', share: 0.5 }
const TWO: Case = { ...FULL, name: 'two processes', processes: 2, share: 0.4 }
const TWO_CALM: Case = { ...TWO, name: 'two processes, fewer requests', share: 0.15 }
/** As many requests as two cores serve beside their upstream and their load. */
const THREE: Case = { ...FULL, name: 'three processes', processes: 3, share: 0.3 }
const MODEL = [FULL, CALM, TWO, TWO_CALM]
const OTHERS: readonly Case[] = [
  { ...CALM, name: 'one process, ten times the keys', keys: 1000 },
  { ...CALM, name: 'one process, ten times the models', models: 10 },
  { ...FULL, name: 'one process, images of 1 MB', route: 'images/generations' },
]

/** Those of the model alone in a short look: images take longer than it. */
const CASES = [...MODEL, THREE, ...(options.quick ? [] : OTHERS)]
const PROCESSES = CASES.reduce((sum, { processes }) => sum + processes, 0)

const upstreams = { nginx: await startNginx(folder, 0), provider: await startProvider(0, folder) }
pinTo(
  ALL_CORES,
  Object.values(upstreams).map(({ pid }) => pid),
)
const stages: CaseStage[] = []
/** Requests per second that one process serves at most. */
let mostPerSecond = 0
for (const one of CASES) {
  const stage = await startCase(one, upstreams)
  await stage.warmUp()
  if (one === FULL) mostPerSecond = (await stage.run()).reduce((sum, load) => sum + rateOf(load), 0)
  stages.push(stage)
}
const resting = await restingPerSecond()
// In turns: the speed of a shared machine changes from minute to minute, and falls on all of them alike.
for (let round = 0; round < rounds; round += 1)
  for (const stage of stages) stage.windows.push(await stage.window())
const measured = stages.map(middleOf)
printMeasured()
const [model, check, others] = [
  measured.slice(0, MODEL.length),
  measured[MODEL.length] as Measured,
  measured.slice(MODEL.length + 1),
]
const errors = errorsOf(model, check)
print([
  ['CPU time', `predicted for ${check.name}`],
  ...(['gatewayUs', 'postgresUs', 'redisUs'] as const).map((part) => [
    part.replace('Us', ''),
    errorText(errors[part]),
  ]),
])
const disk = await diskOfCall()
const rowReadUs = await costOfRowRead()
console.log(
  `a call leaves ${disk.ledgerBytes.toFixed(0)} bytes in the ledger and ${disk.requestLogBytes.toFixed(0)} in the request log; reading its row again takes ${rowReadUs.toFixed(1)} µs of PostgreSQL; ${loadText()}`,
)
if (options.write) keepScale({ ...measuredRun(), model, check, others, ...disk, rowReadUs })
// Redis uses a tenth of the others, and the figure of so little is mostly noise.
if (Math.max(Math.abs(errors.gatewayUs), Math.abs(errors.postgresUs)) > MAX_WRONG)
  process.exitCode = INCOMPLETE
await database.close()

function printMeasured(): void {
  print([
    [
      'configuration',
      'requests/s',
      'gateway µs',
      'PostgreSQL µs',
      'Redis µs',
      'Redis commands',
      'WAL bytes',
      'rows',
    ],
    ...measured.map((each) => [
      each.name,
      each.perSecond.toFixed(0),
      each.gatewayUs.toFixed(0),
      each.postgresUs.toFixed(0),
      each.redisUs.toFixed(1),
      each.redisCommands.toFixed(2),
      each.walBytes.toFixed(0),
      each.ledgerRows.toFixed(2),
    ]),
  ])
}

type Window = Omit<Measured, 'name' | 'processes'>

/** The processes of a case, ready to be asked. */
interface CaseStage {
  readonly one: Case
  readonly windows: Window[]
  /** Without a pause between requests: code that is compiled only after thousands of them is as quick as after hours. */
  warmUp(): Promise<unknown>
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
  const connections = Math.round((isImages ? IMAGE_CONNECTIONS : CONNECTIONS) / one.processes)
  const perSecondEach = one.share === undefined ? undefined : (mostPerSecond * one.share) / one.processes
  const asked = { key: one.keys, model: one.models, answer: isImages ? 'image' : 'base64' } as const
  const busyScript = loadScript(folder, asked)
  const script =
    perSecondEach === undefined
      ? busyScript
      : loadScript(folder, { ...asked, pauseMs: (connections / perSecondEach) * 1000 })
  const load = (lua: string): Promise<Load[]> =>
    Promise.all(
      gateways.map(({ origin }) =>
        wrk({ url: `${origin}/v1/${one.route}`, script: lua, connections, seconds, core: ALL_CORES }),
      ),
    )
  const run = (): Promise<Load[]> => load(script)
  return {
    one,
    windows: [],
    warmUp: () => load(busyScript),
    run,
    async window() {
      const rows = await countLedgerRows()
      const before = await figures(gateways)
      const from = performance.now()
      const loads = await run()
      const after = await figures(gateways)
      const tookSeconds = (performance.now() - from) / 1000
      const requests = loads.reduce((sum, load) => sum + load.requests, 0)
      if (loads.some(({ errors: failed }) => failed > 0)) throw new Error(`${one.name}: failed requests`)
      const perSecond = loads.reduce((sum, load) => sum + rateOf(load), 0)
      const restingShare = (PROCESSES - one.processes) / PROCESSES
      const ownWork = (field: keyof Figures): number =>
        after[field] - before[field] - resting[field] * restingShare * tookSeconds
      const ledgerRows = ((await countLedgerRows()) - rows) / requests
      return { perSecond, ledgerRows, ...eachOf(after, (field) => ownWork(field) / requests) }
    },
  }
}

/** What all processes take together while they rest. Their own CPU time is not in the figures of another configuration. */
async function restingPerSecond(): Promise<Figures> {
  await setTimeout(SETTLE_MS)
  const before = await figures([])
  const from = performance.now()
  await setTimeout(RESTING_SECONDS * 1000)
  const after = await figures([])
  const tookSeconds = (performance.now() - from) / 1000
  const perSecond = eachOf(after, (field) => (after[field] - before[field]) / tookSeconds)
  console.log(
    `at rest, ${PROCESSES} processes take ${(perSecond.postgresUs / 1000).toFixed(1)} ms of PostgreSQL, ${(perSecond.redisUs / 1000).toFixed(1)} ms of Redis, ${perSecond.redisCommands.toFixed(0)} commands and ${perSecond.walBytes.toFixed(0)} bytes of WAL per second`,
  )
  return perSecond
}

function middleOf({ one: { name, processes }, windows }: CaseStage): Measured {
  const [first] = windows as [Window]
  return { name, processes, ...eachOf(first, (field) => median(windows.map((window) => window[field]))) }
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
type Figures = Omit<Window, 'perSecond' | 'ledgerRows'>

async function figures(gateways: readonly Started[]): Promise<Figures> {
  const info = execFileSync('redis-cli', ['-u', redis.url, 'INFO'], { encoding: 'utf8' })
  const figure = (field: string): number => Number(new RegExp(`^${field}:([\\d.]+)`, 'm').exec(info)?.[1])
  const [row] = await database.query<{ wal: string }>(
    `SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::text AS wal`,
  )
  return {
    gatewayUs: cpuOf(gateways.map(({ pid }) => pid)),
    postgresUs: cpuOf(postgres.pids()),
    redisUs: (figure('used_cpu_user') + figure('used_cpu_sys')) * 1_000_000,
    redisCommands: figure('total_commands_processed'),
    redisBytes: figure('total_net_input_bytes') + figure('total_net_output_bytes'),
    walBytes: Number(row?.wal),
  }
}

/** Reads the whole ledger: outside of a window. */
async function countLedgerRows(): Promise<number> {
  const [row] = await database.query<{ rows: string }>('SELECT count(*)::text AS rows FROM usage_events')
  return Number(row?.rows)
}

/** Bytes of a call's rows with their indexes, of every partition. */
async function diskOfCall(): Promise<{ readonly ledgerBytes: number; readonly requestLogBytes: number }> {
  const bytesOfRow = async (table: string): Promise<number> => {
    const [found] = await database.query<{ bytes: string }>(
      `SELECT (sum(pg_total_relation_size(relid)) / (SELECT count(*) FROM ${table}))::text AS bytes FROM pg_partition_tree('${table}')`,
    )
    return Number(found?.bytes)
  }
  return { ledgerBytes: await bytesOfRow('usage_events'), requestLogBytes: await bytesOfRow('requests') }
}

/** As sealing reads an hour: every column, hashed. */
async function costOfRowRead(): Promise<number> {
  const before = cpuOf(postgres.pids())
  const [read] = await database.query<{ rows: string }>(
    `SELECT sum(rows)::text AS rows, sha256(string_agg(hash, ''::bytea ORDER BY first)) AS hash
     FROM (SELECT count(*) AS rows, min(request_id::text) AS first,
                  sha256(convert_to(string_agg(entry::text, E'\n' ORDER BY request_id, attempt), 'UTF8')) AS hash
           FROM usage_events AS entry GROUP BY left(request_id::text, 10)) AS parts`,
  )
  return (cpuOf(postgres.pids()) - before) / Number(read?.rows)
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
