/**
 * `npm run lab -- chaos/outages`: a store is unreachable for a minute under load. Shows that callers hardly notice,
 * and that the ledger is right afterwards.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { publishTexts } from '../book/publish.ts'
import { startCluster, type Cluster } from './cluster.ts'
import { killFor } from './faults.ts'
import { endingsOf, isAnswered, latencies } from './failovers/figures.ts'
import { recordsIn } from './invariants.ts'
import type { RequestRecord } from './load.ts'
import { evidenceFrom, judgedAtRest, startLoad, violationText, type Judgement, type Load } from './rounds.ts'
import { GENEROUS_KEY, LIMITED_KEY, OPEN_KEY, type KeyOfLoad } from './traffic.ts'

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '60' },
    rate: { type: 'string', default: '300' },
    seed: { type: 'string', default: '1' },
    keep: { type: 'boolean', default: false },
    /** Puts the figures that pages cite into docs/figures.json. */
    write: { type: 'boolean', default: false },
  },
})
const awayMs = Number(values.seconds) * 1000
const requestsPerSecond = Number(values.rate)

/** Processes that have just started are slow; their first answers do not count. */
const WARM_UP_MS = 8000
/** Load before the outage, and after it. */
const AROUND_MS = 5000
/** Least share of answered requests of known keys without a hard budget. */
const ANSWERED_SHARE = 0.999
/** Tolerance of the limits while the nodes can't see one another. */
const LIMIT_TOLERANCE = 0.1
const REST_MS = 60_000

/** Half of what the limited key asks for fits: one minute's worth at once, then its rate. */
const limitedPerSecond = (requestsPerSecond * LIMITED_KEY.weight) / (LIMITED_KEY.weight + OPEN_KEY.weight)
const requestsPerMinute = Math.round((limitedPerSecond * awayMs) / 1000 / 2 / (1 + awayMs / 60_000))

interface Outage extends Judgement {
  readonly records: readonly RequestRecord[]
}

const folder = mkdtempSync(join(tmpdir(), 'torana-outages-'))
const cluster = await startCluster({
  folder,
  folderPlan: 'own',
  // Generous timeouts, so that only the outage shows.
  terms: {
    rounds: 0,
    tightUsd: 0,
    requestsPerMinute,
    limits: { attemptTimeoutMs: 10_000, requestTimeoutMs: 15_000 },
  },
})
const failures: string[] = []
try {
  const warmUp = load('warm-up', [OPEN_KEY, GENEROUS_KEY])
  await wait(WARM_UP_MS)
  await warmUp.stop()
  const postgres = await outage('postgres', [OPEN_KEY, GENEROUS_KEY], (house) => house.postgres)
  reportPostgres(postgres)
  const redis = await outage('redis', [OPEN_KEY, LIMITED_KEY], (house) => house.redis)
  reportRedis(redis)
  failures.push(...[...postgres.violations, ...redis.violations].map(violationText))
  failures.push(...cluster.gateways.flatMap((gateway) => gateway.crashes))
  if (values.write && failures.length === 0) publish(postgres.records)
} finally {
  await cluster.stop()
}
for (const failure of failures) console.log(`FAILED: ${failure}`)
if (failures.length > 0 || values.keep) console.log(`logs and records are in ${folder}`)
else rmSync(folder, { recursive: true })
process.exitCode = failures.length > 0 ? 1 : 0

function publish(records: readonly RequestRecord[]): void {
  const open = records.filter(({ key }) => key === OPEN_KEY.name)
  publishTexts('chaos/outages', {
    'outage.postgres.duration': `${awayMs / 1000} s`,
    'outage.postgres.requests': open.length.toLocaleString('en-US'),
    'outage.postgres.answered': open.filter(isAnswered).length.toLocaleString('en-US'),
  })
}

function load(name: string, keys: readonly KeyOfLoad[]): Load {
  return startLoad({
    url: cluster.url,
    requestsPerSecond,
    seed: Number(values.seed),
    keys,
    models: ['steady-w16'],
    leavingShare: 0,
    recordsFile: join(folder, `${name}.jsonl`),
  })
}

/** The records of requests sent during the outage, and the ledger after all of it. */
async function outage(
  name: string,
  keys: readonly KeyOfLoad[],
  storeOf: (cluster: Cluster) => Cluster['postgres'],
): Promise<Outage> {
  const evidence = evidenceFrom(cluster, join(folder, `${name}.jsonl`))
  const around = load(name, keys)
  await wait(AROUND_MS)
  const fromMs = Date.now()
  await killFor(storeOf(cluster), awayMs)
  await wait(AROUND_MS)
  await around.stop()
  const judgement = await judgedAtRest(cluster, evidence, REST_MS)
  const records = recordsIn(evidence.recordsFile).filter(
    ({ atMs }) => atMs >= fromMs && atMs < fromMs + awayMs,
  )
  return { ...judgement, records }
}

function reportPostgres({ records, restedInMs, violations }: Outage): void {
  const open = records.filter(({ key }) => key === OPEN_KEY.name)
  const share = open.filter(isAnswered).length / open.length
  const leased = records.filter(({ key }) => key === GENEROUS_KEY.name)
  const leasedShare = leased.filter(isAnswered).length / leased.length
  console.log(
    `PostgreSQL away for ${awayMs / 1000} s: ${percent(share)} of ${open.length} requests without a hard budget answered` +
      ` (at least ${percent(ANSWERED_SHARE)} must be), ${percent(leasedShare)} of ${leased.length} within what their nodes had leased;` +
      ` ${latencies(open)}; at rest ${(restedInMs / 1000).toFixed(1)} s after the load; ${violations.length} violations`,
  )
  if (!(share >= ANSWERED_SHARE))
    failures.push(`only ${percent(share)} answered without PostgreSQL: ${endingsOf(open)}`)
}

function reportRedis({ records, violations }: Outage): void {
  const limited = records.filter(({ key }) => key === LIMITED_KEY.name)
  const allowed = limited.filter(isAnswered).length
  const expected = requestsPerMinute * (1 + awayMs / 60_000)
  const failed = records.filter((record) => !isAnswered(record) && record.status !== 429)
  console.log(
    `Redis away for ${awayMs / 1000} s: ${failed.length} of ${records.length} requests failed;` +
      ` ${allowed} of ${limited.length} limited ones admitted, by the share rule ${Math.round(expected)}` +
      ` (${percent(allowed / expected - 1)} off); ${latencies(limited)}; ${violations.length} violations`,
  )
  if (failed.length > 0) failures.push(`${failed.length} requests failed without Redis: ${endingsOf(failed)}`)
  if (Math.abs(allowed / expected - 1) > LIMIT_TOLERANCE)
    failures.push(`${allowed} requests were admitted without Redis instead of ${expected}`)
}

function percent(share: number): string {
  return `${(100 * share).toFixed(2)} %`
}
