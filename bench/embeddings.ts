/**
 * What Torana adds to an embeddings call, measured beside a bare proxy: both at the same time on core 0 under equal load, nginx
 * as upstream and wrk on core 1, every text different. The figure is CPU time per request of each process, since both share
 * one core; requests a second stand beside it. `npm run bench:embeddings -- --seconds 8 --connections 64`
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { print, spreadText, startBare, startNginx } from './parts.ts'
import { cpuMicroseconds, rateOf, stopAll, wrk, type Load, type Started } from './processes.ts'
import { profileFlags, startTorana } from './torana.ts'

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
const seconds = Number(options.seconds)
const warmupSeconds = Number(options.warmup)
const connections = Number(options.connections)

const folder = mkdtempSync(join(tmpdir(), 'torana-bench-'))
const key = `bench-${'0123456789abcdef'.repeat(2)}`
const GATEWAY_CORE = 0
const LOAD_CORE = 1

interface Shape {
  readonly name: string
  readonly encoding: 'base64' | 'float'
  readonly path: string
}
const shapes: readonly Shape[] = [
  { name: '8 KB base64', encoding: 'base64', path: '/base64/v1' },
  { name: '19 KB float', encoding: 'float', path: '/float/v1' },
]

try {
  const { origin } = await startNginx(folder, LOAD_CORE)
  const rows: string[][] = []
  for (const shape of shapes) rows.push(...(await measure(shape, origin)))
  print([['answer', 'what', 'requests/s', 'p50 ms', 'p99 ms', 'CPU µs/request', 'ratio to bare'], ...rows])
} finally {
  await stopAll()
  rmSync(folder, { recursive: true, force: true })
}

async function measure(shape: Shape, origin: string): Promise<string[][]> {
  const script = wrkScript(shape)
  const direct = await wrk({
    url: `${origin}${shape.path}/embeddings`,
    script,
    connections,
    seconds: 4,
    core: LOAD_CORE,
  })

  const bare = await startBare(origin, GATEWAY_CORE)
  const torana = options.control ? await startBare(origin, GATEWAY_CORE) : await startGateway(shape, origin)
  const urls = {
    bare: `${bare.origin}${shape.path}/embeddings`,
    torana: `${torana.origin}${options.control ? shape.path : '/v1'}/embeddings`,
  }
  const both = (runSeconds: number): Promise<[Load, Load]> =>
    Promise.all([
      wrk({ url: urls.bare, script, connections, seconds: runSeconds, core: LOAD_CORE }),
      wrk({ url: urls.torana, script, connections, seconds: runSeconds, core: LOAD_CORE }),
    ])
  await both(warmupSeconds)
  const windows: Window[] = []
  for (let window = 0; window < Number(options.windows); window += 1) {
    const before = [cpuMicroseconds(bare.pid), cpuMicroseconds(torana.pid)] as const
    const [bareLoad, toranaLoad] = await both(seconds)
    const bareCpu = (cpuMicroseconds(bare.pid) - before[0]) / bareLoad.requests
    const toranaCpu = (cpuMicroseconds(torana.pid) - before[1]) / toranaLoad.requests
    windows.push({ bareLoad, toranaLoad, bareCpu, toranaCpu, ratio: bareCpu / toranaCpu })
    for (const load of [direct, bareLoad, toranaLoad])
      if (load.errors > 0) throw new Error(`${load.errors} failed requests`)
  }
  await stopAll(bare.pid, torana.pid)

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

interface Window {
  readonly bareLoad: Load
  readonly toranaLoad: Load
  readonly bareCpu: number
  readonly toranaCpu: number
  readonly ratio: number
}

function startGateway(shape: Shape, origin: string): Promise<Started> {
  const baseUrl = `${origin}${shape.path}`
  return startTorana({
    core: GATEWAY_CORE,
    folder,
    config: {
      upstreams: { nginx: { dialect: 'openai', provider: 'openai', baseUrl, apiKey: 'bench' } },
      // Probed, it would look wrong: it answers everything with the same vector.
      models: { 'text-embedding-3-small': { spaceGuard: false, deployments: [{ upstream: 'nginx' }] } },
    },
    flags: profileFlags(options.inspect),
    env: { TORANA_BOOTSTRAP_KEY: key },
  })
}

function wrkScript({ encoding }: Shape): string {
  const file = join(folder, `${encoding}.lua`)
  writeFileSync(
    file,
    `local n = 0
local headers = { ["Content-Type"] = "application/json", ["Authorization"] = "Bearer ${key}" }
local seed = tostring({}):sub(8)
request = function()
  n = n + 1
  return wrk.format("POST", nil, headers, '{"input":"the quick brown fox ' .. seed .. n .. '","model":"text-embedding-3-small","encoding_format":"${encoding}"}')
end
`,
  )
  return file
}
