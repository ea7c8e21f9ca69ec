/**
 * What a million stored keys and 500 models cost. F: the packed key file alone, by the number of keys. N: a node with two
 * workers on PostgreSQL: its first start, a start with the key file, memory, a revocation, and a restart without PostgreSQL.
 * C: CPU time of a request beside a node with 100 keys, both under equal load on core 0, everything else on core 1.
 * `npm run lab -- bench/keys --keys 1000000 --parts FNC`; `--file-keys 10000000` for a larger file in F; `--small` is a quick look.
 */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { keyHasher } from '../../server/src/runtime/secret.ts'
import { openPostgres } from '../../server/src/stores/postgres/database.ts'
import { migrate } from '../../server/src/stores/postgres/migrate.ts'
import { SOURCE_PROGRAM } from '../../server/test/support/process.ts'
import type { TestServer } from '../../server/test/support/servers.ts'
import { Report, loadText, median, print, spreadText, writeResults } from '../report.ts'
import { newTorana, type Torana } from '../torana.ts'
import { Workplace } from '../workplace.ts'
import { benchKey, loadScript } from '../wrk.ts'
import { measureKeyFile, type KeyFileFigures, type Took } from './key-file.ts'
import { startNginx } from './parts.ts'
import { cpuOf, familyOf } from './peers/family.ts'
import { cpusOf, GATEWAY_CORE, LOAD_CORE, ratiosOf, sideBySide, type Seen } from './side-by-side.ts'
import { BENCH_SECRET, manyModels, startTorana } from './torana.ts'

const { values: options } = parseArgs({
  options: {
    parts: { type: 'string', default: 'FNC' },
    keys: { type: 'string', default: '1000000' },
    'file-keys': { type: 'string' },
    small: { type: 'boolean', default: false },
    seconds: { type: 'string', default: '5' },
    windows: { type: 'string', default: '5' },
    /** The built package, whose start is what operators see. */
    program: { type: 'string' },
  },
})
const KEYS = options.small ? 20_000 : Number(options.keys)
const FEW_KEYS = 100
const MODELS = options.small ? 50 : 500
const PROJECTS = 1000
/** Before memory is looked at. */
const ASKED_KEYS = 400
const CONNECTIONS = 32
const MEGABYTE = 1024 * 1024
/** The aims of the project. */
const [MAX_START_SECONDS, MAX_MEGABYTES, MAX_RATIO, MAX_REVOCATION_SECONDS] = [3, 160, 1.05, 2]
const PATIENCE_MS = 280_000
/** Of one request, and of a revocation. */
const ANSWER_MS = 30_000
/** Starts with the key file, by turns with those of 100 keys: the middle one counts. */
const STARTS = 3
/** Part N revokes it. The store of part C is the same, so part C must not ask for it. */
const REVOKED_KEY = KEYS - 1
/** Of a revoked key. An address that sends many wrong keys is asked to wait. */
const REFUSALS = new Set([401, 429])

await using place = new Workplace('keys')
const report = new Report()
const results: Record<string, unknown> = {}
if (options.parts.includes('F')) results['file'] = await measureFiles()
writeResults('keys', results)
if (/[NC]/.test(options.parts)) await measureNodes()
if (!report.isKept) process.exitCode = 1

async function measureFiles(): Promise<readonly KeyFileFigures[]> {
  const figures: KeyFileFigures[] = []
  for (const keys of [FEW_KEYS, Number(options['file-keys'] ?? KEYS)])
    figures.push(await measureKeyFile(join(place.folder, `file-${keys}`), keys))
  print([
    ['keys', 'MB', 'bytes/key', 'pack', 'open', 'find µs', 'miss µs', 'by id µs', 'fold', 'memory MB'],
    ...figures.map((one) => [
      one.keys.toLocaleString('en-US'),
      (one.bytes / MEGABYTE).toFixed(1),
      (one.bytes / one.keys).toFixed(0),
      ...[one.pack, one.open].map(textOf),
      ...[one.findUs, one.missUs, one.byIdUs].map((us) => us.toFixed(1)),
      textOf(one.fold),
      one.residentMegabytes.toFixed(0),
    ]),
  ])
  return figures
}

async function measureNodes(): Promise<void> {
  const { origin } = await startNginx(place.folder, LOAD_CORE)
  const config = manyModels(MODELS, `${origin}/base64/v1`)
  const postgres = await filled(KEYS)
  const few = await filled(FEW_KEYS)
  if (options.parts.includes('N')) printPart('node', await measureNode(postgres, few, config))
  if (options.parts.includes('C')) printPart('cpu', await measureCpu(postgres, few, config))
}

/** Each part when it ends: a failure of a later one would lose its figures. */
function printPart(part: string, figures: object): void {
  results[part] = figures
  report.print(`${KEYS.toLocaleString('en-US')} stored keys, ${MODELS} models, ${loadText()}`)
  writeResults('keys', results)
}

/** A PostgreSQL with this many keys, of which `benchKey` opens every one. */
async function filled(keys: number): Promise<TestServer> {
  const postgres = await place.postgres({ memory: '128MB', core: LOAD_CORE })
  const database = openPostgres(postgres.url)
  await migrate(database)
  const digestOf = keyHasher(BENCH_SECRET)
  await database.session(async (sql) => {
    await sql.query(
      `INSERT INTO projects (project, version) SELECT 'project-' || n, 1 FROM generate_series(0, $1::int - 1) AS n`,
      [PROJECTS],
    )
    await sql.query(
      `INSERT INTO keys (key_id, project, name, limits, version)
       SELECT 'project-' || n % $2::int || '/key-' || n, 'project-' || n % $2::int, 'key-' || n,
         CASE WHEN n % 4 = 0 THEN '{"requestsPerMinute": 100000000}'::jsonb ELSE '{}' END, 1
       FROM generate_series(0, $1::int - 1) AS n`,
      [keys, PROJECTS],
    )
    const page = 20_000
    for (let from = 0; from < keys; from += page) {
      const numbers = Array.from({ length: Math.min(page, keys - from) }, (_, index) => from + index)
      await sql.query(
        `INSERT INTO key_secrets (digest, key_id, pepper, tail)
         SELECT decode(digest, 'base64'), 'project-' || n % $3::int || '/key-' || n, 'bench', 'none'
         FROM unnest($1::int[], $2::text[]) AS secret (n, digest)`,
        [numbers, numbers.map((number) => digestOf(benchKey(number))), PROJECTS],
      )
    }
    await sql.query('ANALYZE keys, key_secrets, projects')
  }, PATIENCE_MS)
  await database.close()
  return postgres
}

function twoWorkers(name: string, postgres: TestServer, config: object): Promise<Torana> {
  return newTorana({
    folder: place.folder,
    name,
    config,
    args: ['start', '--workers', '2'],
    program: options.program ?? SOURCE_PROGRAM,
    patienceMs: PATIENCE_MS,
    env: { TORANA_SECRET: BENCH_SECRET, DATABASE_URL: postgres.url, LOG_LEVEL: 'warn' },
  })
}

async function measureNode(postgres: TestServer, few: TestServer, config: object): Promise<object> {
  const torana = await twoWorkers('workers', postgres, config)
  const beside = await twoWorkers('few', few, config)
  const first = await startedAndStopped(torana, postgres)
  const firstBeside = await startedAndStopped(beside, few)
  const rounds: { readonly many: Start; readonly few: Start }[] = []
  for (let round = 0; round < STARTS; round += 1)
    rounds.push({
      many: await startedAndStopped(torana, postgres),
      few: await startedAndStopped(beside, few),
    })
  const [again, againBeside] = [middle(rounds.map(({ many }) => many)), middle(rounds.map((one) => one.few))]
  const workersBeside = await memoryOfWorkers(beside, FEW_KEYS)
  await beside.stop()
  const workers = await memoryOfWorkers(torana, KEYS)
  const files = readdirSync(torana.dataFolder).filter((name) => name.startsWith('keys.'))
  const fileBytes = files.reduce((sum, name) => sum + statSync(join(torana.dataFolder, name)).size, 0)
  const revokedSeconds = await revocation(torana)
  await torana.stop()
  const without = await withoutStore(torana, postgres)

  report.figure('both workers ready, without a key file', textOf(first))
  report.figure('  the same with 100 keys', textOf(firstBeside))
  report.figure(`both workers ready, with a key file, middle of ${STARTS}`, textOf(again))
  report.figure('  the same with 100 keys', textOf(againBeside))
  const more = {
    seconds: again.seconds - againBeside.seconds,
    cpuSeconds: again.cpuSeconds - againBeside.cpuSeconds,
    databaseCpuSeconds: again.databaseCpuSeconds - againBeside.databaseCpuSeconds,
  }
  report.aim('  more', textOf(more), `≤ ${MAX_START_SECONDS} s`, more.seconds <= MAX_START_SECONDS)
  const megabytesOf = (bytes: readonly number[]): string =>
    bytes.map((one) => `${(one / MEGABYTE).toFixed(0)} MB`).join(', ')
  report.figure('memory of the workers', megabytesOf(workers))
  report.figure('  the same with 100 keys', megabytesOf(workersBeside))
  const grown = workers.map((bytes, index) => (bytes - (workersBeside[index] ?? 0)) / MEGABYTE)
  const megabytes = fileBytes / MEGABYTE + grown.reduce((sum, one) => sum + Math.max(0, one), 0)
  report.aim(
    'memory of the machine, more than with 100 keys: file and workers',
    `${(fileBytes / MEGABYTE).toFixed(0)} + ${grown.map((one) => one.toFixed(0)).join(' + ')} MB`,
    `≤ ${MAX_MEGABYTES} MB`,
    megabytes <= MAX_MEGABYTES,
  )
  report.aim(
    'a revoked key is refused by both workers after',
    `${revokedSeconds.toFixed(2)} s`,
    `≤ ${MAX_REVOCATION_SECONDS} s`,
    revokedSeconds <= MAX_REVOCATION_SECONDS,
  )
  report.figure('restart without PostgreSQL, and 200 keys served', textOf(without))
  return { first, firstBeside, rounds, fileBytes, workers, workersBeside, revokedSeconds, without }
}

/** After requests of many keys. Leaves the node running. */
async function memoryOfWorkers(torana: Torana, keys: number): Promise<readonly number[]> {
  await torana.start()
  for (let count = 0; count < ASKED_KEYS; count += 1)
    await ask(torana, keys > ASKED_KEYS ? Math.floor((count * keys) / ASKED_KEYS) : count % keys)
  return familyOf(torana.pid).slice(1).map(memoryOf)
}

interface Start extends Took {
  /** Of PostgreSQL, also for what the node still asks while it stops. */
  readonly databaseCpuSeconds: number
}

async function started(torana: Torana): Promise<Took> {
  const startedMs = performance.now()
  await torana.start()
  const cpuSeconds = cpuOf(familyOf(torana.pid)) / 1_000_000
  return { seconds: (performance.now() - startedMs) / 1000, cpuSeconds }
}

async function startedAndStopped(torana: Torana, postgres: TestServer): Promise<Start> {
  const before = cpuOf(postgres.pids())
  const start = await started(torana)
  await torana.stop()
  return { ...start, databaseCpuSeconds: (cpuOf(postgres.pids()) - before) / 1_000_000 }
}

function middle(starts: readonly Start[]): Start {
  return {
    seconds: median(starts.map(({ seconds }) => seconds)),
    cpuSeconds: median(starts.map(({ cpuSeconds }) => cpuSeconds)),
    databaseCpuSeconds: median(starts.map((start) => start.databaseCpuSeconds)),
  }
}

function textOf({ seconds, cpuSeconds, databaseCpuSeconds }: Took & Partial<Start>): string {
  const ofDatabase = databaseCpuSeconds ? `, PostgreSQL ${databaseCpuSeconds.toFixed(1)} s` : ''
  return `${seconds.toFixed(1)} s (CPU ${cpuSeconds.toFixed(1)} s${ofDatabase})`
}

function memoryOf(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024
}

async function ask(torana: Torana, key: number): Promise<number> {
  const answer = await fetch(`${torana.url}/v1/embeddings`, {
    method: 'POST',
    // Each request may go to another worker.
    headers: {
      authorization: `Bearer ${benchKey(key)}`,
      'content-type': 'application/json',
      connection: 'close',
    },
    body: JSON.stringify({ model: 'model-0', input: `text ${key}`, encoding_format: 'base64' }),
    signal: AbortSignal.timeout(ANSWER_MS),
  })
  await answer.arrayBuffer()
  return answer.status
}

/** From the answer of the control API to the first of ten refusals in a row, each on a connection of its own. */
async function revocation(torana: Torana): Promise<number> {
  const key = REVOKED_KEY
  if ((await ask(torana, key)) !== 200) throw new Error('the key to revoke does not work')
  const token = readFileSync(join(torana.dataFolder, 'admin.token'), 'utf8').trim()
  const answer = await fetch(`${torana.controlUrl}/api/v1/keys/project-${key % PROJECTS}/key-${key}`, {
    method: 'DELETE',
    headers: { authorization: `Bearer ${token}` },
  })
  if (!answer.ok) throw new Error(`the key was not revoked: ${await answer.text()}`)
  const revokedMs = performance.now()
  for (;;) {
    const firstMs = performance.now()
    const statuses = []
    for (let count = 0; count < 10; count += 1) statuses.push(await ask(torana, key))
    if (statuses.every((status) => REFUSALS.has(status))) return (firstMs - revokedMs) / 1000
    if (firstMs - revokedMs > ANSWER_MS) throw new Error(`the revoked key got ${statuses.join(' ')}`)
    await wait(20)
  }
}

async function withoutStore(torana: Torana, postgres: TestServer): Promise<Took> {
  await postgres.kill9()
  const start = await started(torana)
  for (let count = 0; count < 200; count += 1) {
    const status = await ask(torana, Math.floor((count * KEYS) / 201))
    if (status !== 200) throw new Error(`key ${count} got ${status} without PostgreSQL`)
  }
  await torana.stop()
  await postgres.restart()
  return start
}

/** Callers take turns over all keys, so that hardly one is asked for twice: the worst case of the copy on disk. */
async function measureCpu(many: TestServer, few: TestServer, config: object): Promise<object> {
  const start = async (name: string, postgres: TestServer, keys: number) => {
    const torana = await startTorana({
      core: GATEWAY_CORE,
      folder: join(place.folder, name),
      config,
      env: { TORANA_SECRET: BENCH_SECRET, DATABASE_URL: postgres.url, LOG_LEVEL: 'warn' },
      patienceMs: PATIENCE_MS,
      ...(options.program !== undefined && { program: options.program }),
    })
    const url = `${torana.origin}/v1/embeddings`
    return { name, torana, pid: torana.pid, url, script: scriptFor(keys) }
  }
  const subjects = [
    await start(`${FEW_KEYS} keys`, few, FEW_KEYS),
    await start(`${KEYS.toLocaleString('en-US')} keys, 1,000 of them in use`, many, 1000),
    await start(`${KEYS.toLocaleString('en-US')} keys, all in use`, many, REVOKED_KEY),
  ]
  const load = { script: '', connections: CONNECTIONS, seconds: Number(options.seconds), timeoutSeconds: 30 }
  await sideBySide(subjects, load)
  const windows: (readonly Seen[])[] = []
  for (let window = 0; window < Number(options.windows); window += 1)
    windows.push(await sideBySide(subjects, load))
  for (const [index, { name }] of subjects.entries()) {
    report.figure(`CPU of a request, ${name}`, `${median(cpusOf(windows, index)).toFixed(0)} µs`)
    if (index === 0) continue
    const ratios = ratiosOf(windows, index, 0)
    const isMet = index === 1 ? median(ratios) <= MAX_RATIO : undefined
    report.aim('  beside 100 keys', spreadText(ratios), `≤ ${MAX_RATIO}`, isMet)
  }
  return { windows }
}

function scriptFor(keys: number): string {
  return loadScript(place.folder, { key: keys, model: MODELS })
}
