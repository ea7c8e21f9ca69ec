/**
 * The gain of a second worker. One process and two workers of the built package in turn, with
 * PostgreSQL and Redis, nginx as the upstream: (A) every process of the gateway that answers has half of core 0 (a control
 * group, which needs root); stores, upstream and load have core 1. A second worker then has as much CPU as the first,
 * without taking it from another. (B) both cores for all: the share that is left for the gateway is printed, since two
 * workers can't have two whole cores. `chaos/restarts --only workers,killed-worker` is about losing one. Exits with 3 when a
 * goal is missed. `npm run lab -- bench/workers --rounds 5 --seconds 3`
 */
import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { HALF_A_CORE, inControlGroup } from './control-group.ts'
import { INCOMPLETE, Report, loadText, median, spreadText, writeResults } from '../report.ts'
import {
  BOTH_CORES,
  CASE,
  GATEWAY_CORE,
  OTHER_CORE,
  startWorkersStage,
  type WorkersStage,
  type WorkersWindow,
} from './workers-stage.ts'
import { publishTexts } from '../book/publish.ts'
import { memoryMegabytes } from './peers/family.ts'
import { Workplace } from '../workplace.ts'

const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '3' },
    warmup: { type: 'string', default: '6' },
    /** Puts the figures that pages cite into docs/figures.json. */
    write: { type: 'boolean', default: false },
  },
})
const [rounds, seconds, warmupSeconds] = [options.rounds, options.seconds, options.warmup].map(Number) as [
  number,
  number,
  number,
]
const AIM_GAIN = 1.8
/** Starts and the waits of all parts included. */
const MAX_MS = 170_000

/** One window of each round. */
interface Compared {
  readonly one: readonly WorkersWindow[]
  /** Under the same load. */
  readonly two: readonly WorkersWindow[]
  /** Under twice the load: as many callers for each worker as the one process has. */
  readonly twoOfTwice: readonly WorkersWindow[]
}

const report = new Report()
await using place = new Workplace('workers')
const workers = await startWorkersStage(place.folder)
try {
  await Promise.race([measure(workers), tooLate()])
} finally {
  await workers.stop()
}
if (!report.isKept) process.exitCode = INCOMPLETE

async function measure(stage: WorkersStage): Promise<void> {
  console.log(`Torana ${stage.version}; ${CASE.name}, ${CASE.connections} connections; ${loadText()}`)
  for (const subject of [stage.one, stage.two])
    await stage.window(subject, { seconds: warmupSeconds, cores: OTHER_CORE })
  const halves = await halfACoreEach(stage)
  stage.pin(BOTH_CORES, BOTH_CORES)
  const shared = await compare(stage, BOTH_CORES)
  tellCompared('B: both cores for everybody', shared, undefined)
  writeResults('workers', { version: stage.version, rounds, seconds, halves, shared })
  const pids = stage.two.workers()
  const gains = (halves ?? shared).twoOfTwice.map(
    ({ perSecond }, round) => perSecond / ((halves ?? shared).one[round]?.perSecond ?? Number.NaN),
  )
  if (options.write)
    publishTexts('bench/workers', {
      'memory.worker': `${Math.ceil(memoryMegabytes(pids) / pids.length / 10) * 10} MB`,
      'workers.gain': `${median(gains).toFixed(2)}×`,
    })
}

async function tooLate(): Promise<never> {
  await wait(MAX_MS, undefined, { ref: false })
  throw new Error(`the run took longer than ${MAX_MS / 1000} s`)
}

async function halfACoreEach(stage: WorkersStage): Promise<Compared | undefined> {
  using groups = new DisposableStack()
  try {
    for (const pid of [stage.one, stage.two].flatMap((subject) => subject.workers()))
      groups.use(inControlGroup(pid, HALF_A_CORE))
  } catch (error) {
    console.log(`SKIPPED A: ${error instanceof Error ? error.message : String(error)}`)
    return undefined
  }
  stage.pin(GATEWAY_CORE, OTHER_CORE)
  const compared = await compare(stage, OTHER_CORE)
  tellCompared(
    `A: half of core ${GATEWAY_CORE} for each, all others on core ${OTHER_CORE}`,
    compared,
    AIM_GAIN,
  )
  return compared
}

async function compare(stage: WorkersStage, cores: number | string): Promise<Compared> {
  const compared = { one: [], two: [], twoOfTwice: [] } as Record<keyof Compared, WorkersWindow[]>
  const connections = 2 * CASE.connections
  for (let round = 0; round < rounds; round += 1) {
    compared.one.push(await stage.window(stage.one, { seconds, cores }))
    compared.two.push(await stage.window(stage.two, { seconds, cores }))
    compared.twoOfTwice.push(await stage.window(stage.two, { seconds, cores, connections }))
  }
  return compared
}

function tellCompared(title: string, compared: Compared, aim: number | undefined): void {
  const { one } = compared
  const toOne = (
    windows: readonly WorkersWindow[],
    of: (window: WorkersWindow) => number,
  ): readonly number[] => windows.map((window, round) => of(window) / of(one[round] as WorkersWindow))
  for (const [name, windows] of [
    ['one process', one],
    ['two workers', compared.two],
    ['two workers, twice the callers', compared.twoOfTwice],
  ] as const) {
    const middle = (of: (window: WorkersWindow) => number): number => median(windows.map(of))
    const cores = (['gateway', 'stores', 'upstream', 'load'] as const).map(
      (part) => `${part} ${middle((window) => window.cores[part]).toFixed(2)}`,
    )
    const rate = `${middle(({ perSecond }) => perSecond).toFixed(0)} requests/s`
    const latency = `p50 ${middle(({ p50Ms }) => p50Ms).toFixed(1)} ms, p99 ${middle(({ p99Ms }) => p99Ms).toFixed(1)} ms`
    report.figure(name, `${rate}, ${middle(({ cpuUs }) => cpuUs).toFixed(0)} µs a request, ${latency}`)
    report.figure('  cores used', cores.join(', '))
    if (windows === one) continue
    report.figure('  CPU of a request, to one', spreadText(toOne(windows, ({ cpuUs }) => cpuUs)))
    const gains = toOne(windows, ({ perSecond }) => perSecond)
    const isMet = aim === undefined ? undefined : median(gains) >= aim
    report.aim('  requests/s, to one', spreadText(gains), aim === undefined ? '' : `≥ ${aim}`, isMet)
  }
  report.print(title)
}
