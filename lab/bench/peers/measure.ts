/** One gateway under all loads: alone on its cores, by turns with the bare proxy. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { rateOf, wrk, type Load } from '../../wrk.ts'
import { wrkScript, type Case } from './cases.ts'
import type { Contender, RunningContender, Stage } from './contender.ts'
import { cpuOf, familyOf, memoryMegabytes } from './family.ts'
import type { CaseFigures, ContenderFigures, HalfLoad } from './figures.ts'
import { median } from '../../report.ts'

export interface MeasureOptions {
  readonly cases: readonly Case[]
  readonly windows: number
  readonly seconds: number
  readonly warmupSeconds: number
}

interface Loaded {
  readonly load: Load
  /** Of all its processes, µs a request. */
  readonly cpuUs: number
  readonly storesCpuUs: number
}

/** Slow gateways need long for the first requests. */
const TIMEOUT_SECONDS = 60
/** Of all that were sent: more would mean that something else than speed was measured. */
const MAX_FAILED = 0.001

export async function measureContender(
  contender: Contender,
  { bare, stage }: Pick<Parts, 'bare' | 'stage'>,
  options: MeasureOptions,
): Promise<ContenderFigures> {
  const version = contender.version()
  if (version === undefined) throw new Error(`${contender.name} is not installed`)
  const startedMs = performance.now()
  const running = await contender.start(stage)
  const startSeconds = (performance.now() - startedMs) / 1000
  try {
    const idleMegabytes = memoryMegabytes(familyOf(running.pid))
    const cases: Partial<Record<Case['id'], CaseFigures>> = {}
    for (const one of options.cases) {
      cases[one.id] = await measureCase(one, { contender, running, bare, stage }, options)
      console.log(`${contender.name}, ${one.name}: ${JSON.stringify(cases[one.id])}`)
    }
    const usedMegabytes = memoryMegabytes(familyOf(running.pid))
    const { id, name, settings, cores } = contender
    const day = new Date().toISOString().slice(0, 10)
    return { id, name, version, settings, cores, day, startSeconds, idleMegabytes, usedMegabytes, cases }
  } finally {
    await running.stop()
  }
}

interface Parts {
  readonly contender: Contender
  readonly running: RunningContender
  readonly bare: RunningContender
  readonly stage: Stage
}

async function measureCase(
  one: Case,
  { contender, running, bare, stage }: Parts,
  { windows, seconds, warmupSeconds }: MeasureOptions,
): Promise<CaseFigures> {
  const run = async (
    who: RunningContender,
    name: string,
    forSeconds: number,
    pauseMs = 0,
  ): Promise<Loaded> => {
    const folder = join(stage.folder, name)
    mkdirSync(folder, { recursive: true })
    const target = who.target(one.id)
    const script = wrkScript(folder, one, target, pauseMs)
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
  const rate = median(own.map(({ load }) => rateOf(load)))
  const pauseMs = (one.connections / (rate / 2)) * 1000
  const half = await run(running, contender.id, seconds, pauseMs)
  const bareHalf = await run(bare, 'bare', seconds, pauseMs)
  const halfLoad: HalfLoad = {
    requestsPerSecond: rateOf(half.load),
    p50Ms: half.load.p50Ms,
    p99Ms: half.load.p99Ms,
    bareP50Ms: bareHalf.load.p50Ms,
    bareP99Ms: bareHalf.load.p99Ms,
  }
  const cpuWindows = own.map(({ cpuUs }) => cpuUs)
  return {
    requestsPerSecond: rate,
    cpuUs: median(cpuWindows),
    cpuWindows,
    storesCpuUs: median(own.map(({ storesCpuUs }) => storesCpuUs)),
    bareCpuUs: median(its.map(({ cpuUs }) => cpuUs)),
    halfLoad,
  }
}
