/**
 * `npm run lab -- chaos/soak`: two gateways that live through millions of requests, with a fault of PostgreSQL or Redis every half a
 * minute. The ledger is compared after every round; memory and handles stay flat, and the last tenth of the answers is as quick as the
 * first. Requests have texts only: images would be the kilobytes of another proof. `--requests 5000000 --rate 1200` takes 75 minutes,
 * `--smoke` one. Exits with 1 when anything was wrong.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { GatewayWatch } from '../bench/gateway-watch.ts'
import { Latencies } from '../load.ts'
import { loadText, Report, writeResults } from '../report.ts'
import { recordsIn } from './invariants.ts'
import { runRounds, violationText, type ChaosOptions, type RoundResult } from './rounds.ts'
import { growthOf, tenthsOf, type Sample } from './soak/trend.ts'
import { TABLE, tableRow } from './table.ts'
import { TEXT_MODELS } from './traffic.ts'

const { values } = parseArgs({
  options: {
    requests: { type: 'string', default: '5000000' },
    rate: { type: 'string', default: '1200' },
    /** Of a round: long against the rest after it, short enough for a judge that holds its requests in 4 GB of memory. */
    'round-seconds': { type: 'string', default: '500' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    smoke: { type: 'boolean', default: false },
  },
})

const SECONDS_PER_FAULT = 30
const ROUND_SECONDS = values.smoke ? 60 : Number(values['round-seconds'])
const REQUESTS_PER_SECOND = values.smoke ? 150 : Number(values.rate)
const REQUESTS = values.smoke ? ROUND_SECONDS * REQUESTS_PER_SECOND : Number(values.requests)
const SAMPLE_MS = 2000
/** Memory is judged from here on: before, caches and pools fill. */
const WARM_SAMPLES = 60_000 / SAMPLE_MS
/** Fewer samples of a warm gateway say nothing about a slope. */
const ENOUGH_SAMPLES = 150
/** Of the memory of the first tenth of the run. A leak of 100 bytes for each request would be more. */
const MAX_GROWTH = 1.2
/** Idle connections and files of the threads that start when they are first needed. */
const MAX_NEW_HANDLES = 96
/** A fault falls into each tenth, and no two are alike. */
const MAX_P99_RATIO = 1.5
const SHOWN_VIOLATIONS = 20

const samples: Sample[][] = []
/** One for each outage. In every round one more fault of Redis is a flush, a pause or lost replies. */
const perRound = Math.max(2, Math.round(ROUND_SECONDS / SECONDS_PER_FAULT))
const postgresFaults = Math.ceil(perRound / 2)
const options: ChaosOptions = {
  rounds: Math.ceil(REQUESTS / (ROUND_SECONDS * REQUESTS_PER_SECOND)),
  seconds: ROUND_SECONDS,
  requestsPerSecond: REQUESTS_PER_SECOND,
  seed: Number(values.seed),
  faults: { gateway: 0, postgres: postgresFaults, redis: perRound - postgresFaults - 1 },
  folderPlan: 'pair',
  models: TEXT_MODELS,
  restMs: 60_000,
  keep: false,
  onStart: ({ gateways }) => {
    const watches = gateways.map(
      ({ pid, dataFolder }) => new GatewayWatch(pid, '', join(dataFolder, 'uploads')),
    )
    samples.push(...watches.map((): Sample[] => []))
    const sample = (): void =>
      watches.forEach((watch, gateway) => {
        // One that has ended by itself is a violation of its round.
        if (!existsSync(`/proc/${gateways[gateway]?.pid}`)) return
        const { connections, others } = watch.handles()
        const [bytes, handles] = [watch.residentBytes(), connections + others]
        // A process that is ending is still listed, but has no memory any more.
        if (Number.isNaN(bytes)) return
        samples[gateway]?.push({ atMs: performance.now(), bytes, handles })
      })
    setInterval(sample, SAMPLE_MS).unref()
  },
}

const answers: { readonly atMs: number; readonly tookMs: number }[] = []
const results: RoundResult[] = []
console.log(
  `seed ${options.seed}, ${options.rounds} rounds of ${options.seconds} s, ${perRound} faults in each`,
)
console.log(TABLE.head())
const { violations, folder } = await runRounds(options, (result) => {
  results.push(result)
  for (const { status, atMs, tookMs } of recordsIn(result.recordsFile))
    if (status === 200) answers.push({ atMs, tookMs })
  console.log(tableRow(result))
})
console.log(TABLE.total(results))
for (const violation of violations.slice(0, SHOWN_VIOLATIONS))
  console.log(`${violation.kind}: ${violationText(violation)}`)
if (folder !== undefined) console.log(`logs, records and violations are in ${folder}`)

const report = new Report()
const sent = results.reduce((sum, { requests }) => sum + requests, 0)
report.aim('requests', String(sent), `≥ ${REQUESTS * 0.9}`, sent >= REQUESTS * 0.9)
report.aim('violations', String(violations.length), '0', violations.length === 0)
const tenths = tenthsOf(answers).map((tookMs) => Latencies.of(tookMs).atMs(0.99))
const [first = Number.NaN, last = Number.NaN] = [tenths[0], tenths.at(-1)]
report.aim(
  'p99 of the first and the last tenth',
  `${first.toFixed(0)} ms, ${last.toFixed(0)} ms`,
  `≤ × ${MAX_P99_RATIO}`,
  values.smoke ? undefined : last <= first * MAX_P99_RATIO,
)
report.figure('p99 of each tenth', `${tenths.map((ms) => ms.toFixed(0)).join(' ')} ms`)
for (const [gateway, all] of samples.entries()) {
  const warm = all.slice(WARM_SAMPLES)
  const isLong = warm.length >= ENOUGH_SAMPLES
  const { first, last, perHour } = growthOf(warm, ({ bytes }) => bytes / 2 ** 20)
  report.aim(
    `memory of gateway ${gateway}, first and last tenth`,
    `${first.toFixed(0)} MB, ${last.toFixed(0)} MB, slope ${perHour.toFixed(1)} MB per hour`,
    `≤ × ${MAX_GROWTH}`,
    isLong ? last <= first * MAX_GROWTH : undefined,
  )
  const handles = growthOf(warm, (sample) => sample.handles)
  report.aim(
    `handles of gateway ${gateway}, first and last tenth`,
    `${handles.first}, ${handles.last}`,
    `≤ ${MAX_NEW_HANDLES} more`,
    isLong ? handles.last <= handles.first + MAX_NEW_HANDLES : undefined,
  )
}
report.print(`soak of ${sent} requests, ${loadText()}`)
writeResults('soak', { sent, rounds: results.length, violations: violations.length, p99Ms: tenths, samples })
process.exit(report.isKept ? 0 : 1)
