/**
 * What durable accounting costs: Torana with ledger, request log and Redis limits, beside Torana without a ledger and beside a
 * bare proxy, which also runs a second time, so that the noise is known; all four at the same time on core 0 under equal load;
 * nginx, PostgreSQL, Redis and wrk on core 1. 1,000 keys of the store, each with a rate limit. `npm run lab -- bench/stores --windows 5`
 */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { startPostgresServer, startRedisServer } from '../../server/test/support/servers.ts'
import { startBare, startNginx } from './parts.ts'
import { cpuMicroseconds, stopAll } from '../processes.ts'
import { rateOf, wrk, type Load } from '../wrk.ts'
import { profileFlags, refusalsOf, startTorana, storeKeys, type StartedTorana } from './torana.ts'
import { median, print, spreadText, writeResults } from '../report.ts'

const { values: options } = parseArgs({
  options: {
    seconds: { type: 'string', default: '8' },
    warmup: { type: 'string', default: '9' },
    connections: { type: 'string', default: '64' },
    windows: { type: 'string', default: '5' },
    keys: { type: 'string', default: '1000' },
    inspect: { type: 'boolean', default: false },
  },
})
/** Their indexes among the measured processes. */
const [MEMORY, STORES] = [2, 3]
const GATEWAY_CORE = 0
const LOAD_CORE = 1
const connections = Number(options.connections)
const keyCount = Number(options.keys)
const folder = mkdtempSync(join(tmpdir(), 'torana-bench-'))
const postgres = await startPostgresServer()
const redis = await startRedisServer()
for (const pid of [...postgres.pids(), ...redis.pids()])
  execFileSync('taskset', ['-acp', String(LOAD_CORE), String(pid)])

try {
  const { origin } = await startNginx(folder, LOAD_CORE)
  const script = wrkScript()
  const [bare, again] = [await startBare(origin, GATEWAY_CORE), await startBare(origin, GATEWAY_CORE)]
  const memory = await startGateway(origin, {})
  const stores = await startGateway(origin, { DATABASE_URL: postgres.url, REDIS_URL: redis.url })
  const all = [
    { name: 'bare proxy', pid: bare.pid, url: `${bare.origin}/base64/v1/embeddings` },
    { name: 'bare proxy again', pid: again.pid, url: `${again.origin}/base64/v1/embeddings` },
    { name: 'Torana without a ledger', pid: memory.pid, url: `${memory.origin}/v1/embeddings` },
    { name: 'Torana, PostgreSQL + Redis', pid: stores.pid, url: `${stores.origin}/v1/embeddings` },
  ]
  const run = (seconds: number): Promise<Load[]> =>
    Promise.all(all.map(({ url }) => wrk({ url, script, connections, seconds, core: LOAD_CORE })))
  await run(Number(options.warmup))

  const windows: { readonly loads: Load[]; readonly cpu: number[] }[] = []
  for (let window = 0; window < Number(options.windows); window += 1) {
    const before = all.map(({ pid }) => cpuMicroseconds(pid))
    const loads = await run(Number(options.seconds))
    const failed = loads.reduce((sum, { errors }) => sum + errors, 0)
    if (failed > 0)
      throw new Error(`${failed} failed requests\n${await refusalsOf(memory)}\n${await refusalsOf(stores)}`)
    const cpu = all.map(({ pid }, index) => {
      return (cpuMicroseconds(pid) - (before[index] as number)) / (loads[index] as Load).requests
    })
    windows.push({ loads, cpu })
  }
  const ratiosTo = (base: number, index: number): readonly number[] =>
    windows.map(({ cpu }) => (cpu[base] as number) / (cpu[index] as number))
  const cpuOf = (index: number): number => median(windows.map(({ cpu }) => cpu[index] as number))
  const middle = windows[Math.floor(windows.length / 2)] as (typeof windows)[number]
  print([
    ['what', 'requests/s', 'p50 ms', 'p99 ms', 'CPU µs/request', 'ratio to bare', 'ratio to no ledger'],
    ...all.map(({ name }, index) => {
      const load = middle.loads[index] as Load
      return [
        name,
        roundRate(load),
        load.p50Ms.toFixed(2),
        load.p99Ms.toFixed(2),
        cpuOf(index).toFixed(1),
        index === 0 ? '1.00' : spreadText(ratiosTo(0, index)),
        index === STORES ? spreadText(ratiosTo(MEMORY, STORES)) : '',
      ]
    }),
  ])

  // Each by itself: the most that Torana with its stores can do, then half of that, and the bare proxy at the same rate.
  const alone = (index: number, script: string): Promise<Load> =>
    wrk({
      url: (all[index] as (typeof all)[number]).url,
      script,
      connections,
      seconds: Number(options.seconds),
      core: LOAD_CORE,
    })
  const full = await alone(STORES, script)
  const halfRate = rateOf(full) / 2
  const paced = wrkScript((connections / halfRate) * 1000)
  const [bareHalf, storesHalf] = [await alone(0, paced), await alone(STORES, paced)]
  process.stdout.write(
    `\nalone: ${roundRate(full)} requests/s at most; at half of it bare p50 ${bareHalf.p50Ms.toFixed(2)} ms (${roundRate(bareHalf)}/s), ` +
      `Torana with its stores p50 ${storesHalf.p50Ms.toFixed(2)} ms p99 ${storesHalf.p99Ms.toFixed(2)} ms (${roundRate(storesHalf)}/s): ` +
      `added p50 ${(storesHalf.p50Ms - bareHalf.p50Ms).toFixed(2)} ms\n`,
  )
  const results = all.map(({ name }, index) => ({ name, cpu: cpuOf(index), ratios: ratiosTo(0, index) }))
  writeResults('stores', { connections, keyCount, results, alone: full, bareHalf, storesHalf })
} finally {
  await stopAll()
  await redis.stop()
  await postgres.stop()
  rmSync(folder, { recursive: true, force: true })
}

async function startGateway(origin: string, env: Record<string, string>): Promise<StartedTorana> {
  const baseUrl = `${origin}/base64/v1`
  const torana = await startTorana({
    core: GATEWAY_CORE,
    folder,
    config: {
      upstreams: { nginx: { dialect: 'openai', provider: 'openai', baseUrl, apiKey: 'bench' } },
      // Probed, it would look wrong: it answers everything with the same vector.
      models: { 'text-embedding-3-small': { spaceGuard: false, deployments: [{ upstream: 'nginx' }] } },
    },
    flags: profileFlags(options.inspect),
    env: { TORANA_SECRET: 'a-secret-of-the-bench-0123456789', ...env },
  })
  const keys = Array.from({ length: keyCount }, (_, index) => {
    return { name: `key-${index}`, secret: secretOf(index), limits: { requests_per_minute: 10_000_000 } }
  })
  await storeKeys(torana, keys)
  return torana
}

function roundRate(load: Load): string {
  return String(Math.round(rateOf(load)))
}

function secretOf(index: number): string {
  return `bench-key-${String(index).padStart(20, '0')}`
}

/** With a pause, each connection waits that long on average before it asks again. */
function wrkScript(pauseMs = 0): string {
  const file = join(folder, `load-${Math.round(pauseMs)}.lua`)
  const delay = `delay = function() return math.random(0, ${Math.round(2 * pauseMs)}) end\n`
  writeFileSync(
    file,
    `${pauseMs > 0 ? delay : ''}local n = 0
local headers = { ["Content-Type"] = "application/json" }
local seed = tostring({}):sub(8)
request = function()
  n = n + 1
  headers["Authorization"] = string.format("Bearer bench-key-%020d", (n * 7919) % ${keyCount})
  return wrk.format("POST", nil, headers, '{"input":"the quick brown fox ' .. seed .. n .. '","model":"text-embedding-3-small","encoding_format":"base64"}')
end
`,
  )
  return file
}
