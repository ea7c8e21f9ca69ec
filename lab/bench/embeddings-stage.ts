/** Torana beside the bare proxy: both at the same time on core 0 under equal load, nginx as upstream and wrk on core 1. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startBare } from './parts.ts'
import { cpuMicroseconds, stopAll } from '../processes.ts'
import { answered, wrk, type Load } from '../wrk.ts'
import { refusalsOf, startTorana, storeKeys, type StartedTorana } from './torana.ts'

const GATEWAY_CORE = 0
export const LOAD_CORE = 1
const KEY = `bench-${'0123456789abcdef'.repeat(2)}`

export interface Shape {
  readonly name: string
  readonly encoding: 'base64' | 'float'
  readonly path: string
}

export const BASE64: Shape = { name: '8 KB base64', encoding: 'base64', path: '/base64/v1' }
export const FLOAT: Shape = { name: '19 KB float', encoding: 'float', path: '/float/v1' }

export interface StageOptions {
  readonly folder: string
  readonly shape: Shape
  /** The address of nginx. */
  readonly origin: string
  readonly connections: number
  /** The bare proxy beside itself: how far from 1.00 noise alone leads. */
  readonly isControl?: boolean
  /** Options of Node for Torana. */
  readonly flags?: readonly string[]
  /** After how long a request counts as failed. */
  readonly timeoutSeconds?: number
}

/** CPU time is in microseconds a request. */
export interface Window {
  readonly bareLoad: Load
  readonly toranaLoad: Load
  readonly bareCpu: number
  readonly toranaCpu: number
  /** 1 would be as cheap as the bare proxy. */
  readonly ratio: number
}

export interface Stage {
  readonly script: string
  /** Both under load for `seconds`. A failed request throws. */
  window(seconds: number): Promise<Window>
  stop(): Promise<void>
}

export async function startStage(options: StageOptions): Promise<Stage> {
  const { shape, origin, connections, timeoutSeconds = 2, isControl = false } = options
  const script = wrkScript(options)
  const bare = await startBare(origin, GATEWAY_CORE)
  const gateway = isControl ? undefined : await startGateway(options)
  const torana = gateway ?? (await startBare(origin, GATEWAY_CORE))
  const load = (url: string, seconds: number): Promise<Load> =>
    wrk({ url: `${url}/embeddings`, script, connections, seconds, core: LOAD_CORE, timeoutSeconds })
  const look = async (seconds: number): Promise<Window> => {
    const before = [cpuMicroseconds(bare.pid), cpuMicroseconds(torana.pid)] as const
    const [bareLoad, toranaLoad] = await Promise.all([
      load(`${bare.origin}${shape.path}`, seconds),
      load(`${torana.origin}${isControl ? shape.path : '/v1'}`, seconds),
    ])
    const bareCpu = (cpuMicroseconds(bare.pid) - before[0]) / bareLoad.requests
    const toranaCpu = (cpuMicroseconds(torana.pid) - before[1]) / toranaLoad.requests
    for (const { errors } of [bareLoad, toranaLoad])
      if (errors > 0)
        throw new Error(`${errors} failed requests\n${gateway ? await refusalsOf(gateway) : ''}`)
    return { bareLoad, toranaLoad, bareCpu, toranaCpu, ratio: bareCpu / toranaCpu }
  }
  return {
    script,
    window: (seconds) => answered(() => look(seconds)),
    stop: () => stopAll(bare.pid, torana.pid),
  }
}

async function startGateway({ folder, shape, origin, flags = [] }: StageOptions): Promise<StartedTorana> {
  const baseUrl = `${origin}${shape.path}`
  const torana = await startTorana({
    core: GATEWAY_CORE,
    folder,
    config: {
      upstreams: { nginx: { dialect: 'openai', provider: 'openai', baseUrl, apiKey: 'bench' } },
      // Probed, it would look wrong: it answers everything with the same vector.
      models: { 'text-embedding-3-small': { spaceGuard: false, deployments: [{ upstream: 'nginx' }] } },
    },
    flags,
  })
  await storeKeys(torana, [{ name: 'bench', secret: KEY }])
  return torana
}

/** Every text is different. */
function wrkScript({ folder, shape: { encoding } }: StageOptions): string {
  const file = join(folder, `${encoding}.lua`)
  writeFileSync(
    file,
    `local n = 0
local headers = { ["Content-Type"] = "application/json", ["Authorization"] = "Bearer ${KEY}" }
local seed = tostring({}):sub(8)
request = function()
  n = n + 1
  return wrk.format("POST", nil, headers, '{"input":"the quick brown fox ' .. seed .. n .. '","model":"text-embedding-3-small","encoding_format":"${encoding}"}')
end
`,
  )
  return file
}
