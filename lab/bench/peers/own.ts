/** The bare proxy and Torana, in three forms. */
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import {
  startPostgresServer,
  startRedisServer,
  type TestServer,
} from '../../../server/test/support/servers.ts'
import { startBare } from '../parts.ts'
import { stopAll } from '../../processes.ts'
import { startTorana, storeKeys } from '../torana.ts'
import {
  CALLER_KEY,
  UPSTREAM_KEY,
  UPSTREAM_MODEL,
  type Contender,
  type RunningContender,
  type Stage,
  type Target,
  type UpstreamPart,
} from './contender.ts'

const REPOSITORY = join(import.meta.dirname, '../../..')
/** The output of `npm run build`. */
const PACKAGE = join(REPOSITORY, 'dist/torana/bin/torana.js')

export const BARE: Contender = {
  id: 'bare',
  name: 'bare proxy',
  cores: 1,
  settings: "`node:http` and undici's `pool.request`, nothing else",
  version: () => process.version,
  start: async ({ upstreams, cores }) => {
    const { origin: upstream } = new URL(upstreams[0]?.baseUrl ?? '')
    const { pid, origin } = await startBare(upstream, Number(cores))
    return {
      pid,
      target: (name) => ({
        url: `${origin}/${name}/v1`,
        model: UPSTREAM_MODEL.embedding,
        headers: { authorization: `Bearer ${UPSTREAM_KEY}` },
      }),
      storePids: () => [],
      stop: () => stopAll(pid),
    }
  },
}

const COMMON = 'stored key, prices, request log, all checks of answers'

export const TORANA: readonly Contender[] = [
  {
    id: 'torana-memory',
    name: 'Torana without a ledger',
    cores: 1,
    settings: `${COMMON}; stores in memory, to measure the request path alone`,
    version: toranaVersion,
    start: (stage) => startNode(stage, {}, []),
  },
  {
    id: 'torana-strict',
    name: 'Torana, PostgreSQL and Redis',
    cores: 1,
    settings: `${COMMON}; each request committed to the ledger before its answer, limits in Redis`,
    version: toranaVersion,
    start: (stage) => startStrict(stage, {}),
  },
  {
    id: 'torana-workers',
    name: 'Torana, two workers, PostgreSQL and Redis',
    cores: 2,
    settings: '`--workers 2`; otherwise as the row above',
    version: toranaVersion,
    start: (stage) => startStrict(stage, { TORANA_WORKERS: '2' }),
  },
]

function toranaVersion(): string {
  const commit = execFileSync('git', ['-C', REPOSITORY, 'rev-parse', '--short', 'HEAD'], { encoding: 'utf8' })
  return `${commit.trim()}, ${existsSync(PACKAGE) ? 'built package' : 'sources'}`
}

async function startStrict(stage: Stage, env: Record<string, string>): Promise<RunningContender> {
  const stores = [await startPostgresServer({ memory: '128MB' }), await startRedisServer()] as const
  const [postgres, redis] = stores
  for (const pid of stores.flatMap((store) => store.pids()))
    execFileSync('taskset', ['-acp', String(stage.loadCore), String(pid)])
  return startNode(stage, { DATABASE_URL: postgres.url, REDIS_URL: redis.url, ...env }, stores)
}

async function startNode(
  { folder, cores, upstreams }: Stage,
  env: Record<string, string>,
  stores: readonly TestServer[],
): Promise<RunningContender> {
  const torana = await startTorana({
    core: cores,
    folder,
    config: {
      upstreams: Object.fromEntries(
        upstreams.map(({ name, baseUrl }) => [name, { dialect: 'openai', baseUrl, apiKey: UPSTREAM_KEY }]),
      ),
      models: Object.fromEntries(upstreams.map((upstream) => [upstream.name, modelOf(upstream)])),
    },
    env: { TORANA_SECRET: 'a-secret-of-the-bench-0123456789', ...env },
    ...(existsSync(PACKAGE) && { program: PACKAGE }),
  })
  await storeKeys(torana, [
    { name: 'bench', secret: CALLER_KEY, limits: { requests_per_minute: 10_000_000 } },
  ])
  const target = (model: string): Target => ({
    url: `${torana.origin}/v1`,
    model,
    headers: { authorization: `Bearer ${CALLER_KEY}` },
  })
  return {
    pid: torana.pid,
    target,
    storePids: () => stores.flatMap((store) => store.pids()),
    stop: async () => {
      await stopAll(torana.pid)
      for (const store of stores) await store.stop()
    },
  }
}

function modelOf({ name, kind }: UpstreamPart): object {
  const deployment = { upstream: name, model: UPSTREAM_MODEL[kind] }
  if (kind === 'image') return { kind, price: { usdPerImage: 0.01 }, deployments: [deployment] }
  // As an operator declares the known capabilities of an upstream.
  const capabilities = {
    encodings: name === 'float-only' ? ['float'] : ['float', 'base64'],
    dimensions: { min: 1, max: 1536 },
    ...(name === 'max-inputs-32' && { maxInputs: 32 }),
  }
  return {
    kind,
    embedding: { dimensions: 1536, matryoshka: true },
    price: { usdPerMillionTokens: 0.02 },
    // Probed, nginx would look wrong: it answers everything with the same vector.
    spaceGuard: false,
    deployments: [{ ...deployment, capabilities }],
  }
}
