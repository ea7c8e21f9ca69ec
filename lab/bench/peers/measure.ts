/** One gateway under all loads: alone on its cores, by turns with the bare proxy. */
import { mkdirSync } from 'node:fs'
import { loadavg } from 'node:os'
import { join } from 'node:path'
import { Latencies } from '../../load.ts'
import { scriptOn } from '../../processes.ts'
import { median } from '../../report.ts'
import { SENDER, type Paced, type SentRequest } from '../../sender.ts'
import { rateOf, wrk, type Load } from '../../wrk.ts'
import { measuredCommit, measuredDay } from '../../book/publish.ts'
import { wrkScript, type Case } from './cases.ts'
import type { Contender, RunningContender, Stage } from './contender.ts'
import { cpuOf, familyOf, memoryMegabytes } from './family.ts'
import type { CaseFigures, ContenderFigures, LatencyFigures, RateFigures, Run } from './figures.ts'

export interface MeasureOptions {
  readonly cases: readonly Case[]
  /** Requests per second, ascending. */
  readonly rates: readonly number[]
  readonly windows: number
  readonly seconds: number
  readonly warmupSeconds: number
}

interface Loaded {
  readonly load: Load
  /** Of all its processes, µs per request. */
  readonly cpuUs: number
  readonly storesCpuUs: number
}

/** Slow gateways need long for the first requests. */
const TIMEOUT_SECONDS = 60
/** Of all that were sent: more would mean that something else than speed was measured. */
const MAX_FAILED = 0.001
/** The case whose latency is measured: the answer that OpenAI's SDKs ask for. */
const LATENCY_CASE = 'base64'
/** A gateway sustains a rate if this share of the requests is answered with 200 within this time. */
const [MIN_ANSWERED, MAX_MS] = [0.99, 1000]
/** How long answers are waited for after the last request of a window. */
const PATIENCE_MS = 3000

interface Parts {
  readonly contender: Contender
  readonly running: RunningContender
  readonly bare: RunningContender
  readonly stage: Stage
}

export async function measureContender(
  contender: Contender,
  { bare, stage }: Pick<Parts, 'bare' | 'stage'>,
  options: MeasureOptions,
): Promise<ContenderFigures> {
  const startedMs = performance.now()
  const running = await contender.start(stage)
  const seconds = (performance.now() - startedMs) / 1000
  const parts = { contender, running, bare, stage }
  try {
    const idleMegabytes = memoryMegabytes(familyOf(running.pid))
    const latency = options.rates.length > 0 ? await measureLatency(parts, options) : undefined
    const cases: Partial<Record<Case['id'], CaseFigures>> = {}
    for (const one of options.cases) {
      cases[one.id] = await measureCase(one, parts, options)
      console.log(`${contender.name}, ${one.name}: ${JSON.stringify(cases[one.id])}`)
    }
    const usedMegabytes = memoryMegabytes(familyOf(running.pid))
    const { id, name, settings, cores } = contender
    // Memory after the load means the load of every case.
    const start = { ...runOf(contender), seconds, idleMegabytes, usedMegabytes }
    const isWhole = options.cases.length > 1
    return { id, name, settings, cores, cases, ...(isWhole && { start }), ...(latency && { latency }) }
  } finally {
    await running.stop()
  }
}

export function runOf(contender: Contender): Run {
  const version = contender.version()
  if (version === undefined) throw new Error(`${contender.name} is not installed`)
  return { day: measuredDay(), commit: measuredCommit(), version, load: loadavg()[0] ?? 0 }
}

/** Every gateway at the same rates, in an open loop: callers do not slow down because a gateway does. */
async function measureLatency(
  { contender, running, bare, stage }: Parts,
  { rates: asked, windows, seconds, warmupSeconds }: MeasureOptions,
): Promise<LatencyFigures> {
  const send = (who: RunningContender, perSecond: number, forSeconds = seconds): Promise<Answered> =>
    sendAt(who, perSecond, forSeconds, stage)
  const rates: RateFigures[] = []
  for (const perSecond of asked) {
    const [own, its]: [Answered[], Answered[]] = [[], []]
    for (const who of [bare, running]) await send(who, perSecond, warmupSeconds)
    for (let window = 0; window < windows; window += 1) {
      own.push(await send(running, perSecond))
      its.push(await send(bare, perSecond))
    }
    if (!isSustained(own)) return { ...runOf(contender), rates, tooMuch: perSecond }
    const at = (all: readonly Answered[], share: number): number =>
      median(all.map(({ latencies }) => latencies.atMs(share)))
    const figures = {
      perSecond,
      p50Ms: at(own, 0.5),
      p99Ms: at(own, 0.99),
      bareP50Ms: at(its, 0.5),
      bareP99Ms: at(its, 0.99),
    }
    console.log(`${contender.name}: ${JSON.stringify(figures)}`)
    rates.push(figures)
  }
  return { ...runOf(contender), rates }
}

interface Answered {
  readonly latencies: Latencies
  readonly sent: number
  readonly inTime: number
}

/** In most windows, and but for one request in each: on a shared machine one may fail for reasons of others. */
function isSustained(windows: readonly Answered[]): boolean {
  const kept = windows.filter(({ sent, inTime }) => inTime + 1 >= sent * MIN_ANSWERED)
  return kept.length > windows.length / 2
}

async function sendAt(
  who: RunningContender,
  perSecond: number,
  seconds: number,
  { loadCore }: Stage,
): Promise<Answered> {
  const { url, model, headers } = who.target(LATENCY_CASE)
  const { port, pathname } = new URL(url)
  const stream = { path: pathname.replace(/\/v1$/, ''), key: '', headers, model, perSecond }
  const paced: Paced = { port: Number(port), seconds, patienceMs: PATIENCE_MS, streams: [stream] }
  const [sent = []] = await scriptOn<readonly (readonly SentRequest[])[]>(loadCore, SENDER, paced).answer
  const inTime = sent.filter(([, tookMs, status]) => status === 200 && tookMs <= MAX_MS)
  return {
    latencies: Latencies.of(sent.map(([, tookMs]) => tookMs)),
    sent: sent.length,
    inTime: inTime.length,
  }
}

async function measureCase(
  one: Case,
  { contender, running, bare, stage }: Parts,
  { windows, seconds, warmupSeconds }: MeasureOptions,
): Promise<CaseFigures> {
  const run = async (who: RunningContender, name: string, forSeconds: number): Promise<Loaded> => {
    const folder = join(stage.folder, name)
    mkdirSync(folder, { recursive: true })
    const target = who.target(one.id)
    const script = wrkScript(folder, one, target)
    const cpu = (): number => cpuOf(familyOf(who.pid))
    const storesCpu = (): number => cpuOf(who.storePids())
    const before = [cpu(), storesCpu()] as const
    const load = await wrk({
      url: `${target.url}/${one.route}`,
      script,
      connections: one.connections,
      seconds: forSeconds,
      core: contender.cores === 2 ? stage.cores : stage.loadCore,
      timeoutSeconds: TIMEOUT_SECONDS,
    })
    if (load.errors > load.requests * MAX_FAILED)
      throw new Error(`${name}, ${one.name}: ${load.errors} of ${load.requests} requests failed`)
    return {
      load,
      cpuUs: (cpu() - before[0]) / load.requests,
      storesCpuUs: (storesCpu() - before[1]) / load.requests,
    }
  }
  await run(bare, 'bare', warmupSeconds)
  await run(running, contender.id, warmupSeconds)
  const [own, its]: [Loaded[], Loaded[]] = [[], []]
  for (let window = 0; window < windows; window += 1) {
    own.push(await run(running, contender.id, seconds))
    its.push(await run(bare, 'bare', seconds))
  }
  const cpuWindows = own.map(({ cpuUs }) => cpuUs)
  return {
    ...runOf(contender),
    requestsPerSecond: median(own.map(({ load }) => rateOf(load))),
    cpuUs: median(cpuWindows),
    cpuWindows,
    storesCpuUs: median(own.map(({ storesCpuUs }) => storesCpuUs)),
    bareCpuUs: median(its.map(({ cpuUs }) => cpuUs)),
  }
}
