/**
 * What Torana adds to an embeddings call, measured beside a bare proxy: both at the same time on core 0 under equal load,
 * nginx as upstream and wrk on core 1, every text different. The figure is CPU time per request of each process, since both
 * share one core; requests per second are shown beside it, and the bare proxy beside itself shows the noise. `npm run lab --
 * bench/embeddings --seconds 8 --connections 64`
 */
import { parseArgs } from 'node:util'
import { BASE64, FLOAT, startEmbeddingsStage, type Shape, type Window } from './embeddings-stage.ts'
import { startNginx } from './parts.ts'
import { LOAD_CORE } from './side-by-side.ts'
import { Workplace } from '../workplace.ts'
import { rateOf } from '../wrk.ts'
import { profileFlags } from './torana.ts'
import { publishTexts } from '../book/publish.ts'
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
    /** Puts the figures that pages cite into docs/figures.json. */
    write: { type: 'boolean', default: false },
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

await using place = new Workplace('embeddings')
const { folder } = place
const { origin } = await startNginx(folder, LOAD_CORE)
const results: object[] = []
const texts: Record<string, string> = {}
const rows = [['answer', 'what', 'requests/s', 'p50 ms', 'p99 ms', 'CPU µs/request', 'bare', 'ratio to bare']]
for (const one of CASES) await measure(one)
print(rows)
writeResults('embeddings', { connections, results })
if (options.write) publishTexts('bench/embeddings', texts)

async function measure({ name, shape, warmupRequests, isControl = false }: Case): Promise<void> {
  const both = await startEmbeddingsStage({
    folder,
    shape,
    origin,
    connections,
    isControl,
    flags: profileFlags(options.inspect),
  })
  let served = 0
  do served += (await both.window(Number(options.warmup))).torana.load.requests
  while (served < warmupRequests)
  const windows: Window[] = []
  for (let window = 0; window < Number(options.windows); window += 1)
    windows.push(await both.window(Number(options.seconds)))
  await both.stop()

  const ratioOf = ({ bare, torana }: Window): number => bare.cpuUs / torana.cpuUs
  const ratios = windows.map(ratioOf)
  const middle = windows.find((window) => ratioOf(window) === median(ratios)) as Window
  const { load, cpuUs } = middle.torana
  results.push({ answer: shape.name, what: name, ...load, cpuUs, bareCpuUs: middle.bare.cpuUs, ratios })
  if (!isControl && warmupRequests === 0) {
    texts[`cpu.embed.${shape.encoding}`] = `${Math.round(cpuUs)} µs`
    texts[`ratio.embed.${shape.encoding}`] = median(ratios).toFixed(2)
  }
  rows.push([
    shape.name,
    name,
    String(Math.round(rateOf(load))),
    load.p50Ms.toFixed(2),
    load.p99Ms.toFixed(2),
    cpuUs.toFixed(1),
    middle.bare.cpuUs.toFixed(1),
    spreadText(ratios),
  ])
}
