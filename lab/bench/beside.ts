/**
 * Whether a change made a request cheaper: this checkout beside another one, each twice and in the order that favours neither,
 * and beside the bare proxy; all five at the same time on core 0 under equal load, with PostgreSQL and Redis; nginx, stores
 * and wrk on core 1. Before it is measured, each answers enough requests to be compiled.
 * `npm run lab -- bench/beside --base ../../main --windows 8`
 */
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { bareSubject } from './embeddings-stage.ts'
import { startNginx } from './parts.ts'
import { GATEWAY_CORE, LOAD_CORE, sideBySide, type Seen, type Subject } from './side-by-side.ts'
import { Workplace } from '../workplace.ts'
import { benchKey, loadScript, wrk } from '../wrk.ts'
import { REPOSITORY } from '../torana.ts'
import { BENCH_SECRET, HOSTED_MODEL, hostedConfig, startTorana, storeKeys } from './torana.ts'
import { print, spreadText, writeResults } from '../report.ts'

const { values: options } = parseArgs({
  options: {
    /** The folder of the other checkout, with its node_modules. */
    base: { type: 'string' },
    windows: { type: 'string', default: '8' },
    seconds: { type: 'string', default: '3' },
    warmup: { type: 'string', default: '25' },
    connections: { type: 'string', default: '48' },
    keys: { type: 'string', default: '1000' },
  },
})
if (options.base === undefined) throw new Error('--base names the folder of the other checkout')
const [seconds, connections, keyCount] = [options.seconds, options.connections, options.keys].map(Number) as [
  number,
  number,
  number,
]

await using place = new Workplace('beside')
const { folder } = place
const { origin } = await startNginx(folder, LOAD_CORE)
const script = loadScript(folder, { key: keyCount, model: HOSTED_MODEL })
const bare = await bareSubject(origin, '/base64/v1')
const gateways: Subject[] = []
for (const name of ['base', 'own', 'own', 'base'])
  gateways.push(await gatewayOf(name, name === 'own' ? REPOSITORY : resolve(options.base)))
await Promise.all(
  gateways.map(({ url }) =>
    wrk({ url, script, connections, seconds: Number(options.warmup), core: LOAD_CORE }),
  ),
)
const windows: (readonly Seen[])[] = []
for (let window = 0; window < Number(options.windows); window += 1)
  windows.push(await sideBySide([bare, ...gateways], { script, connections, seconds }))
const costs = windows.map(([alone, ...seen]) => ({
  bare: (alone as Seen).cpuUs,
  base: meanOf(seen.filter((_, index) => gateways[index]?.name === 'base')),
  own: meanOf(seen.filter((_, index) => gateways[index]?.name === 'own')),
}))
print([
  ['ratio of CPU time a request', 'median (windows)'],
  ['base to own: more than 1 is cheaper', spreadText(costs.map(({ base, own }) => base / own))],
  ['bare to base', spreadText(costs.map(({ bare: alone, base }) => alone / base))],
  ['bare to own', spreadText(costs.map(({ bare: alone, own }) => alone / own))],
])
writeResults('beside', { connections, keyCount, costs })

function meanOf(seen: readonly Seen[]): number {
  return seen.reduce((sum, { cpuUs }) => sum + cpuUs, 0) / seen.length
}

async function gatewayOf(name: string, checkout: string): Promise<Subject> {
  const [postgres, redis] = [
    await place.postgres({ core: LOAD_CORE }),
    await place.redis({ core: LOAD_CORE }),
  ]
  const torana = await startTorana({
    core: GATEWAY_CORE,
    folder,
    program: join(checkout, 'server/bin/torana.js'),
    config: hostedConfig(`${origin}/base64/v1`),
    env: { TORANA_SECRET: BENCH_SECRET, DATABASE_URL: postgres.url, REDIS_URL: redis.url },
  })
  const keys = Array.from({ length: keyCount }, (_, index) => {
    return { name: `key-${index}`, secret: benchKey(index), limits: { requests_per_minute: 10_000_000 } }
  })
  await storeKeys(torana, keys)
  return { name, pid: torana.pid, url: `${torana.origin}/v1/embeddings`, torana }
}
