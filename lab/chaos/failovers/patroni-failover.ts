/** The primary PostgreSQL is lost with its machine, under load; Patroni promotes its standby. */
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { eventually } from '../../../server/test/support/process.ts'
import { until } from '../../processes.ts'
import { startFakeProvider } from '../../fake-provider/server.ts'
import { startHouse, type House } from '../cluster.ts'
import { allEnded } from '../images/kill.ts'
import { testify } from '../images/witnesses.ts'
import { recordsIn } from '../invariants.ts'
import type { RequestRecord } from '../load.ts'
import { evidenceFrom, judgedAtRest, startLoad, violationText, watchBudgets } from '../rounds.ts'
import { GENEROUS_KEY, OPEN_KEY, tightKey } from '../traffic.ts'
import { endingsOf, isAnswered, latencies, seconds, type Proof, type ProofOptions } from './figures.ts'
import { startPatroni, TORANA_ROLE, type Patroni } from './patroni.ts'
import { startPictureLoad, type PictureRecord } from './picture-load.ts'
import { startProbe, type Probe } from './probe.ts'
import { startStoreProxy } from './store-proxy.ts'
import { failoverConfig, PICTURE_MODELS, TIMES } from './terms.ts'
import { watchNodes, type Watch } from './watch.ts'

const KEYS = [OPEN_KEY, GENEROUS_KEY, tightKey(0)]
/** Processes that have just started are slow. */
const WARM_UP_MS = 8000
/** Load before a failover, and after it. */
const AROUND_MS = 8000
const PRIMARY_MS = 60_000
const DRAINED_MS = 180_000
const REST_MS = 120_000
/** Time for a returning node, which copies what it missed, or everything. */
const BACK_MS = 180_000
/** Typical cost of a request of the tight key, whose budget is sized by it. */
const TYPICAL_USD = 25e-6
const TIGHT_SECONDS = 20
/** Allowed refusal of a request with a hard budget while its remaining money is unknown. */
const LEASE_USED_UP = '503 budget_store_unreachable'
/** Allowed refusals of an image request: nothing was bought, and the client retries. */
const IMAGES_WAIT = new Set(['503 image_store_unreachable', LEASE_USED_UP])
const BUDGET_REFUSALS = new Set(['429 budget_exhausted', '429 budget_reserved'])

/** In Unix time. */
interface Failover {
  readonly name: string
  readonly killedMs: number
  readonly promotedMs: number
  readonly drainedMs: number
  readonly standbyMs: number
}

export const patroniFailover: Proof = {
  name: 'patroni',
  programs: ['patroni', 'etcd', 'haproxy', 'postgres', 'unshare'],
  async prove(options) {
    const { folder, requestsPerSecond, times } = options
    const patroni = await startPatroni()
    const proxy = await startStoreProxy(folder, { postgres: patroni.nodes, redis: [] })
    const provider = await startFakeProvider({ logFile: join(folder, 'pictures.jsonl') })
    const address = `${TORANA_ROLE.name}:${TORANA_ROLE.password}@127.0.0.1:${proxy.postgresPort}`
    const databaseUrl = `postgres://${address}/${TORANA_ROLE.name}`
    const assets = join(folder, 'assets')
    const terms = { rounds: 1, tightUsd: tightUsd(options), requestsPerMinute: 60_000, limits: TIMES }
    const house = await startHouse({
      folder,
      dataFolders: ['a', 'b'],
      configOf: (providerUrl) => failoverConfig(providerUrl, provider.url, terms),
      env: { DATABASE_URL: databaseUrl, ASSETS_URL: `file:${assets}` },
    })
    const wrongs: string[] = []
    try {
      await warmUp(house, options)
      const probe = await startProbe(`postgres://${address}/probe`)
      const watch = watchNodes(house.gateways)
      const budgets = watchBudgets(house)
      const evidence = {
        ...evidenceFrom(house, join(folder, 'vectors.jsonl')),
        otherModels: PICTURE_MODELS,
      }
      const vectors = startLoad({
        ...loadOf(house, options),
        requestsPerSecond,
        recordsFile: evidence.recordsFile,
      })
      const pictures = startPictureLoad(house.url)
      const failovers: Failover[] = []
      for (let time = 0; time < times; time += 1) {
        await wait(AROUND_MS)
        failovers.push(await failOver(patroni, watch))
      }
      await wait(AROUND_MS)
      await Promise.all([vectors.stop(), pictures.stop()])
      const ledger = await judgedAtRest(house, evidence, REST_MS)
      await watch.stop()

      const place = { house: { folder, provider }, folder, assets, databaseUrl }
      await allEnded(place)
      const orders = pictures.records.map(({ order }) => order)
      const tally = await testify(place, house.url, orders, {
        name: 'failover',
        kills: times,
        afterwards: 'pictures',
      })
      const lostRows = await probe.stop()
      const records = recordsIn(evidence.recordsFile)
      options.lost('postgres', Math.max(...failovers.map((one) => one.promotedMs - one.killedMs)))
      for (const failover of failovers)
        report(failover, { records, pictures: pictures.records, watch, probe })
      console.log(
        `in all: ${records.length} requests, ${ledger.tally.answered} answered; ${ledger.tally.served} calls served, ` +
          `${ledger.tally.posted} entries for them (requests that share a call have one each); ${tally.served} pictures served, ${tally.retrieved} retrieved from ${tally.jobs} jobs; ` +
          `${probe.acknowledged.length} acknowledged rows of the probe, ${lostRows.length} lost`,
      )
      console.log(`endings: ${endingsOf(records)}`)
      wrongs.push(
        ...[...ledger.violations, ...(await budgets.stop())].map(violationText),
        ...tally.other,
        ...lostRows.map((row) => `row ${row} of the probe was acknowledged and is lost`),
        ...wrongEndings(records, pictures.records, failovers),
        ...house.gateways.flatMap(({ crashes }) => crashes),
      )
    } finally {
      await house.stop()
      proxy.stop()
      await Promise.all([provider.close(), patroni.stop()])
    }
    return wrongs
  },
}

/** Sized to be used up during the failovers. */
function tightUsd({ requestsPerSecond, times }: ProofOptions): number {
  const weights = KEYS.reduce((sum, { weight }) => sum + weight, 0)
  const asked = (requestsPerSecond * TIGHT_SECONDS * times * tightKey(0).weight) / weights
  return Math.round(asked * TYPICAL_USD * 1e9) / 1e9
}

function loadOf(house: House, { seed }: ProofOptions) {
  return {
    url: house.url,
    seed,
    keys: KEYS,
    models: ['steady-w16', 'joined-w16', 'slow-w16'],
    leavingShare: 0,
  }
}

async function warmUp(house: House, options: ProofOptions): Promise<void> {
  const { folder, requestsPerSecond } = options
  const keys = [OPEN_KEY, GENEROUS_KEY]
  const recordsFile = join(folder, 'warm-up.jsonl')
  const load = startLoad({ ...loadOf(house, options), keys, requestsPerSecond, recordsFile })
  await wait(WARM_UP_MS)
  await load.stop()
}

async function failOver(patroni: Patroni, watch: Watch): Promise<Failover> {
  const primary = await patroni.primary()
  if (primary === undefined) throw new Error('there is no primary to lose')
  const killedMs = Date.now()
  await primary.server.kill9()
  const promotedMs = await until('another node is the primary', PRIMARY_MS, async () => {
    const now = await patroni.primary()
    return now !== undefined && now !== primary
  })
  const drainedMs = await until('the spools are drained', DRAINED_MS, () => {
    const last = watch.looks.at(-1)
    return last !== undefined && last.atMs > promotedMs && last.spoolWaiting + last.storesUnreachable === 0
  })
  await eventually(() => primary.server.restart(), BACK_MS)
  await patroni.standbyReady()
  return { name: `${primary.name} killed`, killedMs, promotedMs, drainedMs, standbyMs: Date.now() }
}

interface Seen {
  readonly records: readonly RequestRecord[]
  readonly pictures: readonly PictureRecord[]
  readonly watch: Watch
  readonly probe: Probe
}

function report(failover: Failover, { records, pictures, watch, probe }: Seen): void {
  const { name, killedMs, promotedMs, drainedMs, standbyMs } = failover
  const during = <One extends { readonly atMs: number }>(all: readonly One[]): readonly One[] =>
    all.filter(({ atMs }) => atMs >= killedMs && atMs < drainedMs)
  const looks = during(watch.looks)
  const before = watch.looks.findLast(({ atMs }) => atMs < killedMs)
  const away = looks.filter(({ storesUnreachable }) => storesUnreachable > 0)
  const asked = during(records)
  const waited = during(pictures)
  const refused = waited.filter(({ refusals }) => refusals.length > 0)
  const lines = [
    `no primary for ${seconds(promotedMs - killedMs)} (Patroni), no write for ${seconds(probe.gapMs(killedMs, standbyMs))} (probe)`,
    `nodes without PostgreSQL for ${seconds((away.at(-1)?.atMs ?? 0) - (away[0]?.atMs ?? 0))}`,
    `${(looks.at(-1)?.spooled ?? 0) - (before?.spooled ?? 0)} records went to disk, ${Math.max(...looks.map(({ spoolWaiting }) => spoolWaiting))} waited there at most; all in PostgreSQL ${seconds(drainedMs - promotedMs)} after the new primary`,
    `${asked.length} vector requests meanwhile: ${endingsOf(asked)}; ${latencies(asked.filter(isAnswered))}`,
    `${waited.length} pictures meanwhile: ${waited.length - refused.length} at the first try, ${refused.length} after being told ${[...new Set(refused.flatMap(({ refusals }) => refusals))].join(', ') || 'nothing'}; slowest ${seconds(Math.max(0, ...waited.map(({ tookMs }) => tookMs)))}`,
    `the old primary is a synchronous standby ${seconds(standbyMs - drainedMs)} after its start`,
  ]
  console.log([`\n${name}`, ...lines].join('\n  '))
}

/** Refusals beyond the allowed ones. */
function wrongEndings(
  records: readonly RequestRecord[],
  pictures: readonly PictureRecord[],
  failovers: readonly Failover[],
): readonly string[] {
  const isFailingOver = (atMs: number): boolean =>
    failovers.some(({ killedMs, drainedMs }) => atMs >= killedMs - TIMES.requestTimeoutMs && atMs < drainedMs)
  const wrong = records.filter((record) => {
    if (isAnswered(record)) return false
    const ending = `${record.status} ${record.error}`
    if (record.key === tightKey(0).name && BUDGET_REFUSALS.has(ending)) return false
    return record.key === OPEN_KEY.name || ending !== LEASE_USED_UP || !isFailingOver(record.atMs)
  })
  const refusals = pictures.flatMap(({ refusals: all }) => all).filter((refusal) => !IMAGES_WAIT.has(refusal))
  return [
    ...(wrong.length === 0 ? [] : [`${wrong.length} requests failed: ${endingsOf(wrong)}`]),
    ...refusals.map((refusal) => `a picture was refused: ${refusal}`),
  ]
}
