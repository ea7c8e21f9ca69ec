/** The primary Redis is killed under load; the sentinels promote its replica. */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { promisify } from 'node:util'
import { bareEnvironment } from '../../../server/test/support/process.ts'
import { startPostgresServer } from '../../../server/test/support/servers.ts'
import { until } from '../../processes.ts'
import { startFakeProvider } from '../../fake-provider/server.ts'
import { withLedger } from '../ledger-checks.ts'
import { startHouse, type House } from '../cluster.ts'
import { recordsIn } from '../invariants.ts'
import type { RequestRecord } from '../load.ts'
import { evidenceFrom, judgedAtRest, startLoad, violationText, type Load } from '../rounds.ts'
import { LIMITED_KEY, OPEN_KEY, type KeyOfLoad } from '../traffic.ts'
import { endingsOf, isAnswered, latencies, seconds, type Proof, type ProofOptions } from './figures.ts'
import { startSentinels, type Sentinels } from './sentinel.ts'
import { startStoreProxy } from './store-proxy.ts'
import { failoverConfig, SOFT_KEY, TIMES } from './terms.ts'
import { watchNodes, type Watch } from './watch.ts'

const NODES = 2
const WARM_UP_MS = 8000
const AROUND_MS = 8000
const PRIMARY_MS = 60_000
const BACK_MS = 60_000
const REST_MS = 120_000
/** The only allowed refusal. */
const OVER_LIMIT = '429 rate_limit_exceeded'
/** Least share of the limit that is used: a node with fewer requests than the other does not use up its share. */
const LEAST_SHARE = 0.8
const SHARED_SUM_MS = 2500
const PROGRAM = join(import.meta.dirname, '../../../server/bin/torana.js')

/** In Unix time. */
interface Failover {
  readonly killedMs: number
  readonly promotedMs: number
  readonly sharedMs: number
  readonly replicaMs: number
}

export const sentinelFailover: Proof = {
  name: 'sentinel',
  programs: ['redis-server', 'haproxy', 'postgres'],
  async prove(options) {
    const { folder, times } = options
    const [sentinels, postgres] = await Promise.all([startSentinels(), startPostgresServer()])
    const proxy = await startStoreProxy(folder, { postgres: [], redis: sentinels.servers })
    const pictures = await startFakeProvider()
    const house = await startHouse({
      folder,
      dataFolders: ['a', 'b'],
      configOf: (providerUrl) =>
        failoverConfig(providerUrl, pictures.url, {
          rounds: 0,
          tightUsd: 0,
          requestsPerMinute: limitOf(options),
          limits: TIMES,
        }),
      env: { DATABASE_URL: postgres.url, REDIS_URL: `redis://127.0.0.1:${proxy.redisPort}` },
    })
    try {
      const warmUp = loadOf(house, options, [OPEN_KEY], 'warm-up')
      await wait(WARM_UP_MS)
      await warmUp.stop()
      const watch = watchNodes(house.gateways)
      await until('the nodes count in Redis', BACK_MS, () => sharedBy(watch) === NODES)
      const evidence = evidenceFrom(house, join(folder, 'vectors.jsonl'))
      const vectors = loadOf(house, options, [OPEN_KEY, LIMITED_KEY, SOFT_KEY], 'vectors')
      const failovers: Failover[] = []
      for (let time = 0; time < times; time += 1) {
        await wait(AROUND_MS)
        failovers.push(await failOver(sentinels, watch))
      }
      await wait(AROUND_MS)
      await vectors.stop()
      const { tally, violations } = await judgedAtRest(house, evidence, REST_MS)
      await watch.stop()

      const records = recordsIn(evidence.recordsFile)
      options.lost('redis', Math.max(...failovers.map((one) => one.promotedMs - one.killedMs)))
      for (const failover of failovers) report(failover, records, watch)
      const { rows } = await withLedger(house, (client) =>
        client.query<{ sum: string }>(
          "SELECT coalesce(sum(amount_nano), 0) AS sum FROM usage_events WHERE project = 'soft'",
        ),
      )
      const softNanoUsd = BigInt(rows[0]?.sum ?? 0)
      const shownNanoUsd = await shownSoftBudget(house, folder)
      console.log(
        `in all: ${records.length} requests: ${endingsOf(records)}; ${tally.served} calls served, ${tally.posted} entries for them (requests that share a call have one each); ` +
          `the soft budget says ${shownNanoUsd} nano-dollars, the ledger ${softNanoUsd}`,
      )
      const wrong = records.filter((record) => !isAnswered(record) && !isOverLimit(record))
      return [
        ...violations.map(violationText),
        ...(wrong.length === 0 ? [] : [`${wrong.length} requests failed: ${endingsOf(wrong)}`]),
        ...(shownNanoUsd === softNanoUsd ? [] : ['the soft budget and the ledger differ']),
        ...wrongLimits(records, options),
        ...house.gateways.flatMap(({ crashes }) => crashes),
      ]
    } finally {
      await house.stop()
      proxy.stop()
      await Promise.all([pictures.close(), postgres.stop(), sentinels.stop()])
    }
  },
}

/** The limited key asks for four times its limit. */
function limitOf({ requestsPerSecond }: ProofOptions): number {
  const weights = [OPEN_KEY, LIMITED_KEY, SOFT_KEY].reduce((sum, { weight }) => sum + weight, 0)
  return Math.round((60 * requestsPerSecond * LIMITED_KEY.weight) / weights / 4)
}

function loadOf(house: House, options: ProofOptions, keys: readonly KeyOfLoad[], name: string): Load {
  const { folder, requestsPerSecond, seed } = options
  return startLoad({
    url: house.url,
    requestsPerSecond,
    seed,
    keys,
    models: ['steady-w16', 'joined-w16', 'slow-w16'],
    leavingShare: 0,
    recordsFile: join(folder, `${name}.jsonl`),
  })
}

async function failOver(sentinels: Sentinels, watch: Watch): Promise<Failover> {
  const primary = await sentinels.primary()
  const killedMs = Date.now()
  await primary.kill9()
  const isPromoted = async (): Promise<boolean> => (await sentinels.primary()) !== primary
  const promotedMs = await until('another server is the primary', PRIMARY_MS, isPromoted)
  const isShared = (): boolean => (watch.looks.at(-1)?.atMs ?? 0) > promotedMs && sharedBy(watch) === NODES
  const sharedMs = await until('the nodes count in Redis again', BACK_MS, isShared)
  await primary.restart()
  const isReplica = async (): Promise<boolean> => (await sentinels.roleOf(primary)) === 'slave'
  const replicaMs = await until('the old primary is a replica', BACK_MS, isReplica)
  return { killedMs, promotedMs, sharedMs, replicaMs }
}

function sharedBy({ looks }: Watch): number {
  return looks.at(-1)?.limitersShared ?? 0
}

function report(failover: Failover, records: readonly RequestRecord[], { looks }: Watch): void {
  const { killedMs, promotedMs, sharedMs, replicaMs } = failover
  const localAt = (ms: number): number => looks.findLast(({ atMs }) => atMs <= ms)?.localDecisions ?? 0
  const during = records.filter(({ atMs }) => atMs >= killedMs && atMs < sharedMs)
  const lines = [
    `no primary for ${seconds(promotedMs - killedMs)} (Sentinel); both nodes count in Redis again after ${seconds(sharedMs - killedMs)}`,
    `${localAt(sharedMs) - localAt(killedMs)} requests were counted by the nodes themselves meanwhile`,
    `${during.length} requests meanwhile: ${endingsOf(during)}; ${latencies(during.filter(isAnswered))}`,
    `the old primary is a replica ${seconds(replicaMs - sharedMs)} after its start`,
  ]
  console.log(['\nRedis primary killed', ...lines].join('\n  '))
}

function isOverLimit({ key, status, error }: RequestRecord): boolean {
  return key === LIMITED_KEY.name && `${status} ${error}` === OVER_LIMIT
}

/**
 * One minute's worth at once, then the rate; each failover lets at most as much again pass, because counting
 * may start over.
 */
function wrongLimits(records: readonly RequestRecord[], options: ProofOptions): readonly string[] {
  const limited = records.filter(({ key }) => key === LIMITED_KEY.name)
  const admitted = limited.filter((record) => !isOverLimit(record)).length
  const spanMs = (limited.at(-1)?.atMs ?? 0) - (limited[0]?.atMs ?? 0)
  const perMinute = limitOf(options)
  const exact = perMinute * (1 + spanMs / 60_000)
  const most = exact + options.times * perMinute
  console.log(
    `limit of ${perMinute} a minute: ${admitted} of ${limited.length} admitted in ${seconds(spanMs)}; ` +
      `${Math.round(exact)} without a failover, ${Math.round(most)} are allowed`,
  )
  const isWithin = admitted <= Math.ceil(most) && admitted >= Math.floor(exact * LEAST_SHARE)
  return isWithin
    ? []
    : [`${admitted} requests were admitted, not ${Math.round(exact)} to ${Math.round(most)}`]
}

/** The soft budget as a person sees it. */
async function shownSoftBudget({ gateways }: House, folder: string): Promise<bigint> {
  // Nodes cache the ledger's sum for two seconds.
  await wait(SHARED_SUM_MS)
  const { port } = new URL(gateways[0]?.controlUrl ?? '')
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [PROGRAM, 'budgets', 'list', '--project', 'soft', '--json'],
    { env: { ...bareEnvironment(), TORANA_DATA_DIR: join(folder, 'data-a'), CONTROL_PORT: port } },
  )
  const spent = /"spent_usd": *"(\d+)\.(\d{9})"/.exec(stdout)
  if (spent === null) throw new Error(`no sum in ${stdout}`)
  return BigInt(`${spent[1]}${spent[2]}`)
}
