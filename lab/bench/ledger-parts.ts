/**
 * What one call writes, part by part: bytes of PostgreSQL's write-ahead log by table, index and kind of record, statements, and the
 * median time that a call takes beside a bare proxy. A whole node with PostgreSQL and Redis, at a steady rate. With `--before
 * <commit>` the node of that commit is measured in the same run. `npm run lab -- bench/ledger-parts --before HEAD~1`
 */
import { parseArgs } from 'node:util'
import { setTimeout as wait } from 'node:timers/promises'
import { openPostgres, type Database } from '../../server/src/stores/postgres/database.ts'
import { SOURCE_PROGRAM } from '../../server/test/support/process.ts'
import { makeVersionOf, programOf } from '../chaos/restarts/versions.ts'
import { bareSubject } from './embeddings-stage.ts'
import { startNginx } from './parts.ts'
import { GATEWAY_CORE, LOAD_CORE } from './side-by-side.ts'
import { cpuMicroseconds, stopAll } from '../processes.ts'
import { pinTo, Workplace } from '../workplace.ts'
import { benchKey, loadScript, rateOf, wrk, type Load } from '../wrk.ts'
import { BENCH_SECRET, HOSTED_MODEL, hostedConfig, startTorana, storeKeys } from './torana.ts'
import { loadText, print, writeResults } from '../report.ts'

const { values: options } = parseArgs({
  options: {
    before: { type: 'string' },
    rate: { type: 'string', default: '500' },
    seconds: { type: 'string', default: '15' },
    warmup: { type: 'string', default: '4' },
    connections: { type: 'string', default: '64' },
    keys: { type: 'string', default: '100' },
    /** Parts below this many bytes per call are added up. */
    least: { type: 'string', default: '4' },
  },
})
const [rate, seconds, warmup, connections, keyCount] = [
  options.rate,
  options.seconds,
  options.warmup,
  options.connections,
  options.keys,
].map(Number) as [number, number, number, number, number]
/** The request log is written a while after its requests. */
const LOG_WRITTEN_MS = 3000

/**
 * Records of the log between two positions, by relation and kind. Partitions count as their table. An image of a page is a part
 * of its own: a page has one per checkpoint, whatever is written to it.
 */
const PARTS = `
SELECT coalesce(regexp_replace(relation::text, '_(\\d{4}(_\\d{2}){1,2}|rest)(?=_|$)', ''), resource_manager) AS relation,
  replace(record_type, '+INIT', '') AS kind, count(*)::integer AS records,
  sum(record_length - fpi_length)::integer AS bytes, sum(fpi_length)::integer AS image_bytes
FROM (
  SELECT *, pg_filenode_relation(0, (regexp_match(block_ref, 'rel \\d+/\\d+/(\\d+)'))[1]::oid) AS relation
  FROM pg_get_wal_records_info($1, $2)
) AS records
GROUP BY 1, 2 ORDER BY bytes DESC`

const STATEMENTS = `
SELECT left(regexp_replace(query, '\\s+', ' ', 'g'), 60) AS statement, calls::integer, wal_bytes::bigint AS bytes
FROM pg_stat_statements WHERE calls > $1 AND query NOT LIKE '%pg_wal%' ORDER BY calls DESC LIMIT 12`

interface Part {
  readonly relation: string
  readonly kind: string
  readonly records: number
  readonly bytes: number
  readonly image_bytes: number
}

interface Statement {
  readonly statement: string
  readonly calls: number
  readonly bytes: bigint
}

interface Measured {
  readonly name: string
  readonly load: Load
  readonly calls: number
  /** CPU of its processes per call. */
  readonly postgresUs: number
  readonly gatewayUs: number
  readonly parts: readonly Part[]
  readonly statements: readonly Statement[]
}

await using place = new Workplace('ledger-parts')
const { folder } = place
const { origin } = await startNginx(folder, LOAD_CORE)
const bare = await bareSubject(origin, '/base64/v1')
const asking = { key: keyCount, model: HOSTED_MODEL, pauseMs: (connections / rate) * 1000 }
const script = loadScript(folder, asking)
const versions = [
  ...(options.before === undefined
    ? []
    : [{ name: 'before', program: programOf(makeVersionOf(options.before, folder)) }]),
  { name: 'after', program: SOURCE_PROGRAM },
]
const bareLoads: Load[] = []
const measured: Measured[] = []
for (const { name, program } of versions) {
  bareLoads.push(await ask(bare.url, Math.ceil(seconds / 2)))
  measured.push(await measure(name, program))
}
for (const one of measured) printParts(one)
printSums(measured)
writeResults('ledger-parts', { rate, keyCount, bareLoads, measured: measured.map(plain) })

async function measure(name: string, program: string): Promise<Measured> {
  const postgres = await place.postgres({ core: LOAD_CORE, memory: '128MB' })
  const redis = await place.redis({ core: LOAD_CORE })
  const setUp = openPostgres(postgres.url, { poolSize: 1 })
  await setUp.query(`ALTER SYSTEM SET shared_preload_libraries = 'pg_stat_statements'`)
  await setUp.close()
  await postgres.kill9()
  await postgres.restart()
  pinTo(LOAD_CORE, postgres.pids())
  const database = openPostgres(postgres.url, { poolSize: 1, queryTimeoutMs: 60_000 })
  await database.query('CREATE EXTENSION pg_walinspect')
  await database.query('CREATE EXTENSION pg_stat_statements')
  const torana = await startTorana({
    program,
    core: GATEWAY_CORE,
    folder,
    config: hostedConfig(`${origin}/base64/v1`),
    env: { TORANA_SECRET: BENCH_SECRET, DATABASE_URL: postgres.url, REDIS_URL: redis.url },
  })
  await storeKeys(
    torana,
    Array.from({ length: keyCount }, (_, index) => {
      return { name: `key-${index}`, secret: benchKey(index), limits: { requests_per_minute: 10_000_000 } }
    }),
  )
  const url = `${torana.origin}/v1/embeddings`
  await ask(url, warmup)
  await wait(LOG_WRITTEN_MS)
  await database.query('CHECKPOINT')
  await database.query('SELECT pg_stat_statements_reset()')
  const from = await position(database)
  const cpu = (): readonly [number, number] => [
    postgres.pids().reduce((all, pid) => all + cpuMicroseconds(pid), 0),
    cpuMicroseconds(torana.pid),
  ]
  const cpuBefore = cpu()
  const load = await ask(url, seconds)
  await wait(LOG_WRITTEN_MS)
  const cpuAfter = cpu()
  const to = await position(database)
  const statements = await database.query<Statement>(STATEMENTS, [seconds])
  const parts = await database.query<Part>(PARTS, [from.lsn, to.lsn])
  await database.close()
  await stopAll(torana.pid)
  const calls = to.calls - from.calls
  const [postgresUs, gatewayUs] = [(cpuAfter[0] - cpuBefore[0]) / calls, (cpuAfter[1] - cpuBefore[1]) / calls]
  return { name, load, calls, postgresUs, gatewayUs, parts, statements }
}

async function position(database: Database): Promise<{ readonly lsn: string; readonly calls: number }> {
  const [row] = await database.query<{ lsn: string; calls: number }>(
    `SELECT pg_current_wal_flush_lsn()::text AS lsn, (SELECT count(*)::integer FROM usage_events WHERE kind = 'post') AS calls`,
  )
  if (row === undefined) throw new Error('no position of the log')
  return row
}

async function ask(url: string, forSeconds: number): Promise<Load> {
  const load = await wrk({ url, script, connections, seconds: forSeconds, core: LOAD_CORE })
  if (load.errors > 0) throw new Error(`${load.errors} requests failed at ${url}`)
  return load
}

function printParts({ name, calls, parts, statements }: Measured): void {
  const least = Number(options.least) * calls
  const large = parts.filter(({ bytes, image_bytes: images }) => bytes + images >= least)
  const rest = parts.filter((part) => !large.includes(part))
  const perCall = (amount: number): string => (amount / calls).toFixed(1)
  console.log(`\n${name}: ${calls} calls`)
  print([
    ['relation', 'record', 'records/call', 'bytes/call', 'page images/call'],
    ...large.map((part) => [
      part.relation,
      part.kind,
      (part.records / calls).toFixed(2),
      perCall(part.bytes),
      perCall(part.image_bytes),
    ]),
    [
      'others',
      '',
      perCall(sum(rest, 'records')),
      perCall(sum(rest, 'bytes')),
      perCall(sum(rest, 'image_bytes')),
    ],
  ])
  print([
    ['statements/call', 'WAL bytes/call', 'statement'],
    ...statements.map(({ statement, calls: runs, bytes }) => [
      (runs / calls).toFixed(3),
      perCall(Number(bytes)),
      statement,
    ]),
  ])
}

function printSums(all: readonly Measured[]): void {
  const about = (pattern: RegExp, { parts }: Measured): number =>
    parts.filter(({ relation }) => pattern.test(relation)).reduce((bytes, part) => bytes + part.bytes, 0)
  console.log(`\nWAL bytes per call at ${rate} calls/s, ${keyCount} keys; ${loadText()}`)
  print([
    [
      '',
      'ledger rows',
      'rollups',
      'request log',
      'others',
      'all',
      'page images',
      'calls/batch',
      'PostgreSQL µs',
      'Torana µs',
      'p50 ms',
      'added p50 ms',
      'rate',
    ],
    ...all.map((one, index) => {
      const { calls, parts, load, statements } = one
      const perCall = (amount: number): string => (amount / calls).toFixed(0)
      const [ledger, rollups, log] = [/^usage_events/, /^usage_(hours|label|days)/, /^requests/].map(
        (pattern) => about(pattern, one),
      ) as [number, number, number]
      const whole = sum(parts, 'bytes')
      const batches =
        statements.find(({ statement }) => statement.includes('WITH fence'))?.calls ?? Number.NaN
      return [
        one.name,
        perCall(ledger),
        perCall(rollups),
        perCall(log),
        perCall(whole - ledger - rollups - log),
        perCall(whole),
        perCall(sum(parts, 'image_bytes')),
        (calls / batches).toFixed(2),
        one.postgresUs.toFixed(0),
        one.gatewayUs.toFixed(0),
        load.p50Ms.toFixed(2),
        (load.p50Ms - (bareLoads[index]?.p50Ms ?? Number.NaN)).toFixed(2),
        rateOf(load).toFixed(0),
      ]
    }),
  ])
}

function sum(parts: readonly Part[], field: 'records' | 'bytes' | 'image_bytes'): number {
  return parts.reduce((total, part) => total + part[field], 0)
}

function plain({ statements, ...rest }: Measured): object {
  return { ...rest, statements: statements.map((one) => ({ ...one, bytes: Number(one.bytes) })) }
}
