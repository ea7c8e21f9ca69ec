/**
 * `npm run lab -- bench/steady --minutes 60`: the highest rate that this machine holds with every store real: PostgreSQL with fsync,
 * Redis, an S3 server; keys with limits, the ledger, the request log. It looks for the highest rate that is answered in time, then
 * sends a share of it, whether or not earlier requests were answered, while the node seals and exports a day of as many entries, as a
 * ledger at that rate makes it do every hour. Afterwards nothing is lost or counted twice, to the nano-dollar, the reconciler is
 * current, every tenth has the same p99, and memory is flat. `--rate 1000` skips the search, `--write` keeps the figures of an hour
 * or more, `--quick` is a short look. Exits with 1 when anything was wrong.
 */
import { existsSync, mkdirSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { Client } from 'pg'
import { LATENESS_MS } from '../../server/src/ports/sealed-hours.ts'
import { openPostgres } from '../../server/src/stores/postgres/database.ts'
import { makePartitions } from '../../server/src/stores/postgres/ledger/upkeep-partitions.ts'
import { migrate } from '../../server/src/stores/postgres/migrate.ts'
import { s3Program, s3Variables, startS3Server } from '../../server/test/support/s3.ts'
import { databaseOn } from '../../server/test/support/template-database.ts'
import { measuredRun, publishTexts } from '../book/publish.ts'
import { withDatabase } from '../chaos/ledger-checks.ts'
import { DAY_MS } from '../check/ledger-age/formula.ts'
import { generateDay } from '../check/ledger-age/generate.ts'
import { DONE, progressOf } from '../check/ledger-age/progress.ts'
import { scriptOn, stopAll, until } from '../processes.ts'
import { SENDER, type PacedInParts, type SentPart } from '../sender.ts'
import { loadText, median, print, Report } from '../report.ts'
import { Workplace } from '../workplace.ts'
import { benchKey } from '../wrk.ts'
import { familyOf, memoryMegabytes } from './peers/family.ts'
import { startNginx } from './parts.ts'
import { MIN_STEADY_MINUTES } from './scale/document.ts'
import { keepSteady } from './scale/figures.ts'
import { BENCH_PROJECT, judgeLedger } from './steady-ledger.ts'
import { flatness, isSustained, slopePerHour } from './steady-verdict.ts'
import { BENCH_SECRET, hostedConfig, HOSTED_MODEL, startTorana, type StartedTorana } from './torana.ts'

const { values: options } = parseArgs({
  options: {
    minutes: { type: 'string', default: '60' },
    /** Requests per second. Undefined: it is looked for. */
    rate: { type: 'string' },
    /** One holds more than two where the stores, the upstream and the sender share two cores with it. */
    workers: { type: 'string', default: String(Math.max(1, Math.floor(availableParallelism() / 2))) },
    quick: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
  },
})
const minutes = options.quick ? 0.25 : Number(options.minutes)
const givenRate = options.quick ? 100 : Number(options.rate)
if (options.write && minutes < MIN_STEADY_MINUTES)
  throw new Error(`only a rate that was held for ${MIN_STEADY_MINUTES} minutes is published`)

/** The output of `npm run build`. */
const PACKAGE = join(import.meta.dirname, '../../dist/torana/bin/torana.js')
const KEYS = 100
const TENTHS = 10
/** The search: from this rate, in steps of this factor, each for this long. */
const [FIRST_RATE, STEP, STEP_SECONDS] = [400, 1.2, 10]
/** Of each step: a shared machine may pause for some seconds at any rate. */
const LOOKS_PER_STEP = 2
const MAX_RATE = 50_000
/** Of the highest rate that was answered in time: an hour has checkpoints, vacuums, hours to seal and a day to export. */
const HELD_SHARE = 0.5
const PATIENCE_MS = 10_000
const SAMPLE_MS = 5000
/** Memory is judged from here on: before, caches and pools fill. */
const WARM_SHARE = 0.2
/** Megabytes per hour: more would fill a node of 1 GB in a day. */
const MAX_MEMORY_SLOPE = 30
/** Of all requests: a shared machine may pause for longer than a sender waits. None of them may be lost from the ledger. */
const MAX_FAILED = 1e-5
const MIN_SLOPE_MINUTES = 20
/** A due hour is compared within this: the reconciler looks every few minutes. */
const MAX_WAIT_SECONDS = 900
/** Work that a node does after its last answer. */
const REST_MS = 60_000
/** A short look ends before the node has sealed and exported a day, however small it is. */
const PATIENCE_OF_QUICK_MS = 300_000

await using place = new Workplace('steady')
const { folder } = place
const report = new Report()
const weed = s3Program()
if (weed === undefined) throw new Error('there is no S3 server on this machine: .ci/run installs one')
const s3 = await startS3Server(weed)
const postgres = await place.postgres({ memory: '256MB' })
const env = {
  REDIS_URL: (await place.redis()).url,
  ...s3Variables(s3.url),
  TORANA_SECRET: BENCH_SECRET,
  TORANA_WORKERS: options.workers,
  LOG_LEVEL: 'warn',
}
const nginx = await startNginx(folder, 0)
const perSecond = givenRate > 0 ? givenRate : await searchedRate()
await hold(perSecond)
await s3.stop()
if (!report.isKept) process.exitCode = 1

/** With a database of its own. */
async function startedNode(name: string): Promise<StartedTorana & { readonly databaseUrl: string }> {
  const databaseUrl = databaseOn(postgres.url, name)
  const nodeFolder = join(folder, name)
  mkdirSync(nodeFolder, { recursive: true })
  const started = await startTorana({
    folder: nodeFolder,
    config: {
      ...hostedConfig(`${nginx.origin}/base64/v1`, { price: { usdPerMillionTokens: 0.02 } }),
      ledger: { export: true },
      projects: {
        [BENCH_PROJECT]: {
          keys: Array.from({ length: KEYS }, (_, index) => ({
            name: `key-${index}`,
            secret: benchKey(index),
            limits: { requestsPerMinute: 10_000_000 },
          })),
        },
      },
    },
    env: { ...env, DATABASE_URL: databaseUrl },
    logFile: join(nodeFolder, 'torana.log'),
    ...(existsSync(PACKAGE) && { program: PACKAGE }),
  })
  return { ...started, databaseUrl }
}

function createDatabase(name: string): Promise<unknown> {
  return withDatabase(postgres.url, (client) => client.query(`CREATE DATABASE ${name}`))
}

/** Requests of all keys in turn. */
async function sent(
  port: number,
  { rate, seconds, parts }: { readonly rate: number; readonly seconds: number; readonly parts: number },
): Promise<readonly SentPart[]> {
  const key = Array.from({ length: KEYS }, (_, index) => benchKey(index))
  const streams = [{ key, model: HOSTED_MODEL, perSecond: rate }]
  const paced: PacedInParts = { port, seconds, patienceMs: PATIENCE_MS, streams, parts }
  return scriptOn<readonly SentPart[]>(undefined, SENDER, paced).answer
}

async function searchedRate(): Promise<number> {
  await createDatabase('search')
  const torana = await startedNode('search')
  const seconds = STEP_SECONDS
  await sent(torana.port, { rate: FIRST_RATE, seconds, parts: 1 })
  const isHeld = async (rate: number): Promise<boolean> => {
    for (let look = 0; look < LOOKS_PER_STEP; look += 1) {
      const seen = await sent(torana.port, { rate, seconds, parts: 1 })
      const isIn = isSustained(seen, { rate, seconds })
      console.log(`${Math.round(rate)}/s: p99 ${seen[0]?.p99Ms.toFixed(1)} ms${isIn ? '' : ', too much'}`)
      if (isIn) return true
    }
    return false
  }
  let held = 0
  for (let rate = FIRST_RATE; rate < MAX_RATE && (await isHeld(rate)); rate *= STEP) held = rate
  await stopAll(torana.pid)
  if (held === 0) throw new Error(`this machine does not hold ${FIRST_RATE} requests per second`)
  return held * HELD_SHARE
}

/** A day of as many entries as the run adds. All its hours are due: the node finds them when it starts. */
async function generatedDay(databaseUrl: string, entries: number): Promise<number> {
  const dayMs = (Math.floor((Date.now() - LATENESS_MS) / DAY_MS) - 1) * DAY_MS
  const database = openPostgres(databaseUrl)
  await migrate(database)
  await makePartitions(database, dayMs)
  await database.close()
  await generateDay(databaseUrl, { firstDayMs: dayMs, days: 1, rowsPerDay: entries }, 0)
  // Writing it out is not the work of the run, and may take minutes.
  const client = new Client(databaseUrl)
  await client.connect()
  await client.query('CHECKPOINT')
  await client.end()
  return dayMs
}

async function hold(rate: number): Promise<void> {
  await createDatabase('held')
  const seconds = minutes * 60
  const oldEntries = Math.ceil(rate * seconds)
  const oldDayMs = await generatedDay(databaseOn(postgres.url, 'held'), oldEntries)
  const torana = await startedNode('held')
  const { databaseUrl } = torana
  const isExported = async (): Promise<boolean> => (await progressOf(databaseUrl, oldDayMs)).phase === DONE
  console.log(
    `${Math.round(rate)} requests per second for ${minutes} minutes, ${options.workers} workers, and a day of ${oldEntries} entries to seal and export`,
  )
  const watching = new AbortController()
  const samples = watch(torana, watching.signal)
  const tenths = await sent(torana.port, { rate, seconds, parts: TENTHS })
  if (options.quick) await until('the day before is exported', PATIENCE_OF_QUICK_MS, isExported)
  const wasExported = await isExported()
  watching.abort()
  const { memory, spooled, differences, waitsSeconds, failing } = await samples
  await until(
    'no call is in progress',
    REST_MS,
    async () => (await metric(torana, 'torana_journal_open')) === 0,
  )
  const reconciled = await metric(torana, 'torana_reconciliations_total')
  await stopAll(torana.pid)
  print([
    ['tenth', 'requests', 'failed', 'p50 ms', 'p99 ms'],
    ...tenths.map((part, index) => [
      String(index + 1),
      String(part.sent),
      failuresText(part),
      part.p50Ms.toFixed(1),
      part.p99Ms.toFixed(1),
    ]),
  ])
  const failed = tenths.reduce((sum, part) => sum + part.sent - part.answered, 0)
  const requests = tenths.reduce((sum, part) => sum + part.sent, 0)
  report.aim(
    'requests that failed',
    `${failed} of ${requests}`,
    '≤ 1 of 100,000',
    options.quick ? undefined : failed <= requests * MAX_FAILED,
  )
  await judgeLedger(databaseUrl, tenths, report)
  report.aim(
    `a day of ${oldEntries} entries, sealed and exported meanwhile`,
    wasExported ? 'yes' : 'no',
    'yes',
    wasExported,
  )
  report.aim('hours and projects whose sums differ, at most', String(differences), '0', differences === 0)
  report.figure('comparisons of the ledger with its sums', String(reconciled))
  report.aim(
    'seconds that a due hour waited to be compared or sealed, at most',
    waitsSeconds.toFixed(0),
    `≤ ${MAX_WAIT_SECONDS}`,
    waitsSeconds <= MAX_WAIT_SECONDS,
  )
  report.aim('background jobs of the ledger that failed, at most', String(failing), '0', failing === 0)
  report.figure('records that waited on disk, at most', String(spooled))
  const flat = flatness(tenths.map(({ p99Ms }) => p99Ms))
  report.aim(
    'p99 of the last tenths to the first',
    flat.text,
    `≤ ${flat.max}`,
    options.quick ? undefined : flat.isFlat,
  )
  const slope = slopePerHour(memory.slice(Math.floor(memory.length * WARM_SHARE)), SAMPLE_MS)
  const isLong = minutes >= MIN_SLOPE_MINUTES
  report.aim(
    'memory, MB per hour',
    isLong ? slope.toFixed(1) : 'too short to say',
    `≤ ${MAX_MEMORY_SLOPE}`,
    isLong ? slope <= MAX_MEMORY_SLOPE : undefined,
  )
  report.print(`steady: ${Math.round(rate)} requests per second for ${minutes} minutes; ${loadText()}`)
  if (options.write && report.isKept) publish(rate, tenths, slope)
}

function publish(rate: number, tenths: readonly SentPart[], memoryMegabytesPerHour: number): void {
  const requests = tenths.reduce((sum, part) => sum + part.sent, 0)
  const p99Ms = tenths.map((part) => part.p99Ms)
  keepSteady({
    ...measuredRun(),
    perSecond: rate,
    minutes,
    requests,
    processes: Number(options.workers),
    cores: availableParallelism(),
    p50Ms: median(tenths.map((part) => part.p50Ms)),
    p99Ms,
    memoryMegabytesPerHour,
  })
  publishTexts('bench/steady', {
    'steady.rate': `${Math.floor(rate).toLocaleString('en-US')} requests per second`,
    'steady.requests': requests.toLocaleString('en-US'),
    'steady.p99.first': `${p99Ms[0]?.toFixed(1)} ms`,
    'steady.p99.last': `${p99Ms.at(-1)?.toFixed(1)} ms`,
  })
}

interface Samples {
  /** Megabytes of all processes of the node. */
  readonly memory: readonly number[]
  readonly spooled: number
  readonly differences: number
  readonly waitsSeconds: number
  readonly failing: number
}

async function watch(node: StartedTorana, signal: AbortSignal): Promise<Samples> {
  const memory: number[] = []
  let [spooled, differences, waitsSeconds, failing] = [0, 0, 0, 0]
  while (!signal.aborted) {
    memory.push(memoryMegabytes(familyOf(node.pid)))
    spooled = Math.max(spooled, await metric(node, 'torana_spool_waiting'))
    differences = Math.max(differences, await metric(node, 'torana_ledger_differences'))
    waitsSeconds = Math.max(waitsSeconds, await metric(node, 'torana_ledger_waits_seconds'))
    failing = Math.max(failing, await metric(node, 'torana_upkeep_failing'))
    await wait(SAMPLE_MS, undefined, { signal }).catch(() => {
      // The end of the load is the end of the watch.
    })
  }
  return { memory, spooled, differences, waitsSeconds, failing }
}

/** The sum of its series. */
async function metric({ controlPort }: StartedTorana, name: string): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${controlPort}/metrics`)).text()
  const values = [...text.matchAll(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)$`, 'gm'))]
  return values.reduce((sum, [, value]) => sum + Number(value), 0)
}

function failuresText({ failures }: SentPart): string {
  const texts = Object.entries(failures).map(([why, count]) => `${count} × ${why}`)
  return texts.length === 0 ? '0' : texts.join(', ')
}
