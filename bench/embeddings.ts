/**
 * What Torana adds to an embeddings call, measured beside a bare proxy: both at the same time on core 0 under equal load, nginx
 * as upstream and wrk on core 1, every text different. The figure is CPU time per request of each process, since both share
 * one core; requests a second stand beside it. `npm run bench:embeddings -- --seconds 8 --connections 64`
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { BASE64, FLOAT, LOAD_CORE, startStage, type Shape, type Window } from './embeddings-stage.ts'
import { print, spreadText, startNginx } from './parts.ts'
import { rateOf, stopAll, wrk, type Load } from './processes.ts'
import { profileFlags } from './torana.ts'

const { values: options } = parseArgs({
  options: {
    seconds: { type: 'string', default: '8' },
    warmup: { type: 'string', default: '9' },
    connections: { type: 'string', default: '64' },
    windows: { type: 'string', default: '3' },
    /** The bare proxy beside itself: how far from 1.00 noise alone leads. */
    control: { type: 'boolean', default: false },
    inspect: { type: 'boolean', default: false },
  },
})
const connections = Number(options.connections)

const folder = mkdtempSync(join(tmpdir(), 'torana-bench-'))
try {
  const { origin } = await startNginx(folder, LOAD_CORE)
  const rows: string[][] = []
  for (const shape of [BASE64, FLOAT]) rows.push(...(await measure(shape, origin)))
  print([['answer', 'what', 'requests/s', 'p50 ms', 'p99 ms', 'CPU µs/request', 'ratio to bare'], ...rows])
} finally {
  await stopAll()
  rmSync(folder, { recursive: true, force: true })
}

async function measure(shape: Shape, origin: string): Promise<string[][]> {
  const stage = await startStage({
    folder,
    shape,
    origin,
    connections,
    isControl: options.control,
    flags: profileFlags(options.inspect),
    // The first requests of a cold process take seconds.
    timeoutSeconds: 10,
  })
  const url = `${origin}${shape.path}/embeddings`
  const direct = await wrk({ url, script: stage.script, connections, seconds: 4, core: LOAD_CORE })
  if (direct.errors > 0) throw new Error(`${direct.errors} failed requests`)
  await stage.window(Number(options.warmup))
  const windows: Window[] = []
  for (let window = 0; window < Number(options.windows); window += 1)
    windows.push(await stage.window(Number(options.seconds)))
  await stage.stop()

  windows.sort((a, b) => a.ratio - b.ratio)
  const middle = windows[Math.floor(windows.length / 2)] as Window
  const spread = spreadText(windows.map(({ ratio }) => ratio))
  const row = (what: string, load: Load, cpu: string, ratio: string): string[] => [
    shape.name,
    what,
    String(Math.round(rateOf(load))),
    load.p50Ms.toFixed(2),
    load.p99Ms.toFixed(2),
    cpu,
    ratio,
  ]
  return [
    row('upstream direct', direct, '', ''),
    row('bare proxy', middle.bareLoad, middle.bareCpu.toFixed(1), '1.00'),
    row(options.control ? 'bare again' : 'Torana', middle.toranaLoad, middle.toranaCpu.toFixed(1), spread),
  ]
}
