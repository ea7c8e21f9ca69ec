/**
 * The effect of overload on the requests that are served. A gateway, an upstream and senders as separate processes; senders
 * do not slow down when answers do. Parts: B an upstream that serves 400 calls per second, C one project of ten that asks
 * for too much, D a gateway without CPU time. `npm run lab -- bench/overload --parts BCD` Exits with 1 when a goal is missed.
 */
import { parseArgs } from 'node:util'
import {
  answered,
  latencyMs,
  OTHER_CORE,
  send,
  startGateway,
  statusesOf,
  type Gateway,
} from './load-stage.ts'
import type { Stream, SentRequest } from '../sender.ts'
import { startNginx } from './parts.ts'
import { cpuMicroseconds, stopAll } from '../processes.ts'
import { Report, loadText, median } from '../report.ts'
import { startProvider } from '../provider.ts'
import { defaultLimits } from '../../server/src/core/settings.ts'
import { Workplace } from '../workplace.ts'

const { values: options } = parseArgs({
  options: {
    parts: { type: 'string', default: 'BCD' },
    seconds: { type: 'string', default: '8' },
    /** Of B and C; figures are medians. */
    rounds: { type: 'string', default: '3' },
    /** Calls that the upstream does at once, 50 ms each. Fewer for a machine that has other things to do. */
    slots: { type: 'string', default: '20' },
  },
})
const seconds = Number(options.seconds)
const rounds = Number(options.rounds)

const SERVICE_MS = 50
const UPSTREAM = `capacity-${options.slots}+service-${SERVICE_MS}`
const UPSTREAM_PER_SECOND = (Number(options.slots) * 1000) / SERVICE_MS
/** Its senders are on the same core. Without this the upstream loses a tenth of its capacity to them at five times the load. */
const PROVIDER_NICENESS = -10
const WARM_UP_SECONDS = 5
const PATIENCE_MS = 5000
/** The beginning of an overload is measured apart from its course. */
const SETTLED_MS = 3000
const AIM_NORMAL_SECONDS = 5
const { queueWaitMs: QUEUE_WAIT_MS } = defaultLimits
/** A refusal comes at once, or when a wait of this length was in vain; timers and sockets add a little. */
const LATEST_REFUSAL_MS = QUEUE_WAIT_MS + 100
/** A request may wait for its turn, and then for its call behind another. */
const MAX_MS = QUEUE_WAIT_MS + 2 * SERVICE_MS
const MODEL = 'limited-w16'
const QUIET_PROJECTS = 9
/** All ten together ask for half of the capacity. */
const QUIET_PER_SECOND = UPSTREAM_PER_SECOND / 20

await using place = new Workplace('overload')
const { folder } = place
const report = new Report()
if (options.parts.includes('B')) await limitedUpstream()
if (options.parts.includes('C')) await noisyNeighbour()
if (options.parts.includes('D')) await noProcessor()
if (!report.isKept) process.exitCode = 1

/** B. */
async function limitedUpstream(): Promise<void> {
  const { gateway, stopBoth } = await start(['all'])
  let cpuUs = 0
  const at = async (times: number, forSeconds = seconds): Promise<readonly SentRequest[]> => {
    const before = cpuMicroseconds(gateway.pid)
    const [sent = []] = await load(gateway, forSeconds, [stream(gateway, 'all', UPSTREAM_PER_SECOND * times)])
    cpuUs = cpuMicroseconds(gateway.pid) - before
    return sent
  }
  await at(0.5, WARM_UP_SECONDS)
  const calm = await repeated(async () => [await at(0.5), await at(1), cpuUs] as const)
  const half = middle(calm, ([sent]) => latencyMs(answered(sent), 0.99))
  const peak = middle(calm, ([, sent]) => goodput(sent))
  const callUs = middle(calm, ([, sent, spentUs]) => spentUs / sent.length)
  report.figure('p99 at half load, ms', half.toFixed(1))
  report.figure('peak goodput, a second', peak.toFixed(0))
  for (const [times, aim] of [
    [2, 95],
    [5, 95],
  ] as const) {
    // The rest of the overload is in the following figures.
    const runs = await repeated(async () => ({
      sent: await at(times),
      cpuUs,
      after: await at(0.5, AIM_NORMAL_SECONDS + 3),
    }))
    const settled = runs.map(({ sent }) => since(sent, SETTLED_MS))
    const share = (middle(runs, ({ sent }) => goodput(sent, SETTLED_MS)) / peak) * 100
    const p99Ms = middle(settled, (sent) => latencyMs(answered(sent), 0.99))
    report.aim(`${times} ×: goodput, % of peak`, share.toFixed(1), `≥ ${aim}`, share >= aim)
    report.figure('… of the whole run', ((middle(runs, ({ sent }) => goodput(sent)) / peak) * 100).toFixed(1))
    report.aim('… p99 of the answered, ms', p99Ms.toFixed(1), `≤ ${MAX_MS}`, p99Ms <= MAX_MS)
    report.figure(
      '… of the whole run',
      middle(runs, ({ sent }) => latencyMs(answered(sent), 0.99)).toFixed(1),
    )
    reportRefusals(settled)
    const refusalUs = middle(runs, (run) => {
      const served = answered(run.sent).length
      return (run.cpuUs - served * callUs) / (run.sent.length - served)
    })
    report.figure('… a refusal costs, of a call', (refusalUs / callUs).toFixed(2))
    const normal = middle(runs, ({ after }) => secondsUntilNormal(after, half))
    report.aim(
      '… normal after, s',
      normal.toFixed(1),
      `≤ ${AIM_NORMAL_SECONDS}`,
      normal <= AIM_NORMAL_SECONDS,
    )
  }
  report.print(
    `B. One upstream of ${UPSTREAM_PER_SECOND} calls a second, medians of ${rounds} runs (${loadText()})`,
  )
  await stopBoth()
}

/** C. */
async function noisyNeighbour(): Promise<void> {
  const quiet = Array.from({ length: QUIET_PROJECTS }, (_, index) => `quiet-${index}`)
  const { gateway, stopBoth } = await start([...quiet, 'loud'])
  const quietStreams = quiet.map((project) => stream(gateway, project, QUIET_PER_SECOND))
  const beside = async (
    loudPerSecond: number,
    forSeconds = seconds,
  ): Promise<readonly (readonly SentRequest[])[]> =>
    load(gateway, forSeconds, [...quietStreams, stream(gateway, 'loud', loudPerSecond)])
  await beside(QUIET_PER_SECOND, WARM_UP_SECONDS)
  for (const times of [10, 30]) {
    const runs = await repeated(async () => {
      const before = (await beside(QUIET_PER_SECOND)).slice(0, -1).flat()
      const sent = await beside(QUIET_PER_SECOND * times)
      return { before, nine: sent.slice(0, -1).flat(), loud: sent.at(-1) ?? [] }
    })
    const success = middle(runs, ({ nine }) => (answered(nine).length / nine.length) * 100)
    const ratio = middle(
      runs,
      ({ before, nine }) => latencyMs(answered(nine), 0.99) / latencyMs(before, 0.99),
    )
    report.figure(
      'nine quiet, p99 ms before',
      middle(runs, ({ before }) => latencyMs(before, 0.99)).toFixed(1),
    )
    report.aim(`${times} × beside: success of the nine, %`, success.toFixed(2), '≥ 99.9', success >= 99.9)
    // Beyond 20 times there is less than all ask for, and served requests wait in the upstream's own queue for a while.
    const isMet = times <= 20 ? ratio <= 1.5 : undefined
    report.aim('… p99, times of before', ratio.toFixed(2), times <= 20 ? '≤ 1.5' : '', isMet)
    report.figure(
      '… of the loud one answered, %',
      middle(runs, ({ loud }) => (answered(loud).length / loud.length) * 100).toFixed(0),
    )
  }
  report.print(
    `C. Nine projects at ${QUIET_PER_SECOND} a second, one at more, medians of ${rounds} runs (${loadText()})`,
  )
  await stopBoth()
}

async function repeated<Run>(run: () => Promise<Run>): Promise<readonly Run[]> {
  const runs: Run[] = []
  for (let round = 0; round < rounds; round += 1) runs.push(await run())
  return runs
}

/** A shared machine pauses occasionally: one such moment is in one run. */
function middle<Run>(runs: readonly Run[], figure: (run: Run) => number): number {
  return median(runs.map(figure))
}

/** D. */
async function noProcessor(): Promise<void> {
  const { origin } = await startNginx(folder, OTHER_CORE)
  const model = 'text-embedding-3-small'
  const gateway = await startGateway(folder, {
    models: { [model]: [`${origin}/base64/v1`] },
    projects: ['all'],
  })
  // Numbers are formatted for each answer: work for the gateway, and little for sender and upstream.
  const one: Stream = { key: gateway.keyOf('all'), model, perSecond: 0, encoding: 'float' }
  const closed = { port: gateway.port, patienceMs: PATIENCE_MS, streams: [one], atOnce: 32 }
  await send({ ...closed, seconds: WARM_UP_SECONDS })
  const [full = []] = await send({ ...closed, seconds: WARM_UP_SECONDS })
  const capacity = goodput(full)
  report.figure('capacity, a second', capacity.toFixed(0))
  for (const [times, aim] of [
    [2, 80],
    [3, 70],
  ] as const) {
    const [sent = []] = await load(gateway, seconds, [{ ...one, perSecond: capacity * times }])
    const share = (goodput(sent) / capacity) * 100
    report.figure(`${times} ×: really sent, times capacity`, (perSecond(sent) / capacity).toFixed(2))
    report.aim('… goodput, % of capacity', share.toFixed(1), `≥ ${aim}`, share >= aim)
    report.figure('… p50 / p99 of the answered, ms', latencyText(answered(sent)))
    reportRefusals([sent], false)
  }
  report.print(`D. A gateway without processor time (${loadText()})`)
  await stopAll(gateway.pid)
}

async function start(
  projects: readonly string[],
): Promise<{ gateway: Gateway; stopBoth: () => Promise<void> }> {
  const provider = await startProvider(OTHER_CORE, folder, PROVIDER_NICENESS)
  const gateway = await startGateway(folder, {
    models: { [MODEL]: [`${provider.origin}/${UPSTREAM}/v1`] },
    projects,
  })
  return { gateway, stopBoth: () => stopAll(gateway.pid, provider.pid) }
}

function stream(gateway: Gateway, project: string, atRate: number): Stream {
  return { key: gateway.keyOf(project), model: MODEL, perSecond: atRate }
}

async function load(
  { port }: Gateway,
  forSeconds: number,
  streams: readonly Stream[],
): Promise<readonly (readonly SentRequest[])[]> {
  return send({ port, seconds: forSeconds, patienceMs: PATIENCE_MS, streams })
}

/** Requests that the sender could not send, for lack of a connection, are no refusals. */
function reportRefusals(runs: readonly (readonly SentRequest[])[], isTimed = true): void {
  const refused = runs.map((sent) => sent.filter(([, , status]) => status >= 400))
  const p99Ms = middle(refused, (sent) => latencyMs(sent, 0.99))
  const isMet = isTimed ? p99Ms <= LATEST_REFUSAL_MS : undefined
  report.aim('… refusals, p99 ms', p99Ms.toFixed(1), isTimed ? `≤ ${LATEST_REFUSAL_MS}` : '', isMet)
  const withoutTime = refused.flat().filter(([, , , saysWhen]) => saysWhen === 0).length
  report.aim('… refusals without retry-after', String(withoutTime), '0', withoutTime === 0)
  report.figure('… statuses', statusesOf(runs.flat()))
}

/** The first half second, seen from the end of an overload, from which on all is as at half load. */
function secondsUntilNormal(after: readonly SentRequest[], usualMs: number): number {
  const startMs = firstMs(after)
  let normalFrom = 0
  for (const [atMs, tookMs, status] of after)
    if (status !== 200 || tookMs > 2 * usualMs) normalFrom = Math.max(normalFrom, (atMs - startMs) / 1000)
  return normalFrom
}

function since(sent: readonly SentRequest[], ms: number): readonly SentRequest[] {
  const fromMs = firstMs(sent) + ms
  return sent.filter(([atMs]) => atMs >= fromMs)
}

function firstMs(sent: readonly SentRequest[]): number {
  return sent.reduce((first, [atMs]) => Math.min(first, atMs), Number.POSITIVE_INFINITY)
}

/** Answers per second while requests were sent, from `afterMs` on: later ones were too late to count. */
function goodput(sent: readonly SentRequest[], afterMs = 0): number {
  const lastMs = sent.reduce((last, [atMs]) => Math.max(last, atMs), 0)
  const fromMs = firstMs(sent) + afterMs
  const inTime = answered(sent).filter(([atMs, tookMs]) => atMs + tookMs >= fromMs && atMs + tookMs <= lastMs)
  return (inTime.length / (lastMs - fromMs)) * 1000
}

/** Over the time in which they were sent. */
function perSecond(sent: readonly SentRequest[]): number {
  const lastMs = sent.reduce((last, [atMs]) => Math.max(last, atMs), 0)
  return (sent.length / (lastMs - firstMs(sent))) * 1000
}

function latencyText(sent: readonly SentRequest[]): string {
  return `${latencyMs(sent, 0.5).toFixed(0)} / ${latencyMs(sent, 0.99).toFixed(0)}`
}
