/**
 * The cost of size. A: duration and memory of a start, by keys in the file; the hold of the event loop while such a file is
 * read again. B: CPU time of a request on a large install beside a small one, both at the same time on core 0 under equal
 * load; PostgreSQL, nginx and wrk on core 1. `npm run lab -- bench/size` fills 10,000,000 rows of the ledger, which takes a
 * quarter of an hour; `-- --small` is a quick look, `-- --parts A` one part.
 */
import { execFileSync } from 'node:child_process'
import { appendFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { openPostgres } from '../../server/src/stores/postgres/database.ts'
import { migrate } from '../../server/src/stores/postgres/migrate.ts'
import { startPostgresServer, type TestServer } from '../../server/test/support/servers.ts'
import { fillConsoleData, type ConsoleDataSize } from './console-data.ts'
import { GatewayWatch } from './gateway-watch.ts'
import { startBare, startNginx } from './parts.ts'
import { cpuMicroseconds, stopAll } from '../processes.ts'
import { wrk, type Load } from '../wrk.ts'
import { Report, loadText, median, print, spreadText, writeResults } from '../report.ts'
import { refusalsOf, startTorana, storeKeys, type StartedTorana } from './torana.ts'

const { values: options } = parseArgs({
  options: {
    parts: { type: 'string', default: 'AB' },
    small: { type: 'boolean', default: false },
    seconds: { type: 'string', default: '8' },
    windows: { type: 'string', default: '5' },
    /** The built package, whose start is what operators see. */
    program: { type: 'string' },
  },
})
const [GATEWAY_CORE, LOAD_CORE] = [0, 1]
const CONNECTIONS = 32
const MEGABYTE = 1024 * 1024
/** The aims of the project. */
const [MAX_HOLD_MS, MAX_START_SECONDS, MAX_RATIO] = [20, 3, 1.1]
/** Of the keys that ask. */
const ASKING_KEYS = 1000
const RELOADS = 3
const TORANA_SECRET = 'a-secret-of-the-bench-0123456789'

interface InstallSize extends ConsoleDataSize {
  readonly models: number
}

const SMALL: InstallSize = { events: 0, requests: 0, keys: 10, models: 1 }
const LARGE: InstallSize = options.small
  ? { events: 100_000, requests: 10_000, keys: 20_000, models: 50 }
  : { events: 10_000_000, requests: 200_000, keys: 1_000_000, models: 500 }
const FILE_KEYS = options.small ? [10, 10_000] : [10, 10_000, 100_000]

const folder = mkdtempSync(join(tmpdir(), 'torana-size-'))
const report = new Report()
const results: object[] = []
const servers: TestServer[] = []
try {
  if (options.parts.includes('A')) await measureFiles()
  if (options.parts.includes('B')) await measureInstalls()
  report.print(`size, ${loadText()}`)
  writeResults('size', { results })
  if (!report.isKept) process.exitCode = 1
} finally {
  await stopAll()
  for (const server of servers) await server.stop()
  rmSync(folder, { recursive: true, force: true })
}

/** The database is up to date already: a start that makes its tables is another question. */
async function measureFiles(): Promise<void> {
  const postgres = await startPostgresServer({ memory: '128MB' })
  servers.push(postgres)
  const database = openPostgres(postgres.url)
  await migrate(database)
  await database.close()
  for (const keys of FILE_KEYS) await measureFile(keys, postgres.url)
}

async function measureFile(keys: number, databaseUrl: string): Promise<void> {
  const own = join(folder, `keys-${keys}`)
  const probeSocket = join(own, 'probe')
  mkdirSync(own)
  const startedMs = performance.now()
  const torana = await startTorana({
    core: `${GATEWAY_CORE},${LOAD_CORE}`,
    folder: own,
    config: fileOf(keys),
    patienceMs: 600_000,
    flags: ['--import', join(import.meta.dirname, 'gateway-probe.ts')],
    env: { GATEWAY_PROBE_SOCKET: probeSocket, LOG_LEVEL: 'warn', DATABASE_URL: databaseUrl, TORANA_SECRET },
    ...(options.program !== undefined && { program: options.program }),
  })
  const startSeconds = (performance.now() - startedMs) / 1000
  const watch = new GatewayWatch(torana.pid, probeSocket, own)
  const { cpuMs } = await watch.probe()
  const megabytes = watch.residentBytes() / MEGABYTE
  const holds: number[] = []
  for (let reload = 0; reload < RELOADS; reload += 1) {
    const before = await loadedAt(torana)
    await watch.probe()
    appendFileSync(torana.configFile, `\n# reload ${reload}\n`)
    while ((await loadedAt(torana)) === before) await wait(100)
    // The consequences of a reload, such as the audit entry, are part of it.
    await wait(1000)
    holds.push((await watch.probe()).longestRoundMs)
  }
  await stopAll(torana.pid)
  const name = `${keys.toLocaleString('en-US')} keys in the file`
  const start = `${startSeconds.toFixed(1)} s, CPU ${(cpuMs / 1000).toFixed(1)} s, ${megabytes.toFixed(0)} MB`
  report.aim(`ready with ${name}`, start, `< ${MAX_START_SECONDS} s`, startSeconds < MAX_START_SECONDS)
  const hold = `${holds.map((ms) => ms.toFixed(1)).join(' · ')} ms`
  report.aim(
    `longest hold in a reload of ${name}`,
    hold,
    `< ${MAX_HOLD_MS} ms with 10,000`,
    keys > 10_000 ? undefined : median(holds) < MAX_HOLD_MS,
  )
  results.push({ keys, startSeconds, cpuMs, megabytes, holds })
}

/** When the configuration in use was read. */
async function loadedAt({ controlPort }: StartedTorana): Promise<string> {
  const text = await (await fetch(`http://127.0.0.1:${controlPort}/metrics`)).text()
  return /^torana_config_last_reload_success_timestamp_seconds (\S+)$/m.exec(text)?.[1] ?? ''
}

async function measureInstalls(): Promise<void> {
  const { origin } = await startNginx(folder, LOAD_CORE)
  const bare = await startBare(origin, GATEWAY_CORE)
  const installs = [await startInstall(SMALL, origin), await startInstall(LARGE, origin)]
  const all = [
    { pid: bare.pid, url: `${bare.origin}/base64/v1`, models: 1 },
    ...installs.map(({ torana, size }) => ({
      pid: torana.pid,
      url: `${torana.origin}/v1`,
      models: size.models,
    })),
  ]
  const run = (seconds: number): Promise<Load[]> =>
    Promise.all(
      all.map(({ url, models }) =>
        wrk({
          url: `${url}/embeddings`,
          script: wrkScript(models),
          connections: CONNECTIONS,
          seconds,
          core: LOAD_CORE,
          timeoutSeconds: 30,
        }),
      ),
    )
  await run(Number(options.seconds))
  const windows: number[][] = []
  for (let window = 0; window < Number(options.windows); window += 1) {
    const before = all.map(({ pid }) => cpuMicroseconds(pid))
    const loads = await run(Number(options.seconds))
    if (loads.some(({ errors }) => errors > 0))
      throw new Error(
        `failed requests\n${(await Promise.all(installs.map(({ torana }) => refusalsOf(torana)))).join('\n')}`,
      )
    windows.push(
      all.map(({ pid }, index) => {
        return (cpuMicroseconds(pid) - (before[index] as number)) / (loads[index] as Load).requests
      }),
    )
  }
  const cpuOf = (index: number): number => median(windows.map((cpu) => cpu[index] as number))
  const ratios = windows.map(([, small = 0, large = 0]) => large / small)
  print([
    ['install', 'ready after s', 'memory MB', 'CPU µs/request'],
    ['bare proxy', '', '', cpuOf(0).toFixed(0)],
    ...installs.map(({ name, startSeconds, megabytes }, index) => [
      name,
      startSeconds.toFixed(1),
      megabytes.toFixed(0),
      cpuOf(index + 1).toFixed(0),
    ]),
  ])
  report.aim(
    'CPU of a request, large beside small',
    spreadText(ratios),
    `≤ ${MAX_RATIO}`,
    median(ratios) <= MAX_RATIO,
  )
  results.push({
    installs: installs.map(({ name, startSeconds, megabytes }) => ({ name, startSeconds, megabytes })),
    windows,
  })
}

interface Install {
  readonly name: string
  readonly size: InstallSize
  readonly torana: StartedTorana
  readonly startSeconds: number
  readonly megabytes: number
}

async function startInstall(size: InstallSize, origin: string): Promise<Install> {
  const postgres = await startPostgresServer({ memory: '128MB' })
  servers.push(postgres)
  const database = openPostgres(postgres.url)
  if (size.events > 0) await fillConsoleData(database, size, Date.now())
  await database.close()
  for (const pid of postgres.pids()) execFileSync('taskset', ['-acp', String(LOAD_CORE), String(pid)])
  const startedMs = performance.now()
  const torana = await startTorana({
    core: GATEWAY_CORE,
    folder,
    config: configOf(`${origin}/base64/v1`, size.models),
    env: {
      TORANA_SECRET,
      DATABASE_URL: postgres.url,
      LOG_LEVEL: 'warn',
    },
    patienceMs: 600_000,
    ...(options.program !== undefined && { program: options.program }),
  })
  const startSeconds = (performance.now() - startedMs) / 1000
  const asking = Array.from({ length: ASKING_KEYS }, (_, index) => ({
    name: `key-${index}`,
    secret: secretOf(index),
  }))
  await storeKeys(torana, asking)
  const megabytes = new GatewayWatch(torana.pid, '', folder).residentBytes() / MEGABYTE
  const count = (number: number): string => number.toLocaleString('en-US')
  const name = `${count(size.keys)} stored keys, ${count(size.models)} models, ${count(size.events)} ledger rows`
  return { name, size, torana, startSeconds, megabytes }
}

function configOf(baseUrl: string, models: number): object {
  const model = {
    kind: 'embedding',
    embedding: { dimensions: 1536 },
    price: { usdPerMillionTokens: 0.02 },
    // Probed, it would look wrong: it answers everything with the same vector.
    spaceGuard: false,
    deployments: [
      { upstream: 'one', model: 'text-embedding-3-small', capabilities: { encodings: ['base64', 'float'] } },
    ],
  }
  return {
    upstreams: { one: { dialect: 'openai', baseUrl, apiKey: 'sk-upstream-0123456789' } },
    models: Object.fromEntries(Array.from({ length: models }, (_, index) => [`model-${index}`, model])),
  }
}

/** Fifty projects with their keys in lines, as people write them. */
function fileOf(keys: number): string {
  const sections = Object.entries(configOf('http://127.0.0.1:9/v1', 1))
  const projects = Array.from({ length: Math.min(50, keys) }, () => [] as string[])
  for (let index = 0; index < keys; index += 1)
    projects[index % projects.length]?.push(
      `      - name: key-${index}\n        secret: ${secretOf(index)}\n`,
    )
  return [
    ...sections.map(([name, section]) => `${name}: ${JSON.stringify(section)}\n`),
    'projects:\n',
    ...projects.map((lines, index) => `  project-${index}:\n    keys:\n${lines.join('')}`),
  ].join('')
}

function secretOf(index: number): string {
  return `bench-key-${String(index).padStart(20, '0')}`
}

function wrkScript(models: number): string {
  const file = join(folder, `models-${models}.lua`)
  writeFileSync(
    file,
    `local n = 0
local headers = { ["Content-Type"] = "application/json" }
local seed = tostring({}):sub(8)
request = function()
  n = n + 1
  headers["Authorization"] = string.format("Bearer bench-key-%020d", (n * 7919) % ${ASKING_KEYS})
  return wrk.format("POST", nil, headers, '{"input":"the quick brown fox ' .. seed .. n .. '","model":"model-' .. (n % ${models}) .. '","encoding_format":"base64"}')
end
`,
  )
  return file
}
