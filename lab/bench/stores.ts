/**
 * What durable accounting costs: Torana with ledger, request log and Redis limits, beside Torana without a ledger and beside a
 * bare proxy, which also runs a second time, so that the noise is known; all four at the same time on core 0 under equal load;
 * nginx, PostgreSQL, Redis and wrk on core 1. 1,000 keys of the store, each with a rate limit. `npm run lab -- bench/stores --windows 5`
 */
import { parseArgs } from 'node:util'
import { bareSubject } from './embeddings-stage.ts'
import { startNginx } from './parts.ts'
import {
  cpusOf,
  GATEWAY_CORE,
  LOAD_CORE,
  ratiosOf,
  sideBySide,
  type Seen,
  type Subject,
} from './side-by-side.ts'
import { Workplace } from '../workplace.ts'
import { benchKey, loadScript, rateOf, wrk, type Load } from '../wrk.ts'
import { BENCH_SECRET, HOSTED_MODEL, hostedConfig, profileFlags, startTorana, storeKeys } from './torana.ts'
import { median, print, spreadText, writeResults } from '../report.ts'
import { publishTexts } from '../book/publish.ts'

const { values: options } = parseArgs({
  options: {
    seconds: { type: 'string', default: '8' },
    warmup: { type: 'string', default: '9' },
    connections: { type: 'string', default: '64' },
    windows: { type: 'string', default: '5' },
    keys: { type: 'string', default: '1000' },
    inspect: { type: 'boolean', default: false },
    /** Puts the figures that pages cite into docs/figures.json. */
    write: { type: 'boolean', default: false },
  },
})
/** Their indexes among the measured processes. */
const [MEMORY, STORES] = [2, 3]
const [seconds, connections, keyCount] = [options.seconds, options.connections, options.keys].map(Number) as [
  number,
  number,
  number,
]

await using place = new Workplace('stores')
const { folder } = place
const postgres = await place.postgres({ core: LOAD_CORE })
const redis = await place.redis({ core: LOAD_CORE })
const { origin } = await startNginx(folder, LOAD_CORE)
const asking = { key: keyCount, model: HOSTED_MODEL }
const script = loadScript(folder, asking)
const all = [
  await bareSubject(origin, '/base64/v1'),
  await bareSubject(origin, '/base64/v1', 'bare proxy again'),
  await gatewaySubject('Torana without a ledger', {}),
  await gatewaySubject('Torana, PostgreSQL + Redis', { DATABASE_URL: postgres.url, REDIS_URL: redis.url }),
]
await Promise.all(all.map((one) => alone(one, script, Number(options.warmup))))
const windows: (readonly Seen[])[] = []
for (let window = 0; window < Number(options.windows); window += 1)
  windows.push(await sideBySide(all, { script, connections, seconds }))
const middle = windows[Math.floor(windows.length / 2)] as readonly Seen[]
print([
  ['what', 'requests/s', 'p50 ms', 'p99 ms', 'CPU µs/request', 'ratio to bare', 'ratio to no ledger'],
  ...all.map(({ name }, index) => {
    const { load } = middle[index] as Seen
    return [
      name,
      roundRate(load),
      load.p50Ms.toFixed(2),
      load.p99Ms.toFixed(2),
      median(cpusOf(windows, index)).toFixed(1),
      index === 0 ? '1.00' : spreadText(ratiosOf(windows, 0, index)),
      index === STORES ? spreadText(ratiosOf(windows, MEMORY, STORES)) : '',
    ]
  }),
])

// Each by itself: the most that Torana with its stores can do, then half of that, and the bare proxy at the same rate.
const [bare, , , stores] = all as [Subject, Subject, Subject, Subject]
const full = await alone(stores, script)
const paced = loadScript(folder, { ...asking, pauseMs: (connections / (rateOf(full) / 2)) * 1000 })
const [bareHalf, storesHalf] = [await alone(bare, paced), await alone(stores, paced)]
process.stdout.write(
  `\nalone: ${roundRate(full)} requests/s at most; at half of it bare p50 ${bareHalf.p50Ms.toFixed(2)} ms (${roundRate(bareHalf)}/s), ` +
    `Torana with its stores p50 ${storesHalf.p50Ms.toFixed(2)} ms p99 ${storesHalf.p99Ms.toFixed(2)} ms (${roundRate(storesHalf)}/s): ` +
    `added p50 ${(storesHalf.p50Ms - bareHalf.p50Ms).toFixed(2)} ms\n`,
)
const results = all.map(({ name }, index) => ({
  name,
  cpu: median(cpusOf(windows, index)),
  ratios: ratiosOf(windows, 0, index),
}))
writeResults('stores', { connections, keyCount, results, alone: full, bareHalf, storesHalf })
if (options.write)
  publishTexts('bench/stores', {
    'rate.embed.stores': `${Math.round(rateOf(full)).toLocaleString('en-US')} requests per second`,
    'ratio.stores.bare': median(ratiosOf(windows, 0, STORES)).toFixed(2),
  })

function alone({ url }: Subject, asked: string, forSeconds = seconds): Promise<Load> {
  return wrk({ url, script: asked, connections, seconds: forSeconds, core: LOAD_CORE })
}

async function gatewaySubject(name: string, env: Record<string, string>): Promise<Subject> {
  const torana = await startTorana({
    core: GATEWAY_CORE,
    folder,
    config: hostedConfig(`${origin}/base64/v1`),
    flags: profileFlags(options.inspect),
    env: { TORANA_SECRET: BENCH_SECRET, ...env },
  })
  const keys = Array.from({ length: keyCount }, (_, index) => {
    return { name: `key-${index}`, secret: benchKey(index), limits: { requests_per_minute: 10_000_000 } }
  })
  await storeKeys(torana, keys)
  return { name, pid: torana.pid, url: `${torana.origin}/v1/embeddings`, torana }
}

function roundRate(load: Load): string {
  return String(Math.round(rateOf(load)))
}
