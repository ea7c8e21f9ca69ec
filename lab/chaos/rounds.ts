/** The kill table: rounds of load and faults, each followed by a check of everything at rest. */
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { every } from '../../server/src/worker/every.ts'
import { checkBudgets, checkSums, keepLedger, unrest, withLedger } from './ledger-checks.ts'
import { startCluster, type Cluster, type FolderPlan, type House } from './cluster.ts'
import { inflict, planFaults, type FaultCounts } from './faults.ts'
import { checkRequests, type Evidence, type Tally, type Violation } from './invariants.ts'
import type { LoadOptions, LoadSummary } from './load.ts'
import { seededRandom } from '../../server/test/support/random.ts'
import { scriptOn } from '../processes.ts'
import {
  GENEROUS_KEY,
  LATEST_SERVICE_MS,
  LIMITED_KEY,
  OPEN_KEY,
  SHORT_LIMITS,
  tightKey,
  type Terms,
} from './traffic.ts'

export interface ChaosOptions {
  readonly rounds: number
  /** Seconds of load in each round; longer when the faults take longer. */
  readonly seconds: number
  readonly requestsPerSecond: number
  readonly seed: number
  /** Undefined: all. */
  readonly models?: readonly string[]
  /** Faults in each round. */
  readonly faults: FaultCounts
  readonly folderPlan: FolderPlan
  /** Time for the cluster to come to rest after the load. */
  readonly restMs: number
  /** Keeps logs, records and ledger of a run in which nothing was wrong. */
  readonly keep: boolean
  /** Called once, before the first round. */
  readonly onStart?: (cluster: Cluster) => void
}

export interface RoundResult extends Tally {
  readonly round: number
  readonly kills: FaultCounts
  /** Other faults of Redis. */
  readonly trouble: string
  readonly requestsPerSecond: number
  readonly restedInMs: number
  /** What each client received. */
  readonly recordsFile: string
  readonly violations: readonly Violation[]
}

/** Share of clients that leave before their answer. */
const LEAVING_SHARE = 0.03
/** Typical cost of a request of the tight key; its budget is used up about half-way through a round. */
const TYPICAL_NANO_USD = 25_000
/** Interval of looks at the ledger while everything moves. */
const WATCH_MS = 500

export async function runRounds(
  options: ChaosOptions,
  onRound: (result: RoundResult) => void,
): Promise<{ readonly violations: readonly Violation[]; readonly folder: string | undefined }> {
  const folder = mkdtempSync(join(tmpdir(), 'torana-chaos-'))
  const cluster = await startCluster({ folder, folderPlan: options.folderPlan, terms: termsOf(options) })
  const violations: Violation[] = []
  options.onStart?.(cluster)
  try {
    for (let round = 0; round < options.rounds; round += 1) {
      const result = await runRound(cluster, folder, options, round)
      // Not as arguments: a ledger that lags behind has a violation for each of a million requests.
      for (const violation of result.violations) violations.push(violation)
      onRound(result)
    }
    const crashes = cluster.gateways.flatMap((gateway) => gateway.crashes)
    violations.push(...crashes.map((what): Violation => ({ kind: 'other', what, ids: {} })))
    if (violations.length > 0) await withLedger(cluster, (client) => keepLedger(client, folder))
  } finally {
    await cluster.stop()
  }
  if (violations.length === 0 && !options.keep) {
    rmSync(folder, { recursive: true })
    return { violations, folder: undefined }
  }
  writeFileSync(join(folder, 'violations.json'), JSON.stringify(violations, bigintsAsText, 2))
  return { violations, folder }
}

function termsOf({ rounds, seconds, requestsPerSecond }: ChaosOptions): Terms {
  const tightRequests = (seconds * requestsPerSecond * tightKey(0).weight) / 100 / 2
  return {
    rounds,
    tightUsd: Math.round(tightRequests * TYPICAL_NANO_USD) / 1e9,
    // Half of what the limited key asks for.
    requestsPerMinute: Math.round((60 * requestsPerSecond * LIMITED_KEY.weight) / 100 / 2),
    limits: SHORT_LIMITS,
  }
}

async function runRound(
  cluster: Cluster,
  folder: string,
  { seconds, requestsPerSecond, seed, models, faults, restMs }: ChaosOptions,
  round: number,
): Promise<RoundResult> {
  const random = seededRandom(seed + round)
  const evidence = evidenceFrom(cluster, join(folder, `records-${round}.jsonl`))
  const planned = planFaults(random, { counts: faults, seconds, round, gateways: cluster.gateways.length })
  const watch = watchBudgets(cluster)
  const load = startLoad({
    url: cluster.url,
    requestsPerSecond,
    seed: random.below(2 ** 31),
    keys: [OPEN_KEY, GENEROUS_KEY, LIMITED_KEY, tightKey(round)],
    ...(models && { models }),
    leavingShare: LEAVING_SHARE,
    recordsFile: evidence.recordsFile,
  })
  const [inflicted] = await Promise.all([inflict(cluster, planned), wait(seconds * 1000)])
  writeFileSync(
    join(folder, `faults-${round}.json`),
    JSON.stringify({ ...evidence, inflicted }, undefined, 2),
  )
  const { sent, seconds: loadSeconds } = await load.stop()
  const { tally, restedInMs, violations } = await judgedAtRest(cluster, evidence, restMs)
  return {
    ...tally,
    round,
    kills: faults,
    trouble:
      planned.find(({ kind }) => kind === 'flush' || kind === 'pause' || kind === 'swallow')?.kind ?? '',
    requestsPerSecond: sent / loadSeconds,
    restedInMs,
    recordsFile: evidence.recordsFile,
    violations: [...violations, ...(await watch.stop())],
  }
}

/** Of what happens from now on. */
export function evidenceFrom({ oracleFile }: House, recordsFile: string): Evidence {
  return { sinceMs: Date.now(), oracleFile, oracleFromBytes: statSync(oracleFile).size, recordsFile }
}

export interface Judgement {
  readonly tally: Tally
  readonly restedInMs: number
  readonly violations: readonly Violation[]
}

/** After the load: waits for rest, and compares records, log and ledger. */
export async function judgedAtRest(house: House, evidence: Evidence, restMs: number): Promise<Judgement> {
  const endedMs = performance.now()
  const unrested = await rest(house, restMs)
  const restedInMs = performance.now() - endedMs
  return withLedger(house, async (client) => {
    const { tally, violations } = await checkRequests(client, evidence)
    const sums = [...(await checkSums(client)), ...(await checkBudgets(client))]
    return { tally, restedInMs, violations: [...unrested, ...violations, ...sums] }
  })
}

export function violationText({ what, ids }: Violation): string {
  return `${what}: ${JSON.stringify(ids, bigintsAsText)}`
}

export interface Load {
  /** Stops sending; resolves when the last answer has come. */
  stop(): Promise<LoadSummary>
}

export function startLoad(options: LoadOptions): Load {
  const load = scriptOn<LoadSummary>(undefined, join(import.meta.dirname, 'load.ts'), options)
  return {
    stop() {
      load.end()
      return load.answer
    },
  }
}

/** Waits until nothing moves any more; returns what still does when the time is over. */
async function rest(house: House, withinMs: number): Promise<readonly Violation[]> {
  const endMs = performance.now() + withinMs
  await Promise.all(house.gateways.map((gateway) => gateway.ready()))
  await providerAtRest(house)
  for (;;) {
    const left = await withLedger(house, (client) => unrest(client, house))
    if (left.length === 0 || performance.now() > endMs) return left
    await wait(200)
  }
}

/** A call that its gateway gave up may still be served, and is logged then. */
async function providerAtRest({ providerUrl, oracleFile }: House): Promise<void> {
  const noted = (): number => statSync(oracleFile).size
  for (let before = -1; before !== noted();) {
    before = noted()
    // It answers after everything that has reached it before.
    await (await fetch(`${providerUrl}/_health`)).arrayBuffer()
    await wait(LATEST_SERVICE_MS)
  }
}

/** Checks the budgets periodically; each finding is reported once. */
export function watchBudgets(house: House): { stop(): Promise<readonly Violation[]> } {
  const found = new Map<string, Violation>()
  const watching = every(
    WATCH_MS,
    async () => {
      // The first moment tells more than the last: the leases are still as they were when it went wrong.
      for (const violation of await withLedger(house, checkBudgets)) {
        const name = `${violation.what} ${String(violation.ids['budget_id'])}`
        if (!found.has(name)) found.set(name, violation)
      }
    },
    // PostgreSQL is dead at present.
    () => {},
  )
  return {
    async stop() {
      await watching.stop()
      return [...found.values()]
    },
  }
}

function bigintsAsText(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value
}
