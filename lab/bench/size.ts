/**
 * The cost of size. A: duration and memory of a start, by keys in the file; the hold of the event loop while such a file is
 * read again. B: CPU time of a request on a large install beside a small one, both at the same time on core 0 under equal
 * load; PostgreSQL, nginx and wrk on core 1. `npm run lab -- bench/size` fills 10,000,000 rows of the ledger, which takes a
 * quarter of an hour; `-- --small` is a quick look, `-- --parts A` one part.
 */
import { appendFileSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { openPostgres } from '../../server/src/stores/postgres/database.ts'
import { migrate } from '../../server/src/stores/postgres/migrate.ts'
import { fillConsoleData, type ConsoleDataSize } from './console-data.ts'
import { GatewayWatch, startWatched } from './gateway-watch.ts'
import { bareSubject } from './embeddings-stage.ts'
import { startNginx } from './parts.ts'
import { stopAll } from '../processes.ts'
import {
  cpusOf,
  GATEWAY_CORE,
  LOAD_CORE,
  ratiosOf,
  sideBySide,
  type Seen,
  type Subject,
} from './side-by-side.ts'
import { Workplace } from '../workplace.ts'
import { benchKey, loadScript } from '../wrk.ts'
import { Report, loadText, median, print, spreadText, writeResults } from '../report.ts'
import { BENCH_SECRET, manyModels, startTorana, storeKeys, type StartedTorana } from './torana.ts'

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
const CONNECTIONS = 32
const MEGABYTE = 1024 * 1024
/** The aims of the project. */
const [MAX_HOLD_MS, MAX_START_SECONDS, MAX_RATIO] = [20, 3, 1.1]
/** Of the keys that ask. */
const ASKING_KEYS = 1000
const RELOADS = 3
/** Their indexes beside the bare proxy. */
const [SMALL_SUBJECT, LARGE_SUBJECT] = [1, 2]

interface InstallSize extends ConsoleDataSize {
  readonly models: number
}

const SMALL: InstallSize = { events: 0, requests: 0, keys: 10, models: 1 }
const LARGE: InstallSize = options.small
  ? { events: 100_000, requests: 10_000, keys: 20_000, models: 50 }
  : { events: 10_000_000, requests: 200_000, keys: 1_000_000, models: 500 }
const FILE_KEYS = options.small ? [10, 10_000] : [10, 10_000, 100_000]

await using place = new Workplace('size')
const { folder } = place
const report = new Report()
const results: object[] = []
if (options.parts.includes('A')) await measureFiles()
if (options.parts.includes('B')) await measureInstalls()
report.print(`size, ${loadText()}`)
writeResults('size', { results })
if (!report.isKept) process.exitCode = 1

/** The database is up to date already: a start that makes its tables is another question. */
async function measureFiles(): Promise<void> {
  const postgres = await place.postgres({ memory: '128MB' })
  const database = openPostgres(postgres.url)
  await migrate(database)
  await database.close()
  for (const keys of FILE_KEYS) await measureFile(keys, postgres.url)
}

async function measureFile(keys: number, databaseUrl: string): Promise<void> {
  const own = join(folder, `keys-${keys}`)
  mkdirSync(own)
  const startedMs = performance.now()
  const { watch, ...torana } = await startWatched({
    core: `${GATEWAY_CORE},${LOAD_CORE}`,
    folder: own,
    config: fileOf(keys),
    patienceMs: 600_000,
    env: { LOG_LEVEL: 'warn', DATABASE_URL: databaseUrl, TORANA_SECRET: BENCH_SECRET },
    ...(options.program !== undefined && { program: options.program }),
  })
  const startSeconds = (performance.now() - startedMs) / 1000
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
  const installs = [await startInstall(SMALL, origin), await startInstall(LARGE, origin)]
  const all: readonly Subject[] = [
    { ...(await bareSubject(origin, '/base64/v1')), script: scriptFor(SMALL) },
    ...installs.map(({ name, torana, size }) => {
      return { name, pid: torana.pid, url: `${torana.origin}/v1/embeddings`, script: scriptFor(size), torana }
    }),
  ]
  const load = { script: '', connections: CONNECTIONS, seconds: Number(options.seconds), timeoutSeconds: 30 }
  await sideBySide(all, load)
  const windows: (readonly Seen[])[] = []
  for (let window = 0; window < Number(options.windows); window += 1)
    windows.push(await sideBySide(all, load))
  const cpuOf = (index: number): number => median(cpusOf(windows, index))
  const ratios = ratiosOf(windows, LARGE_SUBJECT, SMALL_SUBJECT)
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
  const postgres = await place.postgres({ memory: '128MB', core: LOAD_CORE })
  const database = openPostgres(postgres.url)
  if (size.events > 0) await fillConsoleData(database, size, Date.now())
  await database.close()
  const startedMs = performance.now()
  const torana = await startTorana({
    core: GATEWAY_CORE,
    folder,
    config: manyModels(size.models, `${origin}/base64/v1`),
    env: { TORANA_SECRET: BENCH_SECRET, DATABASE_URL: postgres.url, LOG_LEVEL: 'warn' },
    patienceMs: 600_000,
    ...(options.program !== undefined && { program: options.program }),
  })
  const startSeconds = (performance.now() - startedMs) / 1000
  const asking = Array.from({ length: ASKING_KEYS }, (_, index) => ({
    name: `key-${index}`,
    secret: benchKey(index),
  }))
  await storeKeys(torana, asking)
  const megabytes = new GatewayWatch(torana.pid, '', folder).residentBytes() / MEGABYTE
  const count = (number: number): string => number.toLocaleString('en-US')
  const name = `${count(size.keys)} stored keys, ${count(size.models)} models, ${count(size.events)} ledger rows`
  return { name, size, torana, startSeconds, megabytes }
}

/** Fifty projects with their keys in lines, as people write them. */
function fileOf(keys: number): string {
  const sections = Object.entries(manyModels(1, 'http://127.0.0.1:9/v1'))
  const projects = Array.from({ length: Math.min(50, keys) }, () => [] as string[])
  for (let index = 0; index < keys; index += 1)
    projects[index % projects.length]?.push(
      `      - name: key-${index}\n        secret: ${benchKey(index)}\n`,
    )
  return [
    ...sections.map(([name, section]) => `${name}: ${JSON.stringify(section)}\n`),
    'projects:\n',
    ...projects.map((lines, index) => `  project-${index}:\n    keys:\n${lines.join('')}`),
  ].join('')
}

function scriptFor({ models }: InstallSize): string {
  return loadScript(folder, { key: ASKING_KEYS, model: models })
}
