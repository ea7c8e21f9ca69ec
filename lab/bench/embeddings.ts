/**
 * What Torana adds to an embeddings call, measured beside a bare proxy: both at the same time on core 0 under equal load,
 * nginx as upstream and wrk on core 1, every text different. The figure is CPU time per request of each process, since both
 * share one core; requests per second are shown beside it, and the bare proxy beside itself shows the noise. `npm run lab --
 * bench/embeddings --seconds 8 --connections 64`
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { BASE64, FLOAT, LOAD_CORE, startStage, type Shape, type Window } from './embeddings-stage.ts'
import { startNginx } from './parts.ts'
import { stopAll } from '../processes.ts'
import { rateOf, wrk } from '../wrk.ts'
import { profileFlags } from './torana.ts'
import { median, print, spreadText, writeResults } from '../report.ts'

const { values: options } = parseArgs({
  options: {
    seconds: { type: 'string', default: '8' },
    warmup: { type: 'string', default: '9' },
    connections: { type: 'string', default: '64' },
    windows: { type: 'string', default: '5' },
    /** Requests after which all bounded maps are full: a node must not get slower with age. */
    aged: { type: 'string', default: '300000' },
    inspect: { type: 'boolean', default: false },
  },
})
const connections = Number(options.connections)
const agedRequests = Number(options.aged)

interface Case {
  readonly name: string
  readonly shape: Shape
  /** Served before anything is measured. */
  readonly warmupRequests: number
  /** The bare proxy beside itself: how far from 1.00 noise alone leads. */
  readonly isControl?: boolean
}

const CASES: readonly Case[] = [
  ...[BASE64, FLOAT].flatMap((shape) => [
    { name: 'bare beside itself', shape, warmupRequests: 0, isControl: true },
    { name: 'Torana', shape, warmupRequests: 0 },
  ]),
  { name: `Torana after ${agedRequests} requests`, shape: BASE64, warmupRequests: agedRequests },
]

/** CPU time is in microseconds a request. */
interface Result {
  readonly answer: string
  readonly what: string
  readonly requestsPerSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly cpu: number
  readonly bareCpu: number
  /** The bare proxy's CPU time to this one's, in each window. */
  readonly ratios: readonly number[]
}

const folder = mkdtempSync(join(tmpdir(), 'torana-bench-'))
try {
  const { origin } = await startNginx(folder, LOAD_CORE)
  const results: Result[] = []
  for (const one of CASES) results.push(await measure(one, origin))
  print([
    ['answer', 'what', 'requests/s', 'p50 ms', 'p99 ms', 'CPU µs/request', 'bare', 'ratio to bare'],
    ...results.map((one) => [
      one.answer,
      one.what,
      String(Math.round(one.requestsPerSecond)),
      one.p50Ms.toFixed(2),
      one.p99Ms.toFixed(2),
      one.cpu.toFixed(1),
      one.bareCpu.toFixed(1),
      spreadText(one.ratios),
    ]),
  ])
  writeResults('embeddings', { connections, results })
} finally {
  await stopAll()
  rmSync(folder, { recursive: true, force: true })
}

async function measure(
  { name, shape, warmupRequests, isControl = false }: Case,
  origin: string,
): Promise<Result> {
  const stage = await startStage({
    folder,
    shape,
    origin,
    connections,
    isControl,
    flags: profileFlags(options.inspect),
    // The first requests of a cold process take seconds.
    timeoutSeconds: 10,
  })
  const url = `${origin}${shape.path}/embeddings`
  const direct = await wrk({ url, script: stage.script, connections, seconds: 4, core: LOAD_CORE })
  if (direct.errors > 0) throw new Error(`${direct.errors} failed requests`)
  let served = 0
  do served += (await stage.window(Number(options.warmup))).toranaLoad.requests
  while (served < warmupRequests)
  const windows: Window[] = []
  for (let window = 0; window < Number(options.windows); window += 1)
    windows.push(await stage.window(Number(options.seconds)))
  await stage.stop()

  const ratios = windows.map(({ ratio }) => ratio)
  const middle = windows.find(({ ratio }) => ratio === median(ratios)) as Window
  const { toranaLoad, toranaCpu: cpu, bareCpu } = middle
  const { p50Ms, p99Ms } = toranaLoad
  const requestsPerSecond = rateOf(toranaLoad)
  return { answer: shape.name, what: name, requestsPerSecond, p50Ms, p99Ms, cpu, bareCpu, ratios }
}
